"""A lying agent: drafts with a fabricated element, by the thousand, past the real release; none may stand."""
