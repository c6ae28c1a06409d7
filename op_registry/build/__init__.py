"""Extracts a snapshot from the dispatcher of an environment that has the wheel."""

from __future__ import annotations

from op_registry.build.launch import TIMEOUT_SECONDS, build

__all__ = ["TIMEOUT_SECONDS", "build"]
