"""`python -m diagnosis_harness` is `diagnose`; the console script comes in here as well."""

import os
import signal

CANCELLED = 130


def main() -> None:
    """Run the command line of this process.

    Ctrl+C while it is still being imported ends the process at once and silently: nothing was said yet.
    """
    signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(CANCELLED))
    from diagnosis_harness.cli.main import main as command_line

    try:
        command_line()
    except KeyboardInterrupt:  # a further Ctrl+C, while the first was being reported
        os._exit(CANCELLED)


if __name__ == "__main__":
    main()
