"""Feedback about runs: one verdict of each caller on each run."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "run_feedback",
        sa.Column("run_id", sa.Text),
        sa.Column("given_by", sa.Text),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("cause", sa.Text),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("given_s", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "given_by", name="pk_run_feedback"),
        sa.ForeignKeyConstraint(
            ["run_id"], ["diagnosis_run.run_id"], name="fk_run_feedback_run_id", ondelete="CASCADE"
        ),
    )
