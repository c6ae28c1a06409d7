"""Joins a trace and a registry into supports, hazards, findings and a verdict."""
