"""A saved run checked again, offline and against its source."""
