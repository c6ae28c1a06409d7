"""Which of a repository's files are read, and how large each may be.

Only small text files that say how a model is built and what its code needs: no weights, no
tokenizer vocabularies. ``tokenizer_config.json`` is left out on purpose: nothing in a trace
depends on it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CONFIG = "config.json"
GENERATION = "generation_config.json"
PROCESSORS = ("preprocessor_config.json", "processor_config.json", "video_preprocessor_config.json")
PIPELINE = "model_index.json"
"""Marks a diffusers pipeline."""
ADAPTER = "adapter_config.json"
"""Marks a PEFT adapter."""
SENTENCE_MODULES = "modules.json"
"""Marks a sentence-transformers model."""

MAX_CONFIG_BYTES = 16 * 2**20
"""config.json: label maps of 22,000 classes take 1 MB; nothing real is near this."""
MAX_SIDE_BYTES = 2**20
"""Generation, processor, pipeline and adapter configs, and files around the code."""
MAX_CODE_BYTES = 2**20
"""One ``*.py`` file."""
MAX_CODE_FILES = 100
MAX_ALL_CODE_BYTES = 8 * 2**20
"""All ``*.py`` files together."""
MAX_TEXT_FILES = 20
"""Files around the code: requirements, Dockerfiles, YAML."""
MAX_INDEX_BYTES = 4 * 2**20
"""One ``*.index.json``: weight names and shards. Over it (DeepSeek-V3: 9 MB) it is not read."""

MAX_PARTS = 40
"""Folders whose configs are read: components of a pipeline, modules of an embedding model."""

_SIDE = (GENERATION, *PROCESSORS, PIPELINE, ADAPTER, SENTENCE_MODULES)
_OF_PARTS = (CONFIG, GENERATION, *PROCESSORS)
"""Files read in each of those folders."""
_TEXT = re.compile(
    r"(?:[^/]*(?:requirements|constraints|dependencies)[^/]*\.txt|[^/]+\.(?:ya?ml|toml)"
    r"|setup\.cfg|Pipfile|(?:Dockerfile|Containerfile)(?:[._-][^/]*)?"
    r"|(?:[^/]*deepspeed|ds_|zero_?[123])[^/]*\.json)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Names to read, the config first, and what was left out that someone may miss."""

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def select_files(sizes: Mapping[str, int | None]) -> Selection:
    """Choose from a listing of file name -> size in bytes (None: the listing does not say)."""
    code, texts = _top_first(filter(is_code, sizes)), _top_first(filter(is_text, sizes))
    wanted = [name for name in (CONFIG, *_SIDE) if name in sizes]
    wanted += _part_files(sizes)
    taken = _affordable(code[:MAX_CODE_FILES], sizes)
    wanted += [*taken, *texts[:MAX_TEXT_FILES], *sorted(n for n in sizes if is_index(n))]
    fitting = [name for name in wanted if (sizes[name] or 0) <= size_limit(name)]
    notes = [
        f"{name} was not read: {sizes[name]:,} bytes, limit {size_limit(name):,}"
        for name in wanted
        if name not in fitting and not is_index(name)
    ]
    notes += _left_out("Python files", code, len(taken))
    notes += _left_out("files around the code (YAML, requirements...)", texts, MAX_TEXT_FILES)
    return Selection(names=tuple(fitting), notes=tuple(notes))


def size_limit(name: str) -> int:
    """Bytes up to which a file of that name is read."""
    if name.rpartition("/")[2] == CONFIG:
        return MAX_CONFIG_BYTES
    if is_code(name):
        return MAX_CODE_BYTES
    return MAX_INDEX_BYTES if is_index(name) else MAX_SIDE_BYTES


def part_configs(names: Iterable[str]) -> list[str]:
    """Return the config files one folder down: ``unet/config.json``, ``1_Pooling/config.json``."""
    found = (name for name in names if name.endswith(f"/{CONFIG}") and name.count("/") == 1)
    return sorted(found)[:MAX_PARTS]


def in_parts(names: Iterable[str]) -> bool:
    """Tell whether the model may be described in folders, not by one config alone."""
    held = set(names)
    return CONFIG not in held or PIPELINE in held or SENTENCE_MODULES in held


def _part_files(names: Iterable[str]) -> list[str]:
    held = set(names)
    if not in_parts(held):
        return []
    folders = [name.partition("/")[0] for name in part_configs(held)]
    return [path for f in folders for n in _OF_PARTS if (path := f"{f}/{n}") in held]


def is_code(name: str) -> bool:
    """Tell a Python file. Such files are read, never imported."""
    return name.endswith(".py")


def is_text(name: str) -> bool:
    """Tell a file that says what the code needs or how it is run: requirements, Dockerfile, YAML.

    JSON only by its name: most of it is vocabularies and label maps.
    """
    *folders, last = name.split("/")
    hidden = any(folder.startswith(".") for folder in folders)
    return not hidden and _TEXT.fullmatch(last) is not None


def is_optional(name: str) -> bool:
    """Tell a file that the checker reads and the trace does without."""
    return is_code(name) or is_text(name) or name == SENTENCE_MODULES


def is_index(name: str) -> bool:
    """Tell a weight index: parameter name -> shard."""
    return name.endswith(".index.json")


def _top_first(names: Iterable[str]) -> list[str]:
    """Top-level files first: ``auto_map`` points at those."""
    return sorted(names, key=lambda name: (name.count("/"), name))


def _affordable(names: Sequence[str], sizes: Mapping[str, int | None]) -> list[str]:
    """Return the first names whose files together are small enough; too large ones cost none."""
    costs = [size if (size := sizes[name] or 0) <= MAX_CODE_BYTES else 0 for name in names]
    totals = accumulate(costs)
    return [n for n, total in zip(names, totals, strict=True) if total <= MAX_ALL_CODE_BYTES]


def _left_out(what: str, names: Sequence[str], taken: int) -> list[str]:
    missed = len(names) - taken
    return [f"{missed} of {len(names)} {what} were not read"] if missed > 0 else []
