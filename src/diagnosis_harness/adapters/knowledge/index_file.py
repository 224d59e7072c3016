"""The index on disk: what was read of each file, and its vectors, in one file that is replaced atomically.

It is a cache: deleting it only costs time. The word index is built from it in memory within moments;
reading, masking and embedding are slow, so their results are stored.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.adapters.knowledge.folder import FileStamp
from diagnosis_harness.knowledge.passage import Block, BlockKind, Passage

VERSION = 2
"""Increased with every change of what is read from a file, or of how it is stored."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """The indexed content of one file.

    Attributes:
        digest: of its bytes.
        note: why it is not used; empty if it is used.
    """

    stamp: FileStamp
    digest: str
    passages: tuple[Passage, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """The content of the index file.

    Attributes:
        vectors: the rows of each file's passages; empty without an embedder.
    """

    entries: tuple[FileEntry, ...]
    vectors: Mapping[str, NDArray[np.float32]]


def save(path: Path, index: StoredIndex, made_with: Mapping[str, object]) -> None:
    """Write the index to a temporary file and rename it: a reader sees the old one or the new one.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(
        {
            "version": VERSION,
            "made_with": made_with,
            "files": [_entry_json(entry) for entry in index.entries],
        },
        ensure_ascii=False,
    )
    rows = [index.vectors[entry.stamp.file] for entry in index.entries if entry.stamp.file in index.vectors]
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            np.savez(
                file,
                document=np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8),
                vectors=np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32),
            )
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def load(path: Path, made_with: Mapping[str, object]) -> StoredIndex | str:
    """The index, or one clause that says why it must be rebuilt; empty if there was none."""
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            document: dict[str, Any] = json.loads(archive["document"].tobytes())
            vectors = archive["vectors"]
        if document["version"] != VERSION or document["made_with"] != made_with:
            return "it was made by another version or with other settings"
        entries = tuple(_entry(stored) for stored in document["files"])
        return StoredIndex(entries, _vectors_by_file(entries, vectors))
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"it could not be read ({type(error).__name__})"
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, MemoryError, RecursionError) as error:
        return f"it is damaged ({type(error).__name__})"


def _vectors_by_file(
    entries: Sequence[FileEntry], vectors: NDArray[np.float32]
) -> dict[str, NDArray[np.float32]]:
    if not vectors.size:
        return {}
    if vectors.dtype != np.float32 or len(vectors) != sum(len(entry.passages) for entry in entries):
        raise ValueError("the vectors are not those of the passages")
    shared, at = {}, 0
    for entry in entries:
        shared[entry.stamp.file] = vectors[at : at + len(entry.passages)]
        at += len(entry.passages)
    return shared


def _entry_json(entry: FileEntry) -> dict[str, object]:
    passages = [
        {
            "id": one.passage_id,
            "headings": one.headings,
            "blocks": [list(asdict(b).values()) for b in one.blocks],
        }
        for one in entry.passages
    ]
    return {**asdict(entry.stamp), "digest": entry.digest, "note": entry.note, "passages": passages}


def _entry(stored: Mapping[str, Any]) -> FileEntry:
    stamp = FileStamp(str(stored["file"]), int(stored["size_bytes"]), int(stored["mtime_ns"]))
    digest = str(stored["digest"])
    passages = tuple(
        Passage(
            str(one["id"]),
            stamp.file,
            tuple(str(heading) for heading in one["headings"]),
            tuple(
                Block(BlockKind(kind), str(text), int(first), int(last), int(level))
                for kind, text, first, last, level in one["blocks"]
            ),
            digest,
        )
        for one in stored["passages"]
    )
    if not all(passage.blocks for passage in passages):
        raise ValueError("a passage without blocks")
    return FileEntry(stamp, digest, passages, str(stored["note"]))
