"""Which files are found, in which order, under which names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.trees import tree
from tpu_audit.check.discover import discover
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def shown(*paths: str, **options: object) -> list[str]:
    """Return how the files found are named."""
    return [source.shown for source in discover(paths, **options).sources]  # type: ignore[arg-type] # as given


@pytest.fixture(name="here")
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_order_and_names(here: Path) -> None:
    """Files of a folder by name, folders after them; only what may be read."""
    tree(
        here, {"b/x.py": "", "a.py": "", "b.yaml": "", "README.md": "", "b/a/y.sh": "", "z.py": ""}
    )

    assert shown(".") == ["a.py", "b.yaml", "z.py", "b/x.py", "b/a/y.sh"]
    assert shown("b", "a.py", ".") == ["b/x.py", "b/a/y.sh", "a.py", "b.yaml", "z.py"]


def test_outside_the_working_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files elsewhere keep their whole path; tests above what was asked for do not count."""
    tree(here, {"tests/lib/pkg/a.py": "", "work/x.py": ""})
    monkeypatch.chdir(here / "work")
    found = discover([str(here / "tests" / "lib" / "pkg")])

    assert [source.shown for source in found.sources] == [str(here / "tests/lib/pkg/a.py")]
    assert [source.logical for source in found.sources] == ["pkg/a.py"]


def test_paths_within(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns and the judgement of tests see the path from the working folder, not above it."""
    tree(here, {"tests/pkg/a.py": ""})
    for inside, asked in (("tests", "."), ("tests", "pkg"), ("tests/pkg", "a.py")):
        monkeypatch.chdir(here / inside)
        (source,) = discover([asked]).sources

        assert source.logical == source.shown


def test_left_out(here: Path) -> None:
    """Environments, builds and caches are left out, unless they are named themselves."""
    files = {".venv/a.py": "", "node_modules/a.py": "", "build/a.py": "", "x.egg-info/a.py": ""}
    tree(
        here, {**files, "my-env/pyvenv.cfg": "", "my-env/a.py": "", "build.py": "", ".ci/a.py": ""}
    )

    assert shown(".") == ["build.py", ".ci/a.py"]
    assert shown("build", ".venv/a.py") == ["build/a.py", ".venv/a.py"]
    assert shown(".", excludes=("*.ci", "b*.py")) == []


def test_gitignore(here: Path) -> None:
    """Ignore files of every level hold, the nearest last; a file that is named is read."""
    tree(
        here,
        {
            ".git/info/exclude": "secret.py\n",
            ".gitignore": "out/\n*.yaml\n!keep.yaml\n",
            "out/a.py": "",
            "a.yaml": "",
            "keep.yaml": "",
            "secret.py": "",
            "p/.gitignore": "!a.yaml\n/b.py\n",
            "p/a.yaml": "",
            "p/b.py": "",
            "p/q/b.py": "",
        },
    )

    assert shown(".") == ["keep.yaml", "p/a.yaml", "p/q/b.py"]
    assert shown("p") == ["p/a.yaml", "p/q/b.py"]
    assert shown("a.yaml") == ["a.yaml"]
    assert "out/a.py" in shown(".", respect_gitignore=False)


def test_links(here: Path) -> None:
    """A loop of links ends, a file is reported once and where it really is."""
    tree(here, {"real/a.py": "", "data/b.py": ""})
    (here / "again").symlink_to(here / "real")
    (here / "real" / "loop").symlink_to(here)
    (here / "copy.py").symlink_to(here / "data" / "b.py")
    (here / "gone.py").symlink_to(here / "nothing.py")

    assert shown(".") == ["data/b.py", "real/a.py"]
    assert shown("again") == ["again/a.py", "again/loop/data/b.py"]


def test_folder_that_cannot_be_listed(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name and the reason are kept; the rest is found."""
    tree(here, {"shut/a.py": "", "b.py": ""})
    import os

    listing = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = discover(["."])

    assert [source.shown for source in found.sources] == ["b.py"]
    (unread,) = found.unread
    assert (unread.path, unread.code) == ("shut", "permission")


def test_missing() -> None:
    """A path that does not exist is the caller's mistake."""
    with pytest.raises(UsageError, match="no such file or folder: 'absent'"):
        discover(["absent"])
