"""The shapes that the tables have had, in order. Alembic reads them; nothing else does."""
