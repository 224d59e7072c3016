"""`diagnose look`: shows how the files of a folder are read, before any question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diagnosis_harness.cli.options import BaselineOption, NoColorOption, OutputLangOption, SettingsFile
from diagnosis_harness.kernel.language import Language


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the command `look`."""

    @app.command()
    def look(
        folder: Annotated[
            Path, typer.Argument(metavar="FOLDER", help="The folder, as for `diagnose ask --from`.")
        ],
        *,
        fix: Annotated[
            bool,
            typer.Option("--fix", help="Write an incident.toml that states how files were read, to correct."),
        ] = False,
        baseline: BaselineOption = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
        lang: OutputLangOption = Language.EN,
        no_color: NoColorOption = False,
    ) -> int:
        """Show how each file of a folder is read and why, and what the folder holds and lacks.

        Services, instances, signals with their meaning, times, gaps; files that are not read, with the
        remedy. Exit code 0 where something can be diagnosed, otherwise 2.
        """
        import sys

        from diagnosis_harness.bootstrap.look import look_at, write_draft_settings
        from diagnosis_harness.cli.exit_codes import BAD_INPUT
        from diagnosis_harness.cli.interrupt import raise_on_interrupt
        from diagnosis_harness.cli.output import make_console, print_json, write_line
        from diagnosis_harness.cli.render.look import look_json, look_lines
        from diagnosis_harness.cli.words import look as words
        from diagnosis_harness.settings import load_settings

        settings = load_settings(settings_file())
        with raise_on_interrupt():
            seen = look_at(settings, folder, baseline=baseline)
            written = write_draft_settings(settings, folder, seen) if fix else None
        if as_json:
            print_json(look_json(seen), indent=2)
        else:
            console = make_console(color=not no_color)
            console.print_lines(look_lines(seen, lang, width=console.width))
        if written is not None:
            write_line(words.WRITTEN.render(lang, file=str(written)), sys.stderr)
        return 0 if seen.obstacle is None else BAD_INPUT
