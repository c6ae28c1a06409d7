"""Readers of everything that is not Python: configs, dependencies, containers, scripts."""
