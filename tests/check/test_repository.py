"""Files of a repository under their names there."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tpu_audit.check.repository import check_repository
from tpu_audit.types.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

CUDA = "import torch\nx = torch.ones(1).cuda()\n"


def test_names_decide_not_places(tmp_path: Path) -> None:
    """A blob without a suffix is Python by its name; a test by its folder in the repository."""
    blob = tmp_path / "3f2a"
    blob.write_text(CUDA)
    names = ("tests/test_x.py", "modeling_x.py", "weights.bin")
    found = check_repository(dict.fromkeys(names, str(blob)))
    assert [(name, item.severity, item.line) for name, item in found.items] == [
        ("modeling_x.py", "error", 2),
        ("tests/test_x.py", "info", 2),
    ]
    assert dict(found.kinds) == {"python": 2}


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """Records instead of counts: a missing file, a folder, no Python."""
    (tmp_path / "old.py").write_text("print 'x'.cuda()\n")
    places = {"gone.py": tmp_path / "gone.py", "dir.py": tmp_path, "old.py": tmp_path / "old.py"}
    found = check_repository({name: str(path) for name, path in places.items()})
    assert [(row.path, row.line) for row in found.unread] == [
        ("dir.py", None),
        ("gone.py", None),
        ("old.py", 1),
    ]
    assert found.items == []


def test_comments_are_heard_and_not_judged(tmp_path: Path) -> None:
    """A comment silences; one that silences nothing is its author's business."""
    path = tmp_path / "x.py"
    path.write_text(
        f"{CUDA.rstrip()}  # tpu-audit: ignore[TPA103] why\ny = 1  # tpu-audit: ignore\n"
    )
    found = check_repository({"x.py": str(path)})
    assert (found.items, found.suppressed) == ([], 1)


def test_rules_left_out(tmp_path: Path) -> None:
    """Ignored rules do not run, whatever is remembered of a check with them."""
    path = tmp_path / "x.py"
    path.write_text(CUDA)
    files, cache = {"x.py": str(path)}, tmp_path / "cache"
    assert check_repository(files, cache_dir=cache).items
    assert check_repository(files, cache_dir=cache, ignore=("cuda-method",)).items == []
    assert check_repository(files, cache_dir=cache).items
    with pytest.raises(UsageError, match="nothing-like-this"):
        check_repository(files, ignore=("nothing-like-this",))


_LIGHT = """
import sys
from pathlib import Path
from tpu_audit.check.repository import check_repository
found = check_repository({"x.py": sys.argv[1]}, cache_dir=Path(sys.argv[2]))
print(len(found.items), any(name.startswith("tpu_audit.rules.devices") for name in sys.modules))
"""


def test_what_is_known_needs_no_rules(tmp_path: Path) -> None:
    """The second check of the same content imports no rule."""
    (tmp_path / "x.py").write_text(CUDA)
    arguments = [sys.executable, "-c", _LIGHT, str(tmp_path / "x.py"), str(tmp_path / "cache")]
    runs = [subprocess.run(arguments, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [run.stdout.split() for run in runs] == [["1", "True"], ["1", "False"]]


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """The check works, and a note says that nothing is kept."""
    (tmp_path / "x.py").write_text(CUDA)
    (tmp_path / "blocked").write_text("")
    found = check_repository({"x.py": str(tmp_path / "x.py")}, cache_dir=tmp_path / "blocked")
    assert len(found.items) == 1
    assert "results are not kept" in found.notes[0]
