"""Runbooks and postmortems: documents to passages, search over them, and what may be quoted of them."""
