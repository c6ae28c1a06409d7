"""From a target to a ModelSpec: hub, local folders, the built-in catalogue.

The way in is :func:`tpu_audit.sources.resolve.resolve`. Nothing here runs or imports a model's
code, and nothing downloads weights.
"""
