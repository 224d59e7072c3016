"""The players of the roles; the embedded ones ship with the package."""
