"""`make bench`: what it costs, as ratios to what it could have been built on. It fails nothing."""
