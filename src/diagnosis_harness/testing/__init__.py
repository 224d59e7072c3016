"""Owns the fakes that obey our ports: tests, users of the package and contract suites share them."""
