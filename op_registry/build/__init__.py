"""Extracts a snapshot from the dispatcher of an environment that has the wheel."""
