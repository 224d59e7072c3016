"""What a test's service has if no source is uploaded."""

from __future__ import annotations

from typing import cast

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.uploads import SqlUploadStore
from diagnosis_harness.application.uploads.received import UploadFolders
from diagnosis_harness.application.uploads.upload import CallerLimits
from diagnosis_harness.application.uploads.upload_service import UploadService, UploadSettings
from diagnosis_harness.harness.core import DiagnosisHarnessCore


def no_uploads(database: Database, core: DiagnosisHarnessCore) -> UploadService:
    """A service that takes no source: it has no folders."""
    settings = UploadSettings(bytes_max=1, keep_s=1.0, timeout_s=1.0, of_caller=CallerLimits(1, 1))
    folders = cast("UploadFolders", None)
    return UploadService(SqlUploadStore(database), folders, clock=core.clock, ids=core.ids, settings=settings)
