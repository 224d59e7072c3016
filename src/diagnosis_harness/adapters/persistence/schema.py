"""The tables as data. Migrations create them; a test compares the two."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.types import TypeDecorator


class FreeText(TypeDecorator[str]):
    """Text that a person or a backend wrote.

    NUL and lone surrogates, which no database stores, become U+FFFD; everything else comes back equal.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace what a database cannot store."""
        del dialect
        if value is None or (value.isascii() and "\0" not in value):
            return value
        kept = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return kept.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


CONSTRAINT_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
SCHEMA = MetaData(naming_convention=CONSTRAINT_NAMES)

# SQLite auto-increments only an INTEGER key, which has 64 bits there.
_Number = BigInteger().with_variant(Integer(), "sqlite")

diagnosis_run = Table(
    "diagnosis_run",
    SCHEMA,
    Column("run_id", Text, primary_key=True),
    Column("session_id", FreeText, nullable=False),
    Column("query", FreeText, nullable=False),
    Column("language", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("asked_by", Text, nullable=False),
    Column("asked_role", Text, nullable=False),
    Column("source", FreeText),
    Column("source_identity", Text),
    Column("source_digest", Text),
    Column("onset_s", Double),
    Column("limit_s", Double, nullable=False),
    Column("submitted_s", Double, nullable=False),
    Column("start_by_s", Double),
    Column("fingerprint", FreeText),
    Column("retry_of", Text),
    Column("status", Text, nullable=False),
    Column("started_s", Double),
    Column("owner", Text),
    Column("intent", Text),
    Column("wish_reason", Text),
    Column("wish_at_s", Double),
    Column("cancel_answer", Text),
    Column("release_outcome", Text),
    Column("fallback_type", Text),
    Column("stop_reason", Text),
    Column("run_state", Text),
    Column("termination_reason", Text),
    Column("termination_at_s", Double),
    Column("termination_detail", FreeText),
    Column("safe_answer", Text),
    Column("conclusion", FreeText),
    Column("published_result", Text),
    Column("failure_code", Text),
    Column("failure_message", FreeText),
    Column("duration_s", Double),
    Column("agent_steps", BigInteger),
    Column("tool_calls", BigInteger),
    Column("llm_calls", BigInteger),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("total_tokens", BigInteger),
    Column("counters", Text),
    Column("is_estimated", Boolean),
    Column("in_flight", Text),
    Column("is_closed", Boolean, nullable=False),
    Column("alert_resolved_s", Double),
    CheckConstraint("NOT is_closed OR status NOT IN ('QUEUED', 'RUNNING')", name="closed_has_ended"),
    CheckConstraint(
        "(status IN ('QUEUED', 'RUNNING')) = (release_outcome IS NULL)", name="ended_has_outcome"
    ),
)

IS_UNFINISHED = "status IN ('QUEUED', 'RUNNING')"
JOINABLE = f"{IS_UNFINISHED} AND alert_resolved_s IS NULL"
"""A submission of the same alert group joins its unfinished run until the alert is resolved.

Queries repeat this condition word for word, or SQLite does not use the partial index."""
_run = diagnosis_run.c
Index("ix_diagnosis_run_submitted", _run.submitted_s, _run.run_id)
Index("ix_diagnosis_run_asked_by", _run.asked_by, _run.submitted_s, _run.run_id)
Index("ix_diagnosis_run_session", _run.session_id, _run.submitted_s, _run.run_id)
Index("ix_diagnosis_run_status", _run.status, _run.submitted_s)
Index(
    "uq_diagnosis_run_fingerprint",
    _run.fingerprint,
    unique=True,
    sqlite_where=text(JOINABLE),
    postgresql_where=text(JOINABLE),
)
Index(
    "ix_diagnosis_run_unfinished",
    _run.asked_by,
    sqlite_where=text(IS_UNFINISHED),
    postgresql_where=text(IS_UNFINISHED),
)
Index(
    "ix_diagnosis_run_open_owner",
    _run.owner,
    sqlite_where=text("NOT is_closed"),
    postgresql_where=text("NOT is_closed"),
)

alert_notification = Table(
    "alert_notification",
    SCHEMA,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("notification_id", Text, nullable=False, unique=True),
    Column("fingerprint", Text, nullable=False),
    Column("asked_by", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("received_s", Double, nullable=False),
    Column("unfinished_max", Integer),
    Column("request", Text),
)
Index("ix_alert_notification_group", alert_notification.c.fingerprint, alert_notification.c.number)

trace_event = Table(
    "trace_event",
    SCHEMA,
    Column("run_id", Text, ForeignKey("diagnosis_run.run_id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at_s", Double, nullable=False),
    Column("name", Text, nullable=False),
    Column("phase", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("payload", Text, nullable=False),
    sqlite_with_rowid=False,
)

retry_attempt = Table(
    "retry_attempt",
    SCHEMA,
    Column("run_id", Text, ForeignKey("diagnosis_run.run_id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at_s", Double, nullable=False),
    Column("role", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("failure", Text),
    Column("error", FreeText, nullable=False),
    sqlite_with_rowid=False,
)

run_feedback = Table(
    "run_feedback",
    SCHEMA,
    Column("run_id", Text, ForeignKey("diagnosis_run.run_id", ondelete="CASCADE"), primary_key=True),
    Column("given_by", Text, primary_key=True),
    Column("verdict", Text, nullable=False),
    Column("cause", FreeText),
    Column("note", FreeText, nullable=False),
    Column("given_s", Double, nullable=False),
)

evidence_record = Table(
    "evidence_record",
    SCHEMA,
    Column("number", _Number, primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False, unique=True),
    Column("run_id", Text, nullable=False),
    Column("tool_call_id", Text, nullable=False),
    Column("tool_name", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("started_s", Double, nullable=False),
    Column("invocation", Text, nullable=False),
    Column("evidence", Text),
    Column("stored", LargeBinary),
    Column("digest", Text),
    Column("finished_s", Double),
    Column("error_code", Text),
)
Index("ix_evidence_record_run", evidence_record.c.run_id, evidence_record.c.number)

api_key = Table(
    "api_key",
    SCHEMA,
    Column("key_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("secret_sha256", Text, nullable=False),
    Column("created_at_s", Double, nullable=False),
    Column("revoked_at_s", Double),
    Column("rate_per_minute", Integer),
    Column("concurrent_runs", Integer),
)
Index(
    "uq_api_key_valid_name",
    api_key.c.name,
    unique=True,
    sqlite_where=text("revoked_at_s IS NULL"),
    postgresql_where=text("revoked_at_s IS NULL"),
)

source_upload = Table(
    "source_upload",
    SCHEMA,
    Column("upload_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("name", FreeText, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("digest", Text, nullable=False),
    Column("created_s", Double, nullable=False),
    Column("expires_s", Double, nullable=False),
    Column("seen", Text, nullable=False),
    Column("is_complete", Boolean, nullable=False),
)
Index("ix_source_upload_owner", source_upload.c.owner, source_upload.c.created_s)
Index("ix_source_upload_expires", source_upload.c.expires_s)

upload_chunk = Table(
    "upload_chunk",
    SCHEMA,
    Column("upload_id", Text, ForeignKey("source_upload.upload_id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)

worker = Table(
    "worker",
    SCHEMA,
    Column("owner", Text, primary_key=True),
    Column("beat_at_s", Double, nullable=False),
    Column("lanes", Text),
)
