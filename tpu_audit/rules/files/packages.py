"""Dependencies wherever they are declared: commands that install, and keys of config files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tpu_audit.rules.files.document import Command, Entry, Key, Requirement, Word
from tpu_audit.rules.files.requirement_text import Parsed, normalise, parse, parse_conda

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tpu_audit.rules.hit import Span
    from tpu_audit.rules.text import SourceText

_PIP = frozenset({"pip", "pip3", "pip2", "pipx"})
_CONDA = frozenset({"conda", "mamba", "micromamba"})
_ADDERS = frozenset({"uv", "poetry", "pdm", "pixi", "rye", "pipenv"})
_INSTALL = frozenset({"install", "add", "create", "sync", "download", "wheel"})
_WITH_VALUE = frozenset(
    [
        "-r",
        "--requirement",
        "-c",
        "--constraint",
        "-i",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "-t",
        "--target",
        "--channel",
        "--name",
        "-n",
        "--prefix",
        "-p",
        "--python",
        "--group",
        "-g",
        "--platform",
        "--python-version",
        "--abi",
        "--no-binary",
        "--only-binary",
        "--prefer-binary",
        "--index-strategy",
        "--file",
        "--override-channels",
        "--timeout",
        "--retries",
        "--trusted-host",
        "--root",
        "--cache-dir",
        "--config-settings",
    ]
) - {"--prefer-binary", "--override-channels"}
_LISTS = frozenset({"dependencies", "requires", "extra-dependencies", "constraint-dependencies"})
_GROUPS = frozenset({"optional-dependencies", "dependency-groups", "dev-dependencies"})


def command_requirements(
    source: SourceText, commands: Iterable[Command]
) -> tuple[Requirement, ...]:
    """Return what ``pip install`` and its like bring."""
    found = []
    for command in commands:
        tail, manager = _installed(command)
        found += [made for word in tail if (made := _of_word(source, word, manager))]
    return tuple(found)


def _installed(command: Command) -> tuple[list[Word], str]:
    """Return the words that name packages, and the manager; none for other commands."""
    words = list(command.words)
    if command.name.startswith("python") and [w.text for w in words[1:3]] == ["-m", "pip"]:
        words = words[2:]
    name = words[0].text.rpartition("/")[2] if words else ""
    manager = "conda" if name in _CONDA or name == "pixi" else "pip"
    if name not in _PIP | _CONDA | _ADDERS and not name.startswith(("pip3.", "pip2.")):
        return [], manager
    verbs = [place for place, word in enumerate(words[:4]) if word.text in _INSTALL]
    return _positional(words[verbs[0] + 1 :], manager) if verbs else [], manager


def _positional(words: list[Word], manager: str) -> list[Word]:
    """Return the words that are not options or their values."""
    found, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word.text.startswith("-"):
            # pip's -c takes a file, conda's a channel; -p and -n name environments in conda only
            skip = word.text in _WITH_VALUE and (
                manager == "conda" or word.text not in {"-p", "-n"}
            )
            skip = skip or word.text == "-e"
        else:
            found.append(word)
    return found


def _of_word(source: SourceText, word: Word, manager: str) -> Requirement | None:
    text = word.text
    local = text.startswith((".", "/", "$", "~")) or text.endswith((".txt", ".yml", ".yaml"))
    parsed = None if local else (parse_conda if manager == "conda" else parse)(text)
    return requirement(parsed, unquoted(source, word.span), manager=manager) if parsed else None


def requirement(
    parsed: Parsed, span: Span, *, manager: str = "pip", locked: bool = False
) -> Requirement:
    """Return the requirement that stands at ``span``."""
    return Requirement(
        name=parsed.name,
        specifier=parsed.specifier,
        url=parsed.url,
        span=span,
        manager=manager,
        locked=locked,
    )


def entry_requirements(
    source: SourceText, entries: tuple[Entry, ...], flavours: frozenset[str]
) -> tuple[Requirement, ...]:
    """Return what a config file asks for, by its flavour: conda environment, pyproject, lock."""
    found: Iterator[Requirement | None]
    if "lock" in flavours:
        found = _locked(entries)
    elif "conda" in flavours:
        found = (_conda_item(entry) for entry in entries)
    elif "pyproject" in flavours:
        found = (_project_item(entry) for entry in entries)
    else:
        return ()
    return tuple(replace(item, span=unquoted(source, item.span)) for item in found if item)


def unquoted(source: SourceText, span: Span) -> Span:
    """Return the place inside the quotes of a value or a word; the same place without quotes."""
    text = source.slice(span)
    if len(text) < len('""') or text[0] not in "\"'" or text[-1] != text[0]:
        return span
    return replace(span, column=span.column + 1, end_column=span.end_column - 1)


def _conda_item(entry: Entry) -> Requirement | None:
    keys = entry.keys
    if "dependencies" not in keys or not isinstance(entry.value, str) or not _in_list(keys):
        return None
    manager = "pip" if "pip" in keys else "conda"
    parsed = parse(entry.value) if manager == "pip" else parse_conda(entry.value)
    return requirement(parsed, entry.span, manager=manager) if parsed else None


def _in_list(keys: tuple[Key, ...]) -> bool:
    return isinstance(keys[-1], int)


def _project_item(entry: Entry) -> Requirement | None:
    """Read PEP 621 and PEP 735 lists, and the tables of poetry, pdm, hatch and Pipfile."""
    keys, value = entry.keys, entry.value
    if not isinstance(value, str):
        return None
    names = [key for key in keys if isinstance(key, str)]
    if _in_list(keys):
        parsed = parse(value) if set(names[-2:]) & _GROUPS or names[-1] in _LISTS else None
        return requirement(parsed, entry.span) if parsed else None
    tables = {"dependencies", "dev-dependencies", "packages", "dev-packages"}
    inside = [place for place, name in enumerate(names) if name in tables]
    if not inside or names[0] == "project" or not entry.key_span:
        return None
    tail = names[inside[0] + 1 :]
    if len(tail) == 1 or tail[1:] == ["version"]:
        version = "" if value.strip() == "*" else value.strip()
        parsed = Parsed(name=normalise(tail[0]), specifier=version)
        return requirement(parsed, entry.span if tail[1:] else entry.key_span)
    if tail[1:] in (["git"], ["url"]):
        parsed = Parsed(name=normalise(tail[0]), url=value)
        return requirement(parsed, entry.span)
    return None


def _locked(entries: tuple[Entry, ...]) -> Iterator[Requirement]:
    """Read ``[[package]]`` tables, Pipfile.lock's and pixi's mappings."""
    versions = {entry.keys[:-1]: entry for entry in entries if entry.key == "version"}
    for entry in entries:
        keys, value = entry.keys, entry.value
        table = keys[:-2]
        if entry.key == "name" and table in {("package",), ("packages",)}:
            version = versions.get(keys[:-1])
            text = f"=={version.value}" if version else ""
            parsed = Parsed(name=normalise(str(value)), specifier=text)
            yield requirement(parsed, entry.span, locked=True)
        elif entry.key == "version" and keys[:1] in {("default",), ("develop",)}:
            parsed = Parsed(name=normalise(str(keys[-2])), specifier=str(value))
            yield requirement(parsed, entry.span, locked=True)
        elif entry.key in {"conda", "pypi"} and isinstance(value, str):
            parsed = Parsed(name=_archive_name(value), url=value)
            yield requirement(parsed, entry.span, manager=str(entry.key), locked=True)


def _archive_name(url: str) -> str:
    """Return the package of ``.../linux-64/cuda-cudart-12.4.127-h99ab3db_0.conda``."""
    file = url.rpartition("/")[2]
    return normalise(
        file.rsplit("-", 2)[0] if file.endswith((".conda", ".bz2")) else file.split("-")[0]
    )
