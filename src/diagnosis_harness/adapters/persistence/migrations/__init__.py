"""The versions of the tables, in order. Only Alembic reads them."""
