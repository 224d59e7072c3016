"""What happened in a run, and in what order."""
