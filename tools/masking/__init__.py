"""How well masking does: a generated corpus of secrets and of innocent lines, written without a look at the rules."""
