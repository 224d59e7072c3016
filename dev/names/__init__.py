"""How well names of signals are judged that the table of conventions does not hold."""
