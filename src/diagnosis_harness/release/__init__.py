"""What may leave the house, and in which words."""
