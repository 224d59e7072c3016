"""Whether recorded evidence bears a draft out."""
