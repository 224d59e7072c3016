"""Sends an incident folder to a service, so that a question can be asked about it there."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from diagnosis_harness.bootstrap.packing import pack_incident
from diagnosis_harness.cli.output import write_line
from diagnosis_harness.cli.words import runs as words
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.timestamps import escape_line

if TYPE_CHECKING:  # heavy: a command starts without them
    from diagnosis_harness.cli.client.api_client import ApiClient


async def send_folder(client: ApiClient, folder: Path, language: Language) -> str:
    """Pack the folder, send it, report that on standard error, and return the id of the source.

    The same folder is sent under the same key, so that it is stored only once for many questions.

    Raises:
        InvalidInput: the folder or a file in it cannot be used.
        NotPermitted, ServiceFailure: the service did not take it.
    """
    with tempfile.TemporaryFile() as content:
        packed = await asyncio.to_thread(pack_incident, folder, content)
        digest = await asyncio.to_thread(_digest, content)
        name = f"{folder.name or 'incident'}.tar.gz"
        source = await client.send_source(content, name=name[-200:], key=digest)
    sentence = words.FOLDER_SENT.render(
        language,
        files=packed.files,
        source=escape_line(source.source_id),
        until=escape_line(source.expires_at),
    )
    write_line(sentence, sys.stderr)
    return source.source_id


def _digest(content: IO[bytes]) -> str:
    content.seek(0)
    return hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]  # a binary file
