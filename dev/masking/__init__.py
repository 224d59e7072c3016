"""How well masking does, on a generated corpus that was written without a look at its rules."""
