"""`make bench`: measures costs, relative to those of comparable libraries. It never fails."""
