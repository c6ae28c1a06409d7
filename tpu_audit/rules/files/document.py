"""A file that is not Python, read: entries, commands and requirements with their exact places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability, Edit, Fix
from tpu_audit.rules.hit import Hit, Span
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.types.report import Severity

Key = str | int
"""A mapping's key, or a place in a sequence."""
Value = str | int | float | bool | None
"""A scalar as the format types it: an unquoted YAML ``1`` is an int, ``"1"`` a str."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One key with its value, or one item of a sequence.

    Mappings and sequences have an entry too (``container`` true, ``value`` None), so that a rule
    can ask for ``nvidia.com/gpu`` without knowing what it holds.
    """

    keys: tuple[Key, ...]
    """From the root: ``("services", "app", "image")``, ``("dependencies", 3)``. Dockerfile:
    ``("FROM",)``, ``("ENV", NAME)``. Shell and .env: ``(NAME,)``. INI: ``(section, option)``.
    C++ and CUDA: ``("include",)``."""
    value: Value
    span: Span
    """The value's place, quotes included; the whole stretch of a container."""
    key_span: Span | None = None
    """The key's place; None for an item of a sequence."""
    container: bool = False
    stream: int = 0
    """Which document of a multi-document YAML stream."""

    @property
    def key(self) -> Key | None:
        """The last key."""
        return self.keys[-1] if self.keys else None

    def text(self) -> str:
        """Return the value as a lower-case word, for comparisons; empty for a container."""
        return "" if self.container or self.value is None else str(self.value).strip().lower()


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """One word of a command, quotes removed; ``span`` covers it with them."""

    text: str
    span: Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """One simple command: of a shell script, a RUN line, a CI step, a Makefile recipe, CMake.

    Leading assignments (``CUDA_VISIBLE_DEVICES=0 python x.py``) are in ``assignments``, not in
    ``words``. Directives in comments (``#SBATCH --gres=gpu:1``) are commands whose first word is
    ``#SBATCH``. Pipelines and ``&&`` lists are split.
    """

    words: tuple[Word, ...]
    span: Span
    assignments: tuple[Entry, ...] = ()

    @property
    def name(self) -> str:
        """The first word without its directory; empty for a command of assignments alone."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""

    def option(self, *names: str) -> Word | None:
        """Return the value of the first option among ``names``.

        Of ``--gres=X`` or ``--gres X`` the word with text ``X``; of an option that ends the
        command, the option itself.
        """
        for place, word in enumerate(self.words):
            head, equals, tail = word.text.partition("=")
            if head in names and equals:
                return Word(text=tail, span=word.span)
            if word.text in names:
                return self.words[place + 1] if place + 1 < len(self.words) else word
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirement:
    """One dependency, wherever it is declared.

    In a requirements file, pyproject, setup.cfg, a conda or lock file, or by ``pip install``.
    """

    name: str
    """Normalised as PEP 503: lower case, runs of ``-_.`` as one ``-``."""
    specifier: str
    """Versions, as written: ``>=2.1,<3``; conda's ``=11.8``; empty for any."""
    span: Span
    """The whole requirement's place."""
    url: str = ""
    manager: str = "pip"
    """``pip`` or ``conda``."""
    locked: bool = False
    """Stands in a lock file: a result, not a wish."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One read file.

    ``kind`` is its format: ``yaml``, ``json``, ``toml``, ``ini``, ``requirements``, ``dockerfile``,
    ``shell``, ``env``, ``makefile``, ``cmake``, ``cpp``. ``flavours`` say what it is for, as far as
    its name and content tell: ``kubernetes``, ``compose``, ``helm``, ``conda``, ``ci``,
    ``accelerate``, ``hydra``, ``hf-config``, ``deepspeed``, ``training-arguments``, ``pyproject``,
    ``lock``, ``constraints``, ``slurm``, ``test`` (a test's data).
    """

    kind: str
    path: str
    source: SourceText
    flavours: frozenset[str] = frozenset()
    entries: tuple[Entry, ...] = ()
    commands: tuple[Command, ...] = ()
    requirements: tuple[Requirement, ...] = ()

    @property
    def text(self) -> str:
        """The file's text."""
        return self.source.text

    def keyed(self, *names: Key) -> Iterator[Entry]:
        """Iterate over entries whose last keys are ``names``, as in ``("limits", "cpu")``."""
        size = len(names)
        return (entry for entry in self.entries if entry.keys[-size:] == names)

    def hit(
        self,
        span: Span,
        message: str,
        advice: str,
        *,
        fix: Fix | None = None,
        severity: Severity | None = None,
        cause: str = "",
    ) -> Hit:
        """Make a hit at ``span``."""
        return Hit(
            span=span, message=message, advice=advice, fix=fix, severity=severity, cause=cause
        )

    def replace(self, span: Span, text: str, applicability: Applicability) -> Fix:
        """Make a fix that writes ``text`` over ``span``."""
        start, end = self.source.byte_range(span)
        return Fix(edits=(Edit(start=start, end=end, text=text),), applicability=applicability)
