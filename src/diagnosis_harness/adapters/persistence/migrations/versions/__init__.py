"""One file for each change of the tables; none is changed once it was released."""
