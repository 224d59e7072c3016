"""What every room uses: errors, clock, ids, canonical JSON, time windows."""
