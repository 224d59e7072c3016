"""Builds the catalog of the sources in the settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnosis_harness.adapters.sources.catalog import ConfiguredPart, LocalSourceCatalog
from diagnosis_harness.adapters.sources.kinds import SOURCE_KINDS
from diagnosis_harness.application.runs.sources import UPLOAD_PREFIX, is_upload_id
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.settings import AnySource, Settings
from diagnosis_harness.tools.spec import Tool


def build_catalog(settings: Settings, extra_tools: Sequence[Tool] = ()) -> LocalSourceCatalog:
    """The configured sources, not opened yet.

    Raises:
        InvalidSetting: a source has a name that is reserved for uploads.
    """
    for name in settings.sources:
        if is_upload_id(name):
            remedy = f"choose a name that does not begin with {UPLOAD_PREFIX}"
            raise InvalidSetting(f"sources.{name}", "only sources that callers send have such names", remedy)
    memory_limit_mb = settings.folder.memory_limit_mb
    return LocalSourceCatalog(
        {
            name: tuple(_parts(source, memory_limit_mb=memory_limit_mb))
            for name, source in settings.sources.items()
        },
        open_max=settings.folder.open_max,
        extra_tools=extra_tools,
    )


def _parts(source: AnySource, *, memory_limit_mb: int) -> Iterator[ConfiguredPart]:
    options = {name: value for name, value in source if name not in {"kind", "roles", "also"}}
    yield ConfiguredPart(SOURCE_KINDS[source.kind](**options, memory_limit_mb=memory_limit_mb), source.roles)
    for further in source.also:
        yield from _parts(further, memory_limit_mb=memory_limit_mb)
