"""Who plays the roles: the embedded analyst, or a language model."""
