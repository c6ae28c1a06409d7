"""A repository's own code: what is run, what it is told, and how it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tpu_audit.trace import repository
from tpu_audit.trace.repository import repository_class
from tpu_audit.types.errors import NotAuditedError, Stage
from tpu_audit.types.model import ModelSpec, runs_own_code

if TYPE_CHECKING:
    from pathlib import Path

AUTO = {"AutoModel": "m.Base", "AutoModelForCausalLM": "m.Head", "AutoConfig": "c.Config"}


def spec(folder: Path, code: dict[str, str], auto: dict[str, str], **config: object) -> ModelSpec:
    """Write ``code`` where a worker would, and return the spec of its repository."""
    # One package name a test: modules stay imported.
    home = folder / f"modules_{folder.name}" / "repository"
    for name, text in code.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ModelSpec(
        target="x",
        id="x",
        revision=None,
        config_source="local",
        config={"auto_map": auto, **config},
        code_files={name: str(home / name) for name in code},
    )


@pytest.fixture(name="trusted")
def _trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the code of these tests run here: it is known to be harmless."""
    monkeypatch.setattr(repository, "is_confined", lambda: True)


def failing(one: ModelSpec) -> NotAuditedError:
    """Return the error that loading ends in."""
    with pytest.raises(NotAuditedError) as caught:
        repository_class(one, [])
    assert caught.value.stage is Stage.BUILD
    return caught.value


def test_never_in_a_process_that_is_not_confined(tmp_path: Path) -> None:
    """Whoever asks: without confinement the code is not even imported."""
    ran = tmp_path / "ran"
    one = spec(tmp_path, {"m.py": f"open({str(ran)!r}, 'w')\n"}, {"AutoModel": "m.Base"})

    assert failing(one).code == "no_confinement"
    assert not ran.exists()


@pytest.mark.usefixtures("trusted")
def test_the_class_and_its_config(tmp_path: Path) -> None:
    """The class of ``architectures`` is taken, with the config class; relative imports work."""
    code = {"c.py": "class Config: pass\n", "m.py": "from .c import Config\nclass Base: pass\n"}
    said: list[str] = []
    own = repository_class(spec(tmp_path, code, AUTO, architectures=["Base"]), said)

    assert (own.model.__name__, own.config.__name__) == ("Base", "Config")
    assert "ran the repository's own code" in said[0]
    assert "Base of m.py (sha256 " in said[0]


@pytest.mark.usefixtures("trusted")
def test_the_class_with_a_head_comes_first(tmp_path: Path) -> None:
    """Without ``architectures`` the class with a head goes before the base."""
    auto = {name: entry for name, entry in AUTO.items() if name != "AutoConfig"}
    code = {"m.py": "class Base: pass\nclass Head: pass\n"}
    own = repository_class(spec(tmp_path, code, auto), [])

    assert (own.model.__name__, own.config) == ("Head", None)


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("code", "entry", "slug", "says"),
    [
        ({"m.py": "import no_such_package\n"}, "m.Base", "missing_dependency", "no_such_package"),
        ({"m.py": "import torch.gone.x\n"}, "m.Base", "code_failed", "needs torch.gone, which the"),
        ({"m.py": "1 / 0\n"}, "m.Base", "code_failed", "ZeroDivisionError"),
        ({"m.py": "class ("}, "m.Base", "code_failed", "SyntaxError"),
        ({"m.py": "x = 1\n"}, "m.Base", "code_failed", "Base"),
        ({"m.py": "from torch import gone\n"}, "m.Base", "code_failed", "gone"),
        ({"other.py": ""}, "m.Base", "no_code", "m.py"),
        ({}, "m.Base", "no_code", "m.py"),
        ({"m.py": ""}, "org/other--m.Base", "remote_code_elsewhere", "org/other"),
    ],
)
def test_how_it_fails(
    tmp_path: Path, code: dict[str, str], entry: str, slug: str, says: str
) -> None:
    """Each way has its own code, and the message names what is wrong."""
    error = failing(spec(tmp_path, code, {"AutoModel": entry}))

    assert error.code == slug
    assert says in error.message
    assert "\n" not in error.message


@pytest.mark.parametrize(
    ("auto", "runs"),
    [
        ({"AutoModel": "m.Base"}, True),
        ({"AutoConfig": "m.Config", "AutoTokenizer": ["t.T", None]}, False),
        ({}, False),
    ],
)
def test_only_models_of_its_own_are_code_to_run(
    tmp_path: Path, auto: dict[str, str], runs: bool
) -> None:
    """A repository that maps a tokenizer alone is built as if it mapped nothing."""
    assert runs_own_code(spec(tmp_path, {}, auto)) is runs
