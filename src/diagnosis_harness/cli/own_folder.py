"""`--from` and `--baseline` of the commands that stay: one more source, named as its folder is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from diagnosis_harness.settings import Settings

FromOption = Annotated[
    Path | None,
    typer.Option(
        "--from", metavar="FOLDER", help="An incident folder to be asked about, beside those configured."
    ),
]
BaselineOption = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FOLDER", help="A folder of the same form, recorded in normal operation."
    ),
]


def with_folder(settings: Settings, folder: Path | None, baseline: Path | None) -> Settings:
    """The settings with this source as well, where one was given.

    Raises:
        InvalidInput: a baseline was given, and no folder that it belongs to.
    """
    from diagnosis_harness.settings import SourceSettings

    if folder is None:
        if baseline is not None:
            raise InvalidInput("--baseline", "it is given without --from", "name the incident folder as well")
        return settings
    source = SourceSettings(folder=folder, baseline=baseline)
    return settings.model_copy(update={"sources": {**settings.sources, folder.resolve().name: source}})
