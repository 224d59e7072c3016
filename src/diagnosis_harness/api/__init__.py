"""Owns the public interface: a harness that a host program opens, asks, watches, cancels and closes."""
