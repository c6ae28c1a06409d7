"""The version, where any part can read it without the rest."""

__version__ = "0.1.0"
