"""Rules on host syncs and dynamic shapes."""
