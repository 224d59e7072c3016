"""`make bench`: the costs, as ratios to what the product could have been built on. It never fails."""
