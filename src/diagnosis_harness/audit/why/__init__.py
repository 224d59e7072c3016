"""Why a run went as it did: seven questions, answered from its document, in words of either language."""
