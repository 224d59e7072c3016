"""An agent that chooses its tool calls: whole runs of the product in worlds whose truth is known."""
