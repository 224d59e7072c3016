"""Runbooks and postmortems: splits documents into passages, searches them, and checks quotations."""
