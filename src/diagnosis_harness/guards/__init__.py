"""Whether recorded evidence supports a draft."""
