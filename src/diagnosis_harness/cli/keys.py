"""`diagnose keys`: API keys of the service, in the local database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.cli.options import OutputLangOption, RunsOptions, SettingsFile
from diagnosis_harness.cli.words import runs as words
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.application.callers.api_key import ApiKey
    from diagnosis_harness.bootstrap.stored_runs import StoredRuns

KEY_NAME_MAX = 64


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the commands of `keys`."""
    keys = typer.Typer(help="API keys of the service: create, list, revoke.")
    app.add_typer(keys, name="keys")

    def options(lang: Language) -> RunsOptions:
        return RunsOptions(settings_file=settings_file(), lang=lang)

    @keys.command()
    def add(
        name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the caller who will use it.")],
        *,
        role: Annotated[
            str,
            typer.Option(
                "--role",
                metavar="ROLE",
                help="viewer (reads the runs of this name), operator (also asks and cancels), "
                "admin (sees and cancels everybody's runs).",
            ),
        ],
        rate: Annotated[
            int | None,
            typer.Option("--rate", metavar="N", min=1, help="Requests per minute; the server's by default."),
        ] = None,
        concurrent: Annotated[
            int | None,
            typer.Option(
                "--concurrent", metavar="N", min=1, help="Unfinished runs; the server's by default."
            ),
        ] = None,
        lang: OutputLangOption = Language.EN,
    ) -> int:
        """Create a key and print it once, alone on standard output. Only its hash is stored."""
        return _add(options(lang), name, role, rate=rate, concurrent=concurrent)

    @keys.command("list")
    def list_(*, lang: OutputLangOption = Language.EN) -> int:
        """List keys, including revoked ones, in the order of their creation."""
        return _list(options(lang))

    @keys.command()
    def revoke(
        key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="The id shown by `keys list`.")],
        *,
        lang: OutputLangOption = Language.EN,
    ) -> int:
        """Revoke a key for good. Running servers refuse it within seconds."""
        return _revoke(options(lang), key_id)


def _with_key_store(
    options: RunsOptions, work: Callable[[StoredRuns], Awaitable[int]], *, create_if_missing: bool = False
) -> int:
    import asyncio

    from diagnosis_harness.cli.client.connect import open_database, report_failures
    from diagnosis_harness.settings import load_settings

    settings = load_settings(options.settings_file)

    async def open_and_work() -> int:
        async with open_database(options, settings, create_if_missing=create_if_missing) as stored:
            return await work(stored)

    return report_failures(options.language, lambda: asyncio.run(open_and_work()))


def _add(options: RunsOptions, name: str, role: str, *, rate: int | None, concurrent: int | None) -> int:
    import sys

    from diagnosis_harness.application.callers.api_key import ApiKey, new_key
    from diagnosis_harness.application.callers.caller import CallerRole
    from diagnosis_harness.cli.output import write_line
    from diagnosis_harness.kernel.errors import InvalidInput
    from diagnosis_harness.report.timestamps import escape_line

    language = options.language
    _check_name(language, name)
    if role not in set(CallerRole):
        known = ", ".join(CallerRole)
        raise InvalidInput("--role", f"'{escape_line(role)}' is not known", f"choose one of {known}")

    async def add(stored: StoredRuns) -> int:
        fresh = new_key(stored.ids)
        key = ApiKey(
            key_id=fresh.key_id,
            name=name,
            role=CallerRole(role),
            secret_sha256=fresh.secret_sha256,
            created_at_s=stored.clock.now_s(),
            rate_per_minute=rate,
            concurrent_runs=concurrent,
        )
        if not await stored.keys.add(key):
            raise InvalidInput(name, words.KEY_TAKEN.in_(language), words.KEY_NAME_REMEDY.in_(language))
        write_line(words.KEY_ADDED.render(language, key_id=key.key_id, name=name, role=role), sys.stderr)
        write_line(fresh.shown, sys.stdout)
        write_line(words.KEY_ONCE.in_(language), sys.stderr)
        return 0

    return _with_key_store(options, add, create_if_missing=True)


def _check_name(language: Language, name: str) -> None:
    """Refuse invalid names, and those of callers without a key, who would see each other's runs."""
    from diagnosis_harness.application.callers.caller import KEYLESS
    from diagnosis_harness.harness.keys import is_safe_segment
    from diagnosis_harness.kernel.errors import InvalidInput

    if not is_safe_segment(name) or len(name) > KEY_NAME_MAX or name in KEYLESS:
        raise InvalidInput("NAME", words.KEY_NAME.in_(language), words.KEY_NAME_REMEDY.in_(language))


def _list(options: RunsOptions) -> int:
    async def list_keys(stored: StoredRuns) -> int:
        from diagnosis_harness.cli.output import make_console
        from diagnosis_harness.cli.render.columns import column_lines

        language, keys = options.language, await stored.keys.keys()
        lines = column_lines(_key_rows(language, keys)) if keys else (words.NO_KEYS.in_(language),)
        make_console(color=False).print_lines(lines)
        return 0

    return _with_key_store(options, list_keys)


def _key_rows(language: Language, keys: Sequence[ApiKey]) -> list[tuple[str, ...]]:
    from diagnosis_harness.report.timestamps import display_time

    return [
        tuple(column.in_(language) for column in words.KEY_COLUMNS),
        *(
            (
                key.key_id,
                key.name,
                key.role.value,
                str(key.rate_per_minute or "-"),
                str(key.concurrent_runs or "-"),
                display_time(key.created_at_s),
                "-" if key.revoked_at_s is None else display_time(key.revoked_at_s),
            )
            for key in keys
        ),
    ]


def _revoke(options: RunsOptions, key_id: str) -> int:
    async def revoke(stored: StoredRuns) -> int:
        import sys

        from diagnosis_harness.cli.exit_codes import BAD_INPUT
        from diagnosis_harness.cli.output import write_line
        from diagnosis_harness.report.timestamps import escape_line

        # People easily paste the whole key; its middle part is the id.
        wanted = key_id.split("_")[1] if key_id.startswith("dk_") else key_id
        language = options.language
        if not await stored.keys.revoke(wanted, at_s=stored.clock.now_s()):
            write_line(words.KEY_UNKNOWN.render(language, key_id=escape_line(wanted)), sys.stderr)
            return BAD_INPUT
        write_line(words.KEY_REVOKED.render(language, key_id=wanted), sys.stdout)
        return 0

    return _with_key_store(options, revoke)
