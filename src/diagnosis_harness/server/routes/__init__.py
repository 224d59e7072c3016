"""The paths of the HTTP interface, one file for each thing they are about."""
