"""Notifications of alerts wait in the database, and a resolved alert lets the next firing begin a new run.

Unfinished runs about alerts that an older version started continue; nothing joins them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_UNFINISHED = sa.text("status IN ('QUEUED', 'RUNNING')")
_JOINABLE = sa.text("status IN ('QUEUED', 'RUNNING') AND alert_resolved_s IS NULL")


def upgrade() -> None:
    """Create the inbox, and exclude runs with a resolved alert from the index."""
    op.create_table(
        "alert_notification",
        sa.Column("number", _NUMBER, autoincrement=True),
        sa.Column("notification_id", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("asked_by", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("received_s", sa.Double, nullable=False),
        sa.Column("unfinished_max", sa.Integer),
        sa.Column("request", sa.Text),
        sa.PrimaryKeyConstraint("number", name="pk_alert_notification"),
        sa.UniqueConstraint("notification_id", name="uq_alert_notification_notification_id"),
    )
    op.create_index("ix_alert_notification_group", "alert_notification", ["fingerprint", "number"])
    op.add_column("diagnosis_run", sa.Column("alert_resolved_s", sa.Double))
    op.drop_index("uq_diagnosis_run_fingerprint", table_name="diagnosis_run")
    op.create_index(
        "uq_diagnosis_run_fingerprint",
        "diagnosis_run",
        ["fingerprint"],
        unique=True,
        sqlite_where=_JOINABLE,
        postgresql_where=_JOINABLE,
    )
    op.create_index(
        "ix_diagnosis_run_unfinished",
        "diagnosis_run",
        ["asked_by"],
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    )
