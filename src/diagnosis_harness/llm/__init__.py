"""Talking with a language model: messages, the port, and the meter in front of it."""
