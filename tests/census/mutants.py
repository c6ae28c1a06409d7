"""Makes broken configs: the same seed, folder and number make the same mutant."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tests.census.mutations import DEEP, MUTATIONS, Mutation
from tests.census.sweep import config_paths, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LARGE = 2**20
"""Bytes of a neighbour file above which it is not copied along."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """One broken config on disk."""

    path: Path
    base: str
    """Name of the config that it was made from."""
    mutations: tuple[str, ...]


def write_mutants(folder: Path, into: Path, *, seed: int, numbers: Sequence[int]) -> list[Mutant]:
    """Write the mutants of these ``numbers``, each in a folder of its own with its neighbours."""
    bases = dict(_readable(folder))
    return [_write(folder, into / f"{n:05}", bases, Random(f"{seed}:{n}")) for n in numbers]  # noqa: S311 - repeatable on purpose


def _readable(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Configs that parse: what is broken already has little left to break."""
    for path in config_paths(folder):
        try:
            content = json.loads(path.read_bytes())
        except ValueError:
            continue
        if isinstance(content, dict):
            yield path, content


def _write(folder: Path, into: Path, bases: dict[Path, dict[str, Any]], rng: Random) -> Mutant:
    base = rng.choice(list(bases))
    chosen = rng.choices(MUTATIONS, k=rng.choice((1, 1, 2, 3)))
    into.mkdir(parents=True)
    for neighbour in sorted(base.parent.glob("*.json")):
        if neighbour != base and neighbour.stat().st_size < _LARGE:
            (into / neighbour.name).write_bytes(_neighbour(neighbour.read_bytes(), rng))
    text = mutated(bases[base], chosen, rng)
    damage = rng.random() < 0.05
    (into / base.name).write_bytes(damaged(text, rng) if damage else text)
    names = (*(mutation.__name__ for mutation in chosen), *(["damaged_bytes"] if damage else []))
    return Mutant(path=into / base.name, base=name_of(base, folder), mutations=names)


def mutated(config: dict[str, Any], chosen: Sequence[Mutation], rng: Random) -> bytes:
    """Return the text of ``config`` after these mutations."""
    content = copy.deepcopy(config)
    for mutation in chosen:
        mutation(rng, content)
    depth = rng.choice((30, 70, 900, 50_000))
    opening, closing = rng.choice((("[", "]"), ('{"a":', "}")))
    nested = opening * depth + "1" + closing * depth
    return json.dumps(content).replace(json.dumps(DEEP), nested).encode()


def damaged(text: bytes, rng: Random) -> bytes:
    """Return ``text`` as a bad disk or a bad program would leave it."""
    cut = rng.randrange(len(text) + 1)
    return rng.choice(
        (
            text[:cut],
            text[:cut] + bytes([rng.randrange(128, 256)]) + text[cut:],
            text.decode().encode("utf-16"),
            b"\xef\xbb\xbf" + text,
            b"[" + text + b"]",
            text[:-1] + b', "hidden_size": ' + b"9" * 5000 + b"}",
            text + text,
        )
    )


def _neighbour(text: bytes, rng: Random) -> bytes:
    """One neighbour in four (generation or processor config) is broken too."""
    if rng.random() < 0.75:
        return text
    try:
        content = json.loads(text)
    except ValueError:
        return text
    if not isinstance(content, dict):
        return text
    return mutated(content, rng.choices(MUTATIONS, k=1), rng)
