"""One model type of each family of the installed transformers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.census.auto_classes import AutoClass, auto_classes

if TYPE_CHECKING:
    from tests.census.hub_index import HubIndex


def families(hub: HubIndex) -> list[AutoClass]:
    """Return the main head, else the base class, of one type of every family.

    A family are types whose names begin alike: ``qwen2``, ``qwen3_moe``. Of a family the first
    type by name counts, of those that ``hub`` has a config for where it has any; such families
    come first.
    """
    found: dict[str, tuple[bool, AutoClass]] = {}
    for model_type, classes in auto_classes():
        one = classes[-1]
        real = bool(hub.paths(one.name, model_type))
        family = family_of(model_type)
        if family not in found or (real and not found[family][0]):
            found[family] = (real, one)
    ordered = sorted(found.items(), key=lambda item: (not item[1][0], item[0]))
    return [one for _, (_, one) in ordered]


def family_of(model_type: str) -> str:
    """Return how the names of a family begin: letters up to a number or a separator."""
    match = re.match(r"[a-z]+", model_type)
    return match.group() if match else model_type
