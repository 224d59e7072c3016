"""The only code that names a data set: each exporter writes published incidents as plain incident folders."""
