"""Sources that callers send: the facts about each, and its content in chunks."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "source_upload",
        sa.Column("upload_id", sa.Text),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("created_s", sa.Double, nullable=False),
        sa.Column("expires_s", sa.Double, nullable=False),
        sa.Column("seen", sa.Text, nullable=False),
        sa.Column("is_complete", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("upload_id", name="pk_source_upload"),
    )
    op.create_index("ix_source_upload_owner", "source_upload", ["owner", "created_s"])
    op.create_index("ix_source_upload_expires", "source_upload", ["expires_s"])
    op.create_table(
        "upload_chunk",
        sa.Column("upload_id", sa.Text),
        sa.Column("number", sa.Integer, autoincrement=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("upload_id", "number", name="pk_upload_chunk"),
        sa.ForeignKeyConstraint(
            ["upload_id"],
            ["source_upload.upload_id"],
            name="fk_upload_chunk_upload_id",
            ondelete="CASCADE",
        ),
    )
