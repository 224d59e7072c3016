"""`diagnose ask`: one question about an incident folder."""

from __future__ import annotations

import sys

from diagnosis_harness.cli.answer import Asking, answer
from diagnosis_harness.cli.exit_codes import exit_code
from diagnosis_harness.cli.output import Output, publish, tell
from diagnosis_harness.cli.phrases import phrases_of
from diagnosis_harness.cli.ports import OpenDiagnosis


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
