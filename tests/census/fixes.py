"""Repairs of whole source trees: copies are repaired, and must be as good as before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.census.fix_checks import lost, torn
from tests.census.fixes_report import report
from tpu_audit.check.classify import kind_of_content, kind_of_name
from tpu_audit.check.file_check import findings_of
from tpu_audit.check.selection import all_rules
from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.files.decoding import decode
from tpu_audit.rules.text import SourceText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ROOT = Path(__file__).parents[2]
_NAMES = "F404,F811,F821,F822,F823"
"""Ruff's rules on names: late future imports, names bound again, undefined names."""
_UNUSED = "F401"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Something that a repair has spoilt."""

    check: str
    path: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Repaired:
    """What came of one tree."""

    name: str
    unsafe: bool
    files: int
    """Files of the tree."""
    changed: int
    applied: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    faults: tuple[Fault, ...] = ()


def repair_trees(
    folder: Path, out: Path, tell: Callable[[str], None], *, keep: Path | None = None
) -> bool:
    """Repair copies of the trees in ``folder``, write the report into ``out``; whether all is well.

    The repaired trees stay in ``keep`` where that is given.
    """
    done = []
    with tempfile.TemporaryDirectory() as temporary:
        for tree in sorted(path for path in folder.iterdir() if path.is_dir()):
            for unsafe in (False, True):
                into = (keep or Path(temporary)) / ("unsafe" if unsafe else "safe") / tree.name
                one = repair_tree(tree, into, unsafe=unsafe)
                tell(f"{one.name}: {one.changed} files, {len(one.faults)} faults")
                for fault in one.faults:
                    tell(f"  {fault.check}: {fault.path}: {fault.text}")
                done.append(one)
                if keep is None:
                    shutil.rmtree(into)
    (out / "check_fixes.md").write_text(report(done), encoding="utf-8")
    return not any(one.faults for one in done)


def repair_tree(tree: Path, into: Path, *, unsafe: bool) -> Repaired:
    """Copy ``tree`` to ``into``, which must not exist, repair the copy and judge it."""
    shutil.copytree(tree, into, symlinks=True)
    first = _fix(into, unsafe=unsafe)
    paths = sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink())
    places = [path.relative_to(tree) for path in paths]
    changed = [p for p in places if (tree / p).read_bytes() != (into / p).read_bytes()]
    faults = [fault for place in changed for fault in _judged(place, tree, into)]
    faults += _listed("compileall", _uncompiled(tree), _uncompiled(into))
    faults += _listed("names", _ruff(tree, _NAMES), _ruff(into, _NAMES))
    faults += _listed("unused imports", _ruff(tree, _UNUSED), _ruff(into, _UNUSED))
    faults += [fault for place in changed for fault in _torn(place, tree, unsafe=unsafe)]
    again = _fix(into, unsafe=unsafe)
    faults += [
        Fault(check="second run", path=one["path"], text=f"{one['applied']}")
        for one in again["files"]
        if one["applied"]
    ]
    return Repaired(
        name=_named(tree),
        unsafe=unsafe,
        files=len(places),
        changed=len(changed),
        applied=sum((Counter(one["applied"]) for one in first["files"]), Counter[str]()),
        refused=sum((Counter(one["refused"]) for one in first["files"]), Counter[str]()),
        faults=tuple(faults),
    )


def _named(tree: Path) -> str:
    """Return the name of a tree, with the version where it is a package as pip unpacks it."""
    about = sorted(tree.glob(f"{tree.name.replace('-', '_')}-*.dist-info"))
    version = about[0].name.removesuffix(".dist-info").rpartition("-")[2] if about else ""
    return f"{tree.name} {version}".rstrip()


def _fix(folder: Path, *, unsafe: bool) -> Any:
    """Run the command in a process of its own and return what it says as JSON."""
    command = [sys.executable, "-m", "tpu_audit", "fix", "--write", "-f", "json", "."]
    if unsafe:
        command.append("--unsafe-fixes")
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def _judged(place: Path, tree: Path, into: Path) -> Iterator[Fault]:
    for check, text in lost(place, (tree / place).read_bytes(), (into / place).read_bytes()):
        yield Fault(check=check, path=place.as_posix(), text=text)


def _torn(place: Path, tree: Path, *, unsafe: bool) -> Iterator[Fault]:
    """Look at each repair of a Python file alone, as the first pass meets it."""
    data = (tree / place).read_bytes()
    kind = kind_of_content(place.name, kind_of_name(place.name), data)
    if kind != "python":
        return
    levels = {Applicability.SAFE} | ({Applicability.UNSAFE} if unsafe else set())
    text = decode(data, python=True).text
    for offer in findings_of(kind, place.as_posix(), SourceText(text), all_rules()).repairs:
        if offer.fix.applicability not in levels:
            continue
        try:
            parts = list(torn(text, offer.fix.edits))
        except SyntaxError as error:
            parts = [f"breaks the file: {error}"]
        for part in parts:
            yield Fault(check="expressions", path=place.as_posix(), text=f"{offer.code}: {part}")


def _listed(
    check: str, before: Counter[tuple[str, str]], after: Counter[tuple[str, str]]
) -> list[Fault]:
    """Return what is there after a repair and was not before, as faults."""
    came = (after - before).elements()
    return [Fault(check=check, path=path, text=text) for path, text in sorted(came)]


def _uncompiled(folder: Path) -> Counter[tuple[str, str]]:
    """Return the files that ``python -m compileall`` does not compile."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-m", "compileall", "-q", "."],
            cwd=folder,
            env={**os.environ, "PYTHONPYCACHEPREFIX": cache},
            capture_output=True,
            text=True,
            check=False,
        )
    failed = [line for line in done.stdout.splitlines() if line.startswith("*** ")]
    if bool(failed) != bool(done.returncode):
        failed.append(f"exit code {done.returncode}")
    return Counter((line, "does not compile") for line in failed)


def _ruff(folder: Path, rules: str) -> Counter[tuple[str, str]]:
    """Return what ruff finds by ``rules``, without places: lines move."""
    options = ["--isolated", "--no-cache", "--ignore-noqa", "--exit-zero", "--output-format=json"]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *options, f"--select={rules}", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return Counter(
        (Path(one["filename"]).relative_to(folder.resolve()).as_posix(), one["message"])
        for one in json.loads(done.stdout)
    )
