"""The report for a terminal: one screen, the verdict first."""

from __future__ import annotations

from tpu_audit.render.console.page import ConsoleRenderer

__all__ = ["ConsoleRenderer"]
