"""Joins what a trace saw with what the registry knows: support, hazards, findings, a verdict."""
