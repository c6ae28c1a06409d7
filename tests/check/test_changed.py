"""Lines changed since a git revision."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.trees import HIT, tree
from tpu_audit.check import run
from tpu_audit.check.changed import changes_since
from tpu_audit.check.options import CheckOptions
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

MORE = "\n" * 20 + "y = x.cuda()\n"


def git(folder: Path, *arguments: str) -> None:
    """Run git with an identity of its own."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)  # noqa: S607 - git of the PATH


@pytest.fixture(name="repo")
def _repo(tmp_path: Path) -> Path:
    """Make a repository with four committed files, three of them changed, and one untracked."""
    folder = tree(tmp_path / "repo", {"a.py": HIT, "b.py": HIT, 'odd "é name.py': HIT, "c.py": HIT})
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")
    return tree(
        folder, {"a.py": HIT + MORE, 'odd "é name.py': HIT + MORE, "new.py": HIT, "c.py": ""}
    )


def test_findings_on_changed_lines(repo: Path) -> None:
    """Only what lies on changed lines is reported; a new file counts whole."""
    report = run.check([str(repo)], options=CheckOptions(diff_base="HEAD"))
    places = {(str(f.location.path).rpartition("/")[2], f.location.line) for f in report.findings}

    assert places == {("a.py", 23), ('odd "é name.py', 23), ("new.py", 2)}
    assert report.files == {"python": 4}


def test_ranges(repo: Path) -> None:
    """Added lines are ranges; text that looks like a header is text."""
    tree(repo, {"b.py": "+++ x\n@@ -1 +9 @@\n" + HIT})
    changes = changes_since("HEAD", [repo])

    assert changes.files[str(repo / "b.py")] == ((1, 2),)
    assert changes.files[str(repo / "new.py")] is None
    assert changes.files[str(repo / "c.py")] == ()
    assert changes.includes(str(repo / "a.py"), 20, 40)
    assert not changes.includes(str(repo / "a.py"), 1, 2)


@pytest.mark.parametrize("base", ["no-such-branch", "--output=x", ""])
def test_bad_base(repo: Path, base: str) -> None:
    """A revision that does not exist is refused; it is never taken for an option of git."""
    with pytest.raises(UsageError, match="--diff"):
        changes_since(base, [repo])
    assert not (repo / "x").exists()


def test_no_repository(tmp_path: Path) -> None:
    """Outside a repository the error is git's own."""
    with pytest.raises(UsageError, match="not a git repository"):
        changes_since("HEAD", [tmp_path])
