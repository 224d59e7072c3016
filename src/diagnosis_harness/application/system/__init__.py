"""SYSTEM_CHAT: answers about the system itself, from its profile."""
