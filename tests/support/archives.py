"""Archives as people and attackers make them, in memory."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping, Sequence

METRICS = "time,entity,signal,value\n" + "".join(
    f"{1_700_000_000 + 60 * at},shop,latency_ms,{10 + at % 3}\n" for at in range(30)
)


def zip_of(files: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of texts and bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def tar_of(
    files: Mapping[str, str] | Sequence[tuple[str, str]],
    *,
    others: Mapping[str, tuple[bytes, str]] | None = None,
    mode: str = "w:gz",
) -> bytes:
    """A tar archive of texts, then of entries of other types, each with where it leads to."""
    content = io.BytesIO()
    texts = files.items() if isinstance(files, Mapping) else files
    with tarfile.open(fileobj=content, mode=mode) as archive:  # type: ignore[call-overload]  # a mode that is no literal
        for name, text in texts:
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
        for name, (kind, leads_to) in (others or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, leads_to
            archive.addfile(info)
    return content.getvalue()
