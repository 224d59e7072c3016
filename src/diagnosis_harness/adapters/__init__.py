"""Foreign libraries and formats, one door each."""
