"""One run: may it go on, how long, with what budget, and how it ended."""
