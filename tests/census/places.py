"""Places in a config where a mutation can strike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

Config = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside a config: its container and its key or index there."""

    container: dict[str, Any] | list[Any]
    key: Any

    @property
    def value(self) -> Any:
        """What stands there."""
        return self.container[self.key]

    def put(self, value: Any) -> None:
        """Replace what stands there."""
        self.container[self.key] = value

    @property
    def field(self) -> str:
        """The name of the field; empty inside lists."""
        return self.key if isinstance(self.key, str) else ""


def places(container: dict[str, Any] | list[Any]) -> Iterator[Place]:
    """Walk a config; of long lists and label maps only the first entries, so that fields count."""
    keys = list(container)[:40] if isinstance(container, dict) else range(min(len(container), 3))
    for key in keys:
        place = Place(container, key)
        yield place
        if isinstance(place.value, dict | list):
            yield from places(place.value)


def pick(rng: Random, config: Config, wanted: Callable[[Place], bool]) -> Place | None:
    """Choose one of the places that are ``wanted``; None when there is none."""
    found = [place for place in places(config) if wanted(place)]
    return rng.choice(found) if found else None
