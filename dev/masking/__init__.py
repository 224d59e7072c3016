"""Measures masking on a generated corpus that was written without looking at the rules."""
