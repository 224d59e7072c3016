"""`diagnose ask`: one question about an incident folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from diagnosis_harness.cli.answer import Asking, answer
from diagnosis_harness.cli.exit_codes import exit_code
from diagnosis_harness.cli.output import Output, publish, tell
from diagnosis_harness.cli.phrases import phrases_of
from diagnosis_harness.cli.ports import OpenDiagnosis
from diagnosis_harness.kernel.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Apart:
    """What only a service is asked with. `server` None is the configured one."""

    server: str | None
    key: str | None
    source: str | None
    session: str | None
    background: bool


def run_ask(asking: Asking, output: Output, open_diagnosis: OpenDiagnosis) -> int:
    """Ask, print, and say by the exit code how it ended.

    Raises:
        InvalidInput: what the person gave cannot be used.
    """
    document = answer(asking, open_diagnosis, color=output.color)
    publish(document, output)
    if output.save is not None:
        tell(phrases_of(asking.language).saved.format(file=output.save), sys.stderr)
    return exit_code(document.release.outcome, document.run.state)


def checked_apart(asking: Asking, apart: Apart) -> Apart:
    """The options for a service, where they and the folder do not exclude each other.

    Raises:
        InvalidInput: a folder is asked, and something is given for a service; or the other way round.
    """
    if asking.folder is None:
        if asking.baseline is not None:
            raise InvalidInput("--baseline", "it is given without --from", "name the incident folder as well")
        return apart
    given = {
        "--server": apart.server,
        "--key": apart.key,
        "--source": apart.source,
        "--session": apart.session,
        "--background": apart.background,
    }
    for option, value in given.items():
        if value:
            raise InvalidInput(option, "it is given with --from", "ask a folder or a service, not both")
    return apart
