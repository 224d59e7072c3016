"""SYSTEM_CHAT: what the system may say of itself, and says, from its own profile."""
