"""The unpacked bytes of one file, and their format, whatever its name."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Final, cast

from diagnosis_harness.adapters.sources.incident_folder.listing import ListedFile
from diagnosis_harness.kernel.errors import InvalidInput

_SIGNATURES: Final = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"PAR1": "Parquet",
    b"PK\x03\x04": "a zip archive",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "gzip",
    b"SQLite format 3": "an SQLite database",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
_AGAIN: Final = "copy or write the file again"


def well_known(head: bytes) -> str | None:
    """The format of a file by its first bytes, if it is a well-known one other than plain text."""
    return next((what for mark, what in _SIGNATURES.items() if head.startswith(mark)), None)


def first_bytes(file: ListedFile) -> bytes:
    """The first bytes of a file as stored, before unpacking.

    Raises:
        InvalidInput: it cannot be opened.
    """
    try:
        with file.path.open("rb") as plain:
            return plain.read(16)
    except OSError as error:
        raise _unreadable(file, error) from error


@contextmanager
def open_bytes(file: ListedFile, *, text: bool = False) -> Iterator[IO[bytes]]:
    """The file's bytes, unzipped if its name ends in .gz; `text` allows UTF-16 and any ending.

    Raises:
        InvalidInput: it cannot be opened, or its first bytes are of another format; while the body reads,
            its gzip data breaks off or its text is not UTF-8.
    """
    try:
        what = well_known(first_bytes(file))
        if what is not None and not (file.gzipped and what == "gzip") and not (text and "text" in what):
            form = "text" if file.form is None else file.form.value.upper()
            named = f"{form}{' in gzip' if file.gzipped else ''}"
            remedy = "save it as UTF-8" if "text" in what else "give it the extension of its format"
            raise InvalidInput(file.name, f"its name says {named}, but it holds {what}", remedy)
        with (
            cast("IO[bytes]", gzip.open(file.path, "rb")) if file.gzipped else file.path.open("rb") as content
        ):
            yield content
    except UnicodeDecodeError as error:
        raise InvalidInput(file.name, "it is not UTF-8 text", "save it as UTF-8") from error
    except gzip.BadGzipFile as error:
        raise InvalidInput(
            file.name, "its name says gzip, but it is not", "remove .gz from the name or compress it"
        ) from error
    except (EOFError, zlib.error) as error:
        raise InvalidInput(file.name, "its gzip data is cut off or damaged", _AGAIN) from error
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(file: ListedFile, error: OSError) -> InvalidInput:
    return InvalidInput(file.name, f"it cannot be read ({error.strerror})", "check its permissions")
