"""From a target to a ModelSpec: hub, local folders, the built-in catalogue."""
