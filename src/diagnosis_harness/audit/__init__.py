"""What a run document proves: verify it, check it again against its sources, and answer why it ended so."""
