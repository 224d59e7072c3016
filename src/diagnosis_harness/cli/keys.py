"""`diagnose keys`: API keys of the service, in this machine's database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.cli.runs import SettingsFile
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from diagnosis_harness.application.callers.api_key import ApiKey
    from diagnosis_harness.bootstrap.stored_runs import StoredRuns
    from diagnosis_harness.cli.at_desk import Where

NAME_MAX = 64

LangOption = Annotated[Language | None, typer.Option("--lang", help="Language of what is printed.")]


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the commands of `keys`."""
    keys = typer.Typer(help="API keys of the service: make, list, revoke.")
    app.add_typer(keys, name="keys")

    @keys.command()
    def add(
        name: Annotated[str, typer.Argument(metavar="NAME", help="Of the caller who will hold it.")],
        *,
        role: Annotated[
            str,
            typer.Option(
                "--role",
                metavar="ROLE",
                help="viewer (reads what was asked under this name), operator (asks and cancels as well), "
                "admin (sees and cancels everybody's runs).",
            ),
        ],
        rate: Annotated[
            int | None,
            typer.Option("--rate", metavar="N", min=1, help="Requests a minute; else the server's own."),
        ] = None,
        concurrent: Annotated[
            int | None,
            typer.Option("--concurrent", metavar="N", min=1, help="Unfinished runs; else the server's own."),
        ] = None,
        lang: LangOption = None,
    ) -> int:
        """Make a key, and print it once: on standard output, alone. Of it only a hash is kept."""
        return _add(_where(settings_file, lang), name, role, rate=rate, concurrent=concurrent)

    @keys.command("list")
    def list_(*, lang: LangOption = None) -> int:
        """List keys, also revoked ones, by when they were made."""
        return _list(_where(settings_file, lang))

    @keys.command()
    def revoke(
        key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="As `keys list` prints it.")],
        *,
        lang: LangOption = None,
    ) -> int:
        """Revoke a key for good. A server that runs refuses it within seconds."""
        return _revoke(_where(settings_file, lang), key_id)


def _where(settings_file: SettingsFile, lang: Language | None) -> Where:
    from diagnosis_harness.cli.at_desk import Where

    return Where(settings_file(), "", "", lang or Language.EN)


def _at_keys(where: Where, work: Callable[[StoredRuns], Awaitable[int]], *, makes: bool = False) -> int:
    import asyncio

    from diagnosis_harness.cli.at_desk import opened_database, told
    from diagnosis_harness.settings import load_settings

    settings = load_settings(where.settings_file)

    async def worked() -> int:
        async with opened_database(where, settings, makes=makes) as kept:
            return await work(kept)

    return told(where.words, lambda: asyncio.run(worked()))


def _add(where: Where, name: str, role: str, *, rate: int | None, concurrent: int | None) -> int:
    import sys

    from diagnosis_harness.application.callers.api_key import ApiKey, new_key
    from diagnosis_harness.application.callers.caller import CallerRole
    from diagnosis_harness.cli.output import tell
    from diagnosis_harness.kernel.errors import InvalidInput
    from diagnosis_harness.report.timestamps import shown

    words = where.words
    _check_name(where, name)
    if role not in set(CallerRole):
        known = ", ".join(CallerRole)
        raise InvalidInput("--role", f"'{shown(role)}' is not known", f"choose one of {known}")

    async def added(kept: StoredRuns) -> int:
        fresh = new_key(kept.ids)
        key = ApiKey(
            key_id=fresh.key_id,
            name=name,
            role=CallerRole(role),
            secret_sha256=fresh.secret_sha256,
            created_at_s=kept.clock.now_s(),
            rate_per_minute=rate,
            concurrent_runs=concurrent,
        )
        if not await kept.keys.add(key):
            raise InvalidInput(name, words.key_taken, words.key_name_remedy)
        tell(words.key_added.format(key_id=key.key_id, name=name, role=role), sys.stderr)
        tell(fresh.shown, sys.stdout)
        tell(words.key_once, sys.stderr)
        return 0

    return _at_keys(where, added, makes=True)


def _check_name(where: Where, name: str) -> None:
    """A name that no key may have is one of who asks without: they would see each other's runs."""
    from diagnosis_harness.application.callers.caller import KEYLESS
    from diagnosis_harness.harness.keys import is_safe_segment
    from diagnosis_harness.kernel.errors import InvalidInput

    if not is_safe_segment(name) or len(name) > NAME_MAX or name in KEYLESS:
        raise InvalidInput("NAME", where.words.key_name, where.words.key_name_remedy)


def _list(where: Where) -> int:
    async def listed(kept: StoredRuns) -> int:
        from diagnosis_harness.cli.output import make_console
        from diagnosis_harness.cli.render.columns import column_lines

        keys = await kept.keys.keys()
        console = make_console(color=False)
        lines = column_lines(_rows(where, keys)) if keys else (where.words.no_keys,)
        for line in lines:
            console.print(line, soft_wrap=True)
        return 0

    return _at_keys(where, listed)


def _rows(where: Where, keys: Sequence[ApiKey]) -> list[tuple[str, ...]]:
    from diagnosis_harness.report.timestamps import instant

    words = where.words
    return [
        words.key_columns,
        *(
            (
                key.key_id,
                key.name,
                key.role.value,
                str(key.rate_per_minute or "-"),
                str(key.concurrent_runs or "-"),
                instant(key.created_at_s),
                words.key_is_valid if key.revoked_at_s is None else instant(key.revoked_at_s),
            )
            for key in keys
        ),
    ]


def _revoke(where: Where, key_id: str) -> int:
    async def revoked(kept: StoredRuns) -> int:
        import sys

        from diagnosis_harness.cli.exit_codes import BAD_INPUT
        from diagnosis_harness.cli.output import tell
        from diagnosis_harness.report.timestamps import shown

        # A whole key is given by mistake easily; its middle part is the id.
        wanted = key_id.split("_")[1] if key_id.startswith("dk_") else key_id
        is_revoked = await kept.keys.revoke(wanted, at_s=kept.clock.now_s())
        words = where.words
        if not is_revoked:
            tell(words.key_unknown.format(key_id=shown(wanted)), sys.stderr)
            return BAD_INPUT
        tell(words.key_revoked.format(key_id=wanted), sys.stdout)
        return 0

    return _at_keys(where, revoked)
