"""`python -m diagnosis_harness` is `diagnose`."""

from diagnosis_harness.cli.main import main

main()
