"""Which source a run is about, and which runs a process takes."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; they are NULL for runs and processes of an older program."""
    op.add_column("diagnosis_run", sa.Column("source_identity", sa.Text))
    op.add_column("diagnosis_run", sa.Column("source_digest", sa.Text))
    op.add_column("worker", sa.Column("lanes", sa.Text))
