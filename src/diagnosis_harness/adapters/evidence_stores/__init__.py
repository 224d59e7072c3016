"""Where canonical records are kept."""
