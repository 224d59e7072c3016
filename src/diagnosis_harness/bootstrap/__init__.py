"""Builds the object graph: the only place that names an adapter or a player.

One module for each thing it builds.
"""
