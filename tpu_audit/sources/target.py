"""What a target is: a path or a hub id.

A target is a **path** if it starts with ``.``, ``/`` or ``~``, or ends in ``.json``, or if a
folder of that name holds one of :data:`MARKERS`. Everything else is a **hub id**,
``org/name`` or ``org/name@revision``, which timm writes after ``hf-hub:``. A folder
``bert-base-uncased`` with something else in it does not hide the model of that name;
``./bert-base-uncased`` means the folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tpu_audit.sources.selection import ADAPTER, CONFIG, PIPELINE, SENTENCE_MODULES
from tpu_audit.types.errors import Stage, TargetNotFoundError, UsageError

MARKERS = (CONFIG, PIPELINE, ADAPTER, SENTENCE_MODULES)
"""A folder with one of these is a model's, whatever its name looks like."""

COMMIT = re.compile(r"[0-9a-f]{40}")
"""A full commit: the one kind of revision that never moves."""

TIMM_SCHEMES = ("hf-hub:", "hf_hub:")
"""How timm writes that an id is of the hub: ``hf-hub:timm/resnet50.a1_in1k``."""

_ID = re.compile(r"(\b[\w\-.]{1,96}\b/)?\b[\w\-.]{1,96}\b", re.ASCII)
_REVISION = re.compile(r"[\w\-.+/]{1,200}", re.ASCII)
_HUB_URL = re.compile(
    r"(?:https?://(?:www\.)?(?:huggingface\.co|hf\.co)/|hf://)([\w\-.]+/[\w\-.]+)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalTarget:
    """A folder or a JSON file on this machine."""

    text: str
    path: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class HubTarget:
    """A repository of the hub."""

    text: str
    id: str
    revision: str | None
    """None: the default branch."""


def parse_target(text: str, revision: str | None = None) -> LocalTarget | HubTarget:
    """Tell paths from hub ids by the rule above.

    ``revision`` is the option of that name; it must not contradict ``@revision``.
    Raises :class:`UsageError` for bad syntax, :class:`TargetNotFoundError` for a path that does
    not exist.
    """
    timm = text.startswith(TIMM_SCHEMES)
    path = _as_path(text) if text.strip() and not timm else None
    if path is None:
        return _hub_target(text, revision)
    if revision is not None:
        raise UsageError(
            f"a local path has no revisions: {text!r} with revision {revision!r}",
            hint="drop --revision, or give the hub id instead of the path",
        )
    return LocalTarget(text=text, path=path)


def _as_path(text: str) -> Path | None:
    looks_like_path = text.startswith((".", "/", "~")) or text.endswith(".json")
    try:
        path = Path(text).expanduser()
        if looks_like_path and not path.exists():
            raise TargetNotFoundError(
                f"no such file or folder: {text!r}",
                stage=Stage.RESOLVE,
                code="path_not_found",
                hint="a model of the hub is named org/name, without a leading ./ or /",
            )
        marked = looks_like_path or any((path / marker).is_file() for marker in MARKERS)
    except (OSError, RuntimeError, ValueError) as error:  # name too long, unknown ~user, NUL byte
        if looks_like_path:
            raise UsageError(f"not a usable path: {text!r} ({error})") from error
        return None
    return path if marked else None


def _hub_target(text: str, revision: str | None) -> HubTarget:
    plain = text.partition(":")[2] if text.startswith(TIMM_SCHEMES) else text
    name, at, inline = plain.partition("@")
    if not _valid_id(name):
        raise UsageError(f"not a model id or a path: {text!r}", hint=_id_hint(text))
    if at and revision is not None and inline != revision:
        raise UsageError(
            f"two revisions for {name!r}: {inline!r} in the target and {revision!r} as the option",
            hint="give one of them",
        )
    wanted = inline if at else revision
    if wanted is not None and (not _REVISION.fullmatch(wanted) or ".." in wanted):
        raise UsageError(
            f"not a revision: {wanted!r} (of {name!r})",
            hint="a revision is a branch, a tag or a commit, for example org/name@main",
        )
    return HubTarget(text=text, id=name, revision=wanted)


def _valid_id(name: str) -> bool:
    """huggingface_hub's rule for repository ids, without its import."""
    forbidden = "--" in name or ".." in name or name.endswith(".git")
    return bool(_ID.fullmatch(name)) and not forbidden


def _id_hint(text: str) -> str:
    url = _HUB_URL.match(text)
    if url:
        return f"give the id alone: {url[1]}"
    if "/" in text.partition("/")[2]:
        return "an id has one slash, org/name; a folder is written ./folder"
    return "an id is org/name or org/name@revision; a folder is written ./folder"
