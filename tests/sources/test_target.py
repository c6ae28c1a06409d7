"""Paths, ids and revisions."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined] # lazy there

from tpu_audit.sources.target import HubTarget, LocalTarget, _valid_id, parse_target
from tpu_audit.types.errors import ExitCode, TargetNotFoundError, UsageError


@pytest.mark.parametrize(
    ("text", "repo_id", "revision"),
    [
        ("bert-base-uncased", "bert-base-uncased", None),
        ("google-bert/bert-base-uncased", "google-bert/bert-base-uncased", None),
        ("org/name@v1.0", "org/name", "v1.0"),
        ("org/name@refs/pr/3", "org/name", "refs/pr/3"),
        ("gpt2@" + "a" * 40, "gpt2", "a" * 40),
    ],
)
def test_hub_ids(text: str, repo_id: str, revision: str | None) -> None:
    """One- and two-part ids with branches, pull requests and commits are hub targets."""
    assert parse_target(text) == HubTarget(text=text, id=repo_id, revision=revision)


def test_equal_revisions_agree() -> None:
    """The option may repeat what the target says."""
    assert parse_target("a/b@v1", "v1") == HubTarget(text="a/b@v1", id="a/b", revision="v1")


@pytest.mark.parametrize(
    ("text", "revision", "words"),
    [
        ("a/b@v1", "v2", "two revisions"),
        ("", None, "not a model id"),
        ("  ", None, "not a model id"),
        ("a/b/c", None, "not a model id"),
        ("a/b c", None, "not a model id"),
        ("a--b", None, "not a model id"),
        ("org/-name", None, "not a model id"),
        ("org/" + "n" * 97, None, "not a model id"),
        ("n" * 5000, None, "not a model id"),
        ("org/name\x00", None, "not a model id"),
        ("org/name\n", None, "not a model id"),
        ("órg/name", None, "not a model id"),
        ("@v1", None, "not a model id"),
        ("a/b@", None, "not a revision"),
        ("a/b@../../x", None, "not a revision"),
        ("a/b@v 1", None, "not a revision"),
        ("a/b", "", "not a revision"),
        ("./\x00", None, "no"),
        ("./" + "n" * 5000, None, "not a usable path"),
    ],
)
def test_bad_syntax(text: str, revision: str | None, words: str) -> None:
    """Every malformed target is an input error that names the value and a way out."""
    with pytest.raises((UsageError, TargetNotFoundError)) as caught:
        parse_target(text, revision)
    assert words in caught.value.message
    assert caught.value.exit_code is ExitCode.USAGE


@pytest.mark.parametrize(
    "text",
    [
        "https://huggingface.co/google-bert/bert-base-uncased/tree/main",
        "hf://google-bert/bert-base-uncased",
    ],
)
def test_pasted_addresses_are_explained(text: str) -> None:
    """A pasted address is refused with the id that was meant."""
    with pytest.raises(UsageError) as caught:
        parse_target(text)
    assert caught.value.hint == "give the id alone: google-bert/bert-base-uncased"


def test_id_rule_is_the_client_s() -> None:
    """Ids are accepted exactly where huggingface_hub accepts them."""
    parts = [
        "a",
        "A.b",
        "a_b",
        "-a",
        "a-",
        ".a",
        "a.",
        "a--b",
        "a..b",
        "a.git",
        "é",
        "a b",
        "",
        "_",
    ]
    for repo_id in [*parts, *(f"{x}/{y}" for x in parts for y in parts)]:
        try:
            validate_repo_id(repo_id)
            accepted = True
        except HFValidationError:
            accepted = False
        assert _valid_id(repo_id) == accepted, repo_id


@pytest.mark.parametrize("text", ["./none", "/none/at/all", "~/none-such", "none.json", "../none"])
def test_missing_paths(text: str) -> None:
    """What looks like a path and does not exist is an input error, not a hub look-up."""
    with pytest.raises(TargetNotFoundError) as caught:
        parse_target(text)
    assert caught.value.code == "path_not_found"
    assert repr(text) in caught.value.message


def test_unknown_home_is_an_input_error() -> None:
    """``~nobody-here/x`` cannot be expanded: no traceback."""
    with pytest.raises(UsageError):
        parse_target("~nobody-here-at-all/x")


def test_folder_beats_id_only_when_it_is_a_model_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of the id's name wins when it holds a config, else it must be written ./name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").mkdir()
    assert isinstance(parse_target("gpt2"), HubTarget)
    assert parse_target("./gpt2") == LocalTarget(text="./gpt2", path=Path("gpt2"))
    (tmp_path / "gpt2" / "config.json").write_text("{}")
    assert parse_target("gpt2") == LocalTarget(text="gpt2", path=Path("gpt2"))


def test_empty_target_is_not_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty argument does not quietly audit the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError):
        parse_target("")


def test_paths_have_no_revision(tmp_path: Path) -> None:
    """A revision for a local folder is a mistake worth saying."""
    with pytest.raises(UsageError, match="no revisions"):
        parse_target(str(tmp_path), "main")


@pytest.mark.parametrize("scheme", ["hf-hub:", "hf_hub:"])
def test_ids_as_timm_writes_them(scheme: str) -> None:
    """The timm library's scheme names the same repository, with a revision or without."""
    plain = parse_target(f"{scheme}timm/resnet50.a1_in1k")
    assert isinstance(plain, HubTarget)
    assert (plain.id, plain.revision) == ("timm/resnet50.a1_in1k", None)
    pinned = parse_target(f"{scheme}timm/resnet50.a1_in1k@v2")
    assert isinstance(pinned, HubTarget)
    assert (pinned.id, pinned.revision) == ("timm/resnet50.a1_in1k", "v2")
    with pytest.raises(UsageError):
        parse_target(scheme)
