"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_UNFINISHED = sa.text("status IN ('QUEUED', 'RUNNING')")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create them."""
    _runs()
    _of_a_run("trace_event", *_event_columns())
    _of_a_run("retry_attempt", *_attempt_columns())
    _evidence()
    _keys()
    op.create_table(
        "worker",
        sa.Column("owner", sa.Text),
        sa.Column("beat_at_s", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("owner", name="pk_worker"),
    )


_ALWAYS_THERE = (
    ("session_id", sa.Text),
    ("query", sa.Text),
    ("language", sa.Text),
    ("kind", sa.Text),
    ("asked_by", sa.Text),
    ("asked_role", sa.Text),
    ("limit_s", sa.Double),
    ("submitted_s", sa.Double),
    ("status", sa.Text),
    ("is_closed", sa.Boolean),
)
_MAYBE_THERE = (
    ("source", sa.Text),
    ("onset_s", sa.Double),
    ("start_by_s", sa.Double),
    ("fingerprint", sa.Text),
    ("retry_of", sa.Text),
    ("started_s", sa.Double),
    ("owner", sa.Text),
    ("intent", sa.Text),
    ("wish_reason", sa.Text),
    ("wish_at_s", sa.Double),
    ("cancel_answer", sa.Text),
    ("release_outcome", sa.Text),
    ("fallback_type", sa.Text),
    ("stop_reason", sa.Text),
    ("run_state", sa.Text),
    ("termination_reason", sa.Text),
    ("termination_at_s", sa.Double),
    ("termination_detail", sa.Text),
    ("safe_answer", sa.Text),
    ("conclusion", sa.Text),
    ("published_result", sa.Text),
    ("failure_code", sa.Text),
    ("failure_message", sa.Text),
    ("duration_s", sa.Double),
    ("agent_steps", sa.BigInteger),
    ("tool_calls", sa.BigInteger),
    ("llm_calls", sa.BigInteger),
    ("input_tokens", sa.BigInteger),
    ("output_tokens", sa.BigInteger),
    ("total_tokens", sa.BigInteger),
    ("counters", sa.Text),
    ("is_estimated", sa.Boolean),
    ("in_flight", sa.Text),
)


def _runs() -> None:
    op.create_table(
        "diagnosis_run",
        sa.Column("run_id", sa.Text),
        *(sa.Column(name, kind, nullable=False) for name, kind in _ALWAYS_THERE),
        *(sa.Column(name, kind) for name, kind in _MAYBE_THERE),
        sa.PrimaryKeyConstraint("run_id", name="pk_diagnosis_run"),
        sa.CheckConstraint(
            "NOT is_closed OR status NOT IN ('QUEUED', 'RUNNING')", name="ck_diagnosis_run_closed_has_ended"
        ),
        sa.CheckConstraint(
            "(status IN ('QUEUED', 'RUNNING')) = (release_outcome IS NULL)",
            name="ck_diagnosis_run_ended_has_outcome",
        ),
    )
    index = op.create_index
    index("ix_diagnosis_run_submitted", "diagnosis_run", ["submitted_s", "run_id"])
    index("ix_diagnosis_run_asked_by", "diagnosis_run", ["asked_by", "submitted_s", "run_id"])
    index("ix_diagnosis_run_session", "diagnosis_run", ["session_id", "submitted_s", "run_id"])
    index("ix_diagnosis_run_status", "diagnosis_run", ["status", "submitted_s"])
    _part_index("uq_diagnosis_run_fingerprint", "diagnosis_run", "fingerprint", _UNFINISHED, unique=True)
    _part_index(
        "ix_diagnosis_run_open_owner", "diagnosis_run", "owner", sa.text("NOT is_closed"), unique=False
    )


def _event_columns() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
    )


def _attempt_columns() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("failure", sa.Text),
        sa.Column("error", sa.Text, nullable=False),
    )


def _of_a_run(name: str, *columns: sa.Column[object]) -> None:
    op.create_table(
        name,
        sa.Column("run_id", sa.Text),
        sa.Column("seq", sa.Integer, autoincrement=False),
        *columns,
        sa.PrimaryKeyConstraint("run_id", "seq", name=f"pk_{name}"),
        sa.ForeignKeyConstraint(
            ["run_id"], ["diagnosis_run.run_id"], name=f"fk_{name}_run_id", ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )


def _evidence() -> None:
    op.create_table(
        "evidence_record",
        sa.Column("number", _NUMBER, autoincrement=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("tool_call_id", sa.Text, nullable=False),
        sa.Column("tool_name", sa.Text, nullable=False),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("caller", sa.Text, nullable=False),
        sa.Column("started_s", sa.Double, nullable=False),
        sa.Column("invocation", sa.Text, nullable=False),
        sa.Column("evidence", sa.Text),
        sa.Column("stored", sa.LargeBinary),
        sa.Column("digest", sa.Text),
        sa.Column("finished_s", sa.Double),
        sa.Column("error_code", sa.Text),
        sa.PrimaryKeyConstraint("number", name="pk_evidence_record"),
        sa.UniqueConstraint("key", name="uq_evidence_record_key"),
    )
    op.create_index("ix_evidence_record_run", "evidence_record", ["run_id", "number"])


def _keys() -> None:
    op.create_table(
        "api_key",
        sa.Column("key_id", sa.Text),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("secret_sha256", sa.Text, nullable=False),
        sa.Column("created_at_s", sa.Double, nullable=False),
        sa.Column("revoked_at_s", sa.Double),
        sa.Column("rate_per_minute", sa.Integer),
        sa.Column("concurrent_runs", sa.Integer),
        sa.PrimaryKeyConstraint("key_id", name="pk_api_key"),
    )
    _part_index("uq_api_key_valid_name", "api_key", "name", sa.text("revoked_at_s IS NULL"), unique=True)


def _part_index(name: str, table: str, column: str, part: sa.TextClause, *, unique: bool) -> None:
    op.create_index(name, table, [column], unique=unique, sqlite_where=part, postgresql_where=part)
