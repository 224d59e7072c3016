"""One file for each change of the tables; none is changed after its release."""
