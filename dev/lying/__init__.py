"""A lying agent: thousands of drafts with a fabricated element, none of which may be released."""
