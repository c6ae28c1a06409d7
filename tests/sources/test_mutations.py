"""Whatever is done to a config, resolving gives a spec or a typed outcome."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.configs import CONFIGS, Options
from tpu_audit.sources.resolve import resolve
from tpu_audit.types.errors import NotAuditedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**63, -(2**63), 10**400, 1e308, -0.0, "", "x" * 10_000, "\ud800",
    "\x00", [], {}, [[]], [None], {"": {}}, ["BertModel"], {"0": 1}, float("inf"), float("nan"),
)  # fmt: skip
NAMES = (
    "model_type", "architectures", "auto_map", "architecture", "pretrained_cfg", "_class_name",
    "_diffusers_version", "peft_type", "base_model_name_or_path", "text_config",
)  # fmt: skip


def change_value(rng: random.Random, config: dict[str, Any]) -> None:
    """Put any value in the place of one, or under a name that decides something."""
    config[rng.choice([*config, *NAMES])] = rng.choice(VALUES)


def drop_field(rng: random.Random, config: dict[str, Any]) -> None:
    """Take a field away."""
    config.pop(rng.choice(list(config)), None) if config else None


def nest(rng: random.Random, config: dict[str, Any]) -> None:
    """Bury a value under up to 200 levels."""
    value: Any = 1
    for _ in range(rng.randrange(200)):
        value = rng.choice(([value], {"a": value}))
    config[rng.choice(NAMES)] = value


def as_text(config: dict[str, Any]) -> bytes:
    """Write the config as JSON."""
    return json.dumps(config).encode()


def damage_bytes(rng: random.Random, raw: bytes) -> bytes:
    """Cut, insert, double or overwrite bytes of the file."""
    at, size = rng.randrange(len(raw) + 1), rng.randrange(40)
    junk = rng.randbytes(size)
    return rng.choice(
        [raw[:at], raw[:at] + junk + raw[at:], raw[:at] + raw[at + size :], raw * 2,
         raw[:at] + b"<<<<<<< HEAD\n" + raw[at:], raw[:at] + junk + raw[at + size :]]
    )  # fmt: skip


CHANGES: tuple[Callable[[random.Random, dict[str, Any]], None], ...] = (
    change_value,
    drop_field,
    nest,
)


def resolves(folder: Path, options: Options) -> bool:
    """Resolve a folder; whatever comes out must be fit for a report."""
    try:
        spec = resolve(str(folder), options())
    except NotAuditedError as error:
        f"{error.code}{error.message}{error.hint}".encode()
        return False
    assert isinstance(spec.model_type, str | None)
    assert isinstance(spec.architecture, str | None)
    json.dumps(dict(spec.config), ensure_ascii=False).encode()
    "".join(spec.notes).encode()
    return True


@pytest.mark.parametrize("seed", range(8))
def test_mutated_configs(tmp_path: Path, options: Options, seed: int) -> None:
    """Eighty mutants a seed, in structure and in bytes: no other exception ever leaves."""
    rng = random.Random(seed)  # noqa: S311 - reproducible, not secret
    sources = [
        raw for p in sorted(CONFIGS.rglob("config.json")) if (raw := p.read_bytes())[:1] == b"{"
    ]
    resolved = 0
    for number in range(80):
        config = json.loads(rng.choice(sources))
        for _ in range(rng.randrange(1, 4)):
            rng.choice(CHANGES)(rng, config)
        raw = as_text(config)
        raw = damage_bytes(rng, raw) if number % 3 == 0 else raw
        name = rng.choice(["config.json", "config.json", "model_index.json", "adapter_config.json"])
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_bytes(raw)
        resolved += resolves(folder, options)
    assert 10 < resolved < 70
