"""Fresh answers, offline work, and a hub that cannot be reached."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from huggingface_hub import constants

from tests.support.configs import BERT, Options, Refused
from tests.support.fakehub import FakeHub
from tests.support.fakehub_wire import Fault
from tpu_audit.sources import records, remote
from tpu_audit.sources.resolve import resolve
from tpu_audit.types.errors import ExitCode, NotAuditedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tpu_audit.types.model import ModelSpec

NAME = "org/name"
WIDE = BERT.replace("768", "1024")


def put_in_client_cache(repo_id: str, config: str, commit: str, *, age_s: float = 0) -> None:
    """Write a snapshot as huggingface_hub lays it out."""
    root = Path(constants.HF_HUB_CACHE) / f"models--{repo_id.replace('/', '--')}"
    folder = root / "snapshots" / commit
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(config)
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text(commit)
    when = time.time() - age_s
    os.utime(root / "refs" / "main", (when, when))


def test_fresh_answer_asks_nobody(hub: FakeHub, options: Options) -> None:
    """Within an hour the same id is answered from the record, equal in every field."""
    hub.add(NAME, {"config.json": BERT, "modeling_x.py": ""})
    first = resolve(NAME, options())
    hub.requests.clear()
    assert resolve(NAME, options()) == first
    assert hub.requests == []
    assert first.config_source == f"hub@{hub.commit(NAME)}"


def test_stale_answer_is_asked_again(hub: FakeHub, options: Options) -> None:
    """After ``fresh_for_s`` the hub is asked, and a moved branch is seen."""
    hub.add(NAME, {"config.json": BERT})
    resolve(NAME, options())
    hub.add(NAME, {"config.json": WIDE})
    assert resolve(NAME, options()).config["hidden_size"] == 768
    assert resolve(NAME, options(fresh_for_s=0)).config["hidden_size"] == 1024


def test_refresh_asks_again(hub: FakeHub, options: Options) -> None:
    """``refresh`` overrides freshness."""
    hub.add(NAME, {"config.json": BERT})
    resolve(NAME, options())
    hub.add(NAME, {"config.json": WIDE})
    assert resolve(NAME, options(refresh=True)).config["hidden_size"] == 1024


def test_commit_is_fresh_for_ever(hub: FakeHub, options: Options) -> None:
    """A full commit cannot move: it is asked for once."""
    hub.add(NAME, {"config.json": BERT})
    target = f"{NAME}@{hub.commit(NAME)}"
    resolve(target, options())
    hub.requests.clear()
    assert resolve(target, options(fresh_for_s=0)).config_source.startswith("hub@")
    assert hub.requests == []


def test_records_do_not_mix(
    hub: FakeHub, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another revision, and another endpoint, are other questions."""
    hub.add(NAME, {"config.json": BERT})
    hub.add(f"{NAME}@v2", {"config.json": WIDE})
    resolve(NAME, options())
    assert resolve(f"{NAME}@v2", options()).config["hidden_size"] == 1024
    monkeypatch.setenv("HF_ENDPOINT", hub.url.replace("127.0.0.1", "localhost"))
    hub.requests.clear()
    resolve(NAME, options())
    assert hub.requests


def test_record_of_a_cleaned_cache_is_not_used(hub: FakeHub, options: Options) -> None:
    """If the fetched code files are gone, the record that points at them is not an answer."""
    hub.add(NAME, {"config.json": BERT, "modeling_x.py": "x"})
    spec = resolve(NAME, options())
    Path(spec.code_files["modeling_x.py"]).unlink()
    assert Path(resolve(NAME, options()).code_files["modeling_x.py"]).read_text() == "x"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', '{"format": 99}', "\x00"])
def test_broken_records_cost_only_time(hub: FakeHub, options: Options, content: str) -> None:
    """A record that was cut or is of another version is asked for anew."""
    hub.add(NAME, {"config.json": BERT})
    first = resolve(NAME, options())
    for path in (options().cache_dir / "resolutions").iterdir():
        path.write_text(content)
    assert resolve(NAME, options()) == first


def test_record_with_a_wrong_field(hub: FakeHub, options: Options) -> None:
    """A record whose content has the wrong types is asked for anew."""
    hub.add(NAME, {"config.json": BERT})
    first = resolve(NAME, options())
    for path in (options().cache_dir / "resolutions").iterdir():
        path.write_text(path.read_text().replace('"files": ["config.json"]', '"files": 3'))
    assert resolve(NAME, options()) == first


def test_infinity_survives_the_record(hub: FakeHub, options: Options) -> None:
    """A kept answer holds the very numbers of the fetched one."""
    hub.add(NAME, {"config.json": '{"model_type": "x", "limit": -Infinity}'})
    resolve(NAME, options())
    assert resolve(NAME, options()).config["limit"] == float("-inf")


def test_unwritable_cache_does_not_stop(hub: FakeHub, options: Options, tmp_path: Path) -> None:
    """Where no record can be kept the answer is given all the same."""
    hub.add(NAME, {"config.json": BERT})
    (tmp_path / "cache").touch()
    assert resolve(NAME, options()).architecture == "BertForMaskedLM"


def test_nothing_is_left_half_written(hub: FakeHub, options: Options) -> None:
    """Records are moved into place: no temporary files stay behind."""
    hub.add(NAME, {"config.json": BERT})
    resolve(NAME, options())
    names = [path.suffix for path in (options().cache_dir / "resolutions").iterdir()]
    assert names == [".json"]


def by_flag(options: Options, monkeypatch: pytest.MonkeyPatch, target: str) -> ModelSpec:
    """Go offline by option."""
    del monkeypatch
    return resolve(target, options(offline=True))


def by_environment(options: Options, monkeypatch: pytest.MonkeyPatch, target: str) -> ModelSpec:
    """Go offline as Hugging Face's own tools do."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return resolve(target, options())


@pytest.mark.parametrize("go_offline", [by_flag, by_environment])
def test_offline(
    hub: FakeHub,
    options: Options,
    monkeypatch: pytest.MonkeyPatch,
    go_offline: Callable[[Options, pytest.MonkeyPatch, str], ModelSpec],
) -> None:
    """Offline a known id is answered from what is cached, and says so, without one request."""
    hub.add(NAME, {"config.json": BERT})
    commit = resolve(NAME, options()).revision
    hub.requests.clear()
    spec = go_offline(options, monkeypatch, NAME)
    assert spec.config_source == f"cache@{commit}"
    assert spec.notes[0].startswith("offline: ")
    assert hub.requests == []


def test_offline_and_unknown(refused: Refused) -> None:
    """Offline, an id nobody knows is an outcome that says what to do."""
    error = refused("org/unknown", offline=True)
    assert isinstance(error, NotAuditedError)
    assert (error.code, error.exit_code) == ("offline_not_cached", ExitCode.INCOMPLETE)
    assert "--offline" in (error.hint or "")


def test_client_cache_answers_offline(options: Options) -> None:
    """What another tool cached is found under refs and snapshots."""
    put_in_client_cache(NAME, WIDE, "c" * 40)
    spec = resolve(NAME, options(offline=True))
    assert spec.config_source == "cache@" + "c" * 40
    assert (spec.id, spec.revision) == (NAME, "c" * 40)
    assert spec.config["hidden_size"] == 1024
    by_commit = resolve(f"{NAME}@{'c' * 40}", options(offline=True))
    assert by_commit.config == spec.config


def test_cache_beats_the_catalogue_under_any_name(options: Options) -> None:
    """A model cached under its legacy or its present name is found by either."""
    put_in_client_cache("bert-base-uncased", WIDE, "d" * 40)
    spec = resolve("google-bert/bert-base-uncased", options(offline=True))
    assert spec.config_source == "cache@" + "d" * 40
    assert spec.config["hidden_size"] == 1024


def test_client_cache_answers_without_a_ref(options: Options) -> None:
    """Files fetched by commit leave no ref: the newest snapshot is the default branch's."""
    put_in_client_cache(NAME, WIDE, "e" * 40)
    (Path(constants.HF_HUB_CACHE) / f"models--{NAME.replace('/', '--')}/refs/main").unlink()
    assert resolve(NAME, options(offline=True)).config_source == "cache@" + "e" * 40
    with pytest.raises(NotAuditedError):
        resolve(f"{NAME}@v2", options(offline=True))


def test_newer_of_record_and_client_cache_answers(hub: FakeHub, options: Options) -> None:
    """Between our record and the client's cache, the later knowledge of the branch wins."""
    hub.add(NAME, {"config.json": BERT})
    resolve(NAME, options())
    put = Path(constants.HF_HUB_CACHE) / "models--org--name"
    (put / "refs").mkdir(exist_ok=True)
    folder = put / "snapshots" / ("e" * 40)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(WIDE)
    ref = put / "refs" / "main"
    ref.write_text("e" * 40)
    os.utime(ref, (1, 1))
    assert resolve(NAME, options(offline=True)).config["hidden_size"] == 768
    os.utime(ref, None)
    later = time.time() + 5
    os.utime(ref, (later, later))
    assert resolve(NAME, options(offline=True)).config["hidden_size"] == 1024


def test_stopped_hub(hub: FakeHub, options: Options) -> None:
    """When the hub goes away a stale answer is used, quickly, and marked as cached."""
    hub.add(NAME, {"config.json": BERT})
    commit = resolve(NAME, options()).revision
    hub.stop()
    begun = time.monotonic()
    spec = resolve(NAME, options(fresh_for_s=0))
    assert time.monotonic() - begun < 2
    assert spec.config_source == f"cache@{commit}"
    assert "the hub did not answer" in spec.notes[0]


def test_stopped_hub_and_the_catalogue(hub: FakeHub, options: Options, refused: Refused) -> None:
    """With no hub and nothing cached the catalogue answers its own, and only its own."""
    hub.stop()
    spec = resolve("bert-base-uncased", options())
    assert spec.config_source == "catalogue"
    assert "the hub did not answer" in spec.notes[0]
    error = refused("org/unknown")
    assert isinstance(error, NotAuditedError)
    assert error.code == "network"
    assert hub.url in error.message


def test_hub_is_seen_again_at_once(hub: FakeHub, options: Options, tmp_path: Path) -> None:
    """A quick refusal is not remembered: the next call after the hub is back gets the hub."""
    url = hub.url
    hub.stop()
    assert resolve("gpt2", options()).config_source == "catalogue"
    again = FakeHub(tmp_path / "served", port=int(url.rsplit(":", 1)[1]))
    with again:
        again.add("openai-community/gpt2", {"config.json": BERT})
        again.renamed["gpt2"] = "openai-community/gpt2"
        assert resolve("gpt2", options()).config_source.startswith("hub@")


def test_slow_outage_is_remembered_for_a_minute(
    hub: FakeHub, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When finding out took long, the next minute does not pay again; ``refresh`` does."""
    asked: list[str] = []

    def slow(endpoint: str) -> str:
        asked.append(endpoint)
        time.sleep(records.OUTAGE_WORTH_S + 0.1)
        return "no connection in time"

    monkeypatch.setattr(remote, "why_unreachable", slow)
    assert resolve("gpt2", options()).config_source == "catalogue"
    spec = resolve("bert-base-uncased", options())
    assert spec.config_source == "catalogue"
    assert "not asked again" in spec.notes[0]
    assert asked == [hub.url]
    resolve("gpt2", options(refresh=True))
    assert asked == [hub.url] * 2
    now = time.time()
    monkeypatch.setattr("tpu_audit.sources.records.time.time", lambda: now + records.OUTAGE_S + 1)
    resolve("gpt2", options())
    assert asked == [hub.url] * 3


@pytest.mark.parametrize(("status", "code"), [(429, "rate_limited"), (503, "network")])
def test_hub_that_keeps_refusing(
    hub: FakeHub,
    options: Options,
    refused: Refused,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    code: str,
) -> None:
    """After its retries a limiting or failing hub counts as absent: cache, catalogue, outcome."""
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    hub.add(NAME, {"config.json": BERT})
    resolve(NAME, options())
    hub.faults.append(Fault(match="/api/models/", times=99, status=status))
    assert resolve(NAME, options(fresh_for_s=0)).config_source.startswith("cache@")
    assert resolve("gpt2", options()).config_source == "catalogue"
    error = refused("org/unknown")
    assert isinstance(error, NotAuditedError)
    assert error.code == code
    assert str(status) in error.message


def test_silent_hub(hub: FakeHub, options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub that accepts and then says nothing costs one timeout, then the catalogue answers."""
    monkeypatch.setattr("tpu_audit.sources.hub._TIMEOUT_S", 0.3)
    hub.faults.append(Fault(match="/api/models/", times=9, delay_s=2))
    begun = time.monotonic()
    assert resolve("gpt2", options()).config_source == "catalogue"
    assert time.monotonic() - begun < 1.5


def test_portal_that_is_no_hub(hub: FakeHub, options: Options) -> None:
    """A login page in place of the hub is not taken for an answer."""
    hub.faults.append(Fault(match="/api/models/", status=200))
    spec = resolve("gpt2", options())
    assert spec.config_source == "catalogue"
    assert "does not answer like a hub" in spec.notes[0]


def test_bad_endpoint(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    """An HF_ENDPOINT that is no URL is said, and the catalogue still answers."""
    monkeypatch.setenv("HF_ENDPOINT", "huggingface.co")
    spec = resolve("gpt2", options())
    assert spec.config_source == "catalogue"
    assert "HF_ENDPOINT is not a URL" in spec.notes[0]
