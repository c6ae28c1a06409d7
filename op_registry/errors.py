"""The one error this package raises on purpose."""

from __future__ import annotations


class RegistryError(ValueError):
    """A snapshot cannot be found, read or built.

    ``message`` says what and which value, ``hint`` how to fix it (None when nothing helps).
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
