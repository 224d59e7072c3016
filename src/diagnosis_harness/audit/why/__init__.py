"""Explains a run: seven questions, answered from its document in either language."""
