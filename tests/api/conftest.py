"""Fixtures of the tests that scan: the hub double, a clean environment."""

from __future__ import annotations

from tests.support.hub_fixtures import clean_environment, hub

__all__ = ["clean_environment", "hub"]
