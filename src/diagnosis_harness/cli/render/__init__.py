"""From a run document to lines for a terminal; pure, at a given width."""
