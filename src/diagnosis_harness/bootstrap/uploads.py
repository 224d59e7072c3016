"""Builds the part of a service process that handles sources sent by callers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from diagnosis_harness.adapters.sources.catalog import LocalSourceCatalog
from diagnosis_harness.adapters.sources.private_folder import PrivateRoot
from diagnosis_harness.adapters.sources.uploads import UploadCatalog, UploadLimits
from diagnosis_harness.application.uploads.upload import CallerLimits, UploadStore
from diagnosis_harness.application.uploads.upload_service import UploadService, UploadSettings
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.settings import Settings
from diagnosis_harness.tools.spec import Tool


def open_uploads(
    stack: AsyncExitStack,
    settings: Settings,
    configured: LocalSourceCatalog,
    store: UploadStore,
    *,
    clock: Clock,
    extra_tools: Sequence[Tool],
) -> tuple[UploadCatalog, UploadService]:
    """All sources that a run may use, and the service that accepts uploads.

    Raises:
        InvalidSetting: the folder for uploads is not writable.
    """
    uploads, open_max = settings.uploads, settings.folder.open_max
    root = PrivateRoot(Path(uploads.folder) if uploads.folder else Path(tempfile.gettempdir()))
    stack.callback(root.close)
    catalog = UploadCatalog(
        configured,
        LocalSourceCatalog({}, open_max=open_max, extra_tools=extra_tools),
        store,
        root=root,
        clock=clock,
        limits=UploadLimits(uploads.unpacked_bytes_max, open_max, settings.folder.memory_limit_mb),
    )
    of_caller = CallerLimits(uploads.caller_sources_max, uploads.caller_bytes_max)
    service = UploadService(
        store,
        catalog,
        clock=clock,
        ids=RandomIds(),
        settings=UploadSettings(uploads.bytes_max, uploads.keep_s, uploads.timeout_s, of_caller),
    )
    return catalog, service
