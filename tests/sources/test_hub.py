"""The hub answers: what is fetched, and what each answer means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from huggingface_hub.utils import _http

from tests.support.configs import BERT, Options, Refused
from tests.support.fakehub_wire import Fault
from tpu_audit.sources.resolve import resolve
from tpu_audit.types.errors import ExitCode, NotAuditedError, Stage

if TYPE_CHECKING:
    from tests.support.fakehub import FakeHub

NAME = "google-bert/bert-base-uncased"
FILES: dict[str, str | bytes] = {
    "config.json": BERT,
    "generation_config.json": '{"do_sample": false}',
    "preprocessor_config.json": '{"size": 224}',
    "modeling_x.py": "import nothing_of_the_kind",
    "model.safetensors.index.json": '{"metadata": {}}',
    "model.safetensors": b"\x00" * 4096,
    "pytorch_model.bin": b"\x80" * 4096,
    "tokenizer.json": "{}",
    "README.md": "# words",
}
ADAPTER = '{"base_model_name_or_path": "a/b"}'


class Clock:
    """Stands in for ``time`` in huggingface_hub's retries: waits are kept, not waited."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Keep the wait."""
        self.waits.append(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Take the waiting out of retries."""
    clock = Clock()
    monkeypatch.setattr(_http, "time", clock)
    return clock


def test_whole_answer(hub: FakeHub, options: Options) -> None:
    """The spec holds the configs, the commit, the names of all files and paths of the code."""
    hub.add(NAME, FILES)
    spec = resolve(NAME, options())
    commit = hub.commit(NAME)
    assert (spec.id, spec.revision, spec.config_source) == (NAME, commit, f"hub@{commit}")
    assert spec.config == json.loads(BERT)
    assert spec.generation_config == {"do_sample": False}
    assert spec.processor_configs == {"preprocessor_config.json": {"size": 224}}
    assert spec.files == tuple(sorted(FILES))
    assert Path(spec.code_files["modeling_x.py"]).read_text() == FILES["modeling_x.py"]
    assert list(spec.index_files) == ["model.safetensors.index.json"]
    assert (spec.redirected_from, spec.notes) == (None, ())


def test_only_small_files_are_asked_for(hub: FakeHub, options: Options) -> None:
    """No request of any method ever names weights, vocabularies or the README."""
    hub.add(NAME, FILES)
    resolve(NAME, options())
    asked = {request.path.rsplit("/", 1)[-1] for request in hub.requests}
    assert asked == {
        "bert-base-uncased",
        "config.json",
        "generation_config.json",
        "preprocessor_config.json",
        "modeling_x.py",
        "model.safetensors.index.json",
    }
    assert hub.fetched() == sorted(asked - {"bert-base-uncased"})


def test_large_files_are_left_by_the_listing(hub: FakeHub, options: Options) -> None:
    """Sizes come from the listing, so that a large script is not even begun."""
    hub.add(NAME, {"config.json": BERT, "data.py": "x" * 1_100_000})
    spec = resolve(NAME, options())
    assert hub.fetched() == ["config.json"]
    assert [note for note in spec.notes if "data.py was not read" in note]


def test_a_file_that_is_not_to_be_had_costs_no_audit(hub: FakeHub, options: Options) -> None:
    """Code that the hub lists and does not give is named with the reason; the rest is there."""
    hub.add(NAME, {**FILES, "requirements.txt": "torch", "gone.py": "x", "cut.py": "y"})
    hub.faults += [
        Fault(match="gone.py", times=9, status=404, headers={"X-Error-Code": "EntryNotFound"}),
        Fault(match="requirements.txt", times=9, status=403),
    ]
    spec = resolve(NAME, options())
    assert spec.unfetched == {
        "gone.py": "the hub answered 404",
        "requirements.txt": "the hub answered 403",
    }
    assert sorted(spec.code_files) == ["cut.py", "modeling_x.py"]
    assert spec.config == json.loads(BERT)


def test_what_is_missing_is_asked_for_again(hub: FakeHub, options: Options) -> None:
    """An answer that lacks a file is not kept: the next one may have it."""
    hub.add(NAME, FILES)
    hub.faults.append(Fault(match="modeling_x.py", times=1, status=403))
    assert list(resolve(NAME, options()).unfetched) == ["modeling_x.py"]
    assert resolve(NAME, options()).unfetched == {}


def test_texts_are_fetched(hub: FakeHub, options: Options) -> None:
    """Requirements and YAML come with the configs, each under its name in the repository."""
    hub.add(NAME, {**FILES, "docker/requirements.txt": "flash-attn", "train.yaml": "a: 1"})
    texts = resolve(NAME, options()).text_files
    assert sorted(texts) == [
        "config.json",
        "docker/requirements.txt",
        "generation_config.json",
        "preprocessor_config.json",
        "train.yaml",
    ]
    assert Path(texts["docker/requirements.txt"]).read_text() == "flash-attn"


def test_oversized_config(hub: FakeHub, refused: Refused) -> None:
    """A config.json over the limit is refused without a download."""
    hub.add(NAME, {"config.json": b" " * (17 << 20)})
    error = refused(NAME)
    assert isinstance(error, NotAuditedError)
    assert error.code == "too_large"
    assert hub.fetched() == []


def test_listing_without_sizes(hub: FakeHub, options: Options) -> None:
    """A mirror that gives no sizes still works."""
    hub.unsized = True
    hub.add(NAME, {"config.json": BERT})
    assert resolve(NAME, options()).architecture == "BertForMaskedLM"


@pytest.mark.parametrize("suffix", ["", "@main"])
def test_redirect_of_a_legacy_id(hub: FakeHub, options: Options, suffix: str) -> None:
    """``bert-base-uncased`` is followed to its present name, which the spec carries."""
    hub.add(NAME, FILES)
    hub.renamed["bert-base-uncased"] = NAME
    spec = resolve("bert-base-uncased" + suffix, options())
    assert (spec.id, spec.redirected_from) == (NAME, "bert-base-uncased")
    assert spec.target == "bert-base-uncased" + suffix
    assert spec.architecture == "BertForMaskedLM"


def test_revisions(hub: FakeHub, options: Options) -> None:
    """Branch, tag and commit each get their own config, by ``@`` or by option."""
    hub.add(NAME, {"config.json": BERT})
    hub.add(f"{NAME}@v2", {"config.json": BERT.replace("768", "1024")})
    commit = hub.commit(NAME, "v2")
    for target, changes in (
        (f"{NAME}@v2", {}),
        (NAME, {"revision": "v2"}),
        (f"{NAME}@{commit}", {}),
    ):
        spec = resolve(target, options(**changes))
        assert (spec.config["hidden_size"], spec.revision) == (1024, commit)
    assert resolve(NAME, options()).config["hidden_size"] == 768


def code_of(error: Exception) -> str:
    """Give the slug of a target's outcome."""
    assert isinstance(error, NotAuditedError)
    return error.code


def test_missing_model(hub: FakeHub, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    """No such model is an input error, with and without a token."""
    error = refused("nobody/nothing")
    assert (code_of(error), error.exit_code) == ("not_found", ExitCode.USAGE)
    assert "'nobody/nothing'" in error.message
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert code_of(refused("nobody/nothing")) == "not_found"
    assert hub.fetched() == []


def test_missing_model_is_not_answered_by_the_catalogue(hub: FakeHub, refused: Refused) -> None:
    """The hub said no: its word counts, though the catalogue knows the id."""
    del hub
    assert code_of(refused("bert-base-uncased")) == "not_found"


def test_missing_revision(hub: FakeHub, refused: Refused) -> None:
    """No such revision is an input error that names it."""
    hub.add(NAME, {"config.json": BERT})
    error = refused(f"{NAME}@v9")
    assert (code_of(error), error.exit_code) == ("revision_not_found", ExitCode.USAGE)
    assert "'v9'" in error.message


def test_gated(hub: FakeHub, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gated model says so and where to ask, and does not fall back to the catalogue."""
    hub.add(NAME, FILES)
    hub.gated.add(NAME)
    error = refused(NAME)
    assert (code_of(error), error.exit_code) == ("gated", ExitCode.INCOMPLETE)
    assert f"{hub.url}/{NAME}" in (error.hint or "")
    assert "HF_TOKEN" in (error.hint or "")
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    assert code_of(refused(NAME)) == "gated"
    assert hub.fetched() == []  # refused at the HEAD of config.json, nothing else tried


def test_token_opens_a_gated_model(
    hub: FakeHub,
    options: Options,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    """HF_TOKEN is sent to the hub, and appears in no log and no file."""
    hub.add(NAME, FILES)
    hub.gated.add(NAME)
    hub.allowed.add("hf_secret")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    caplog.set_level("DEBUG")
    assert resolve(NAME, options()).architecture == "BertForMaskedLM"
    assert {request.token for request in hub.requests} == {"hf_secret"}
    assert "hf_secret" not in caplog.text
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"hf_secret" in path.read_bytes()]


@pytest.mark.parametrize(
    ("status", "code"), [(401, "unauthorized"), (403, "unauthorized"), (418, "hub_error")]
)
def test_other_refusals(hub: FakeHub, refused: Refused, status: int, code: str) -> None:
    """A bad token and unknown statuses are outcomes of their own."""
    hub.add(NAME, FILES)
    hub.faults.append(Fault(match="/api/models/", status=status))
    error = refused(NAME)
    assert code_of(error) == code
    assert str(status) in error.message


def test_renamed_to_nowhere(hub: FakeHub, refused: Refused) -> None:
    """A redirect to a model that is gone is not plain ``not_found``."""
    hub.renamed["old/name"] = "new/name"
    error = refused("old/name")
    assert code_of(error) == "renamed"
    assert "new/name" in error.message


def test_redirects_in_a_circle(hub: FakeHub, refused: Refused) -> None:
    """Names that redirect to each other end in an outcome, not in a loop."""
    hub.renamed |= {"a/x": "b/x", "b/x": "a/x"}
    assert code_of(refused("a/x")) == "renamed"


@pytest.mark.parametrize(
    ("files", "tag", "code", "skipped"),
    [
        ({"README.md": ""}, None, "no_config", False),
        ({"README.md": ""}, "transformers", "no_config", False),
        ({"weights.keras": ""}, "keras", "unsupported_library", True),
        ({"x.Q4_K_M.gguf": ""}, "gguf", "gguf_only", True),
        ({"adapter_config.json": '{"peft_type": "LORA"}'}, "peft", "adapter_only", True),
        ({"model_index.json": '{"_class_name": "FluxPipeline"}'}, "diffusers", "no_model", True),
        ({"config.json": "{"}, None, "malformed_config", False),
        ({"config.json": "[]"}, None, "malformed_config", False),
        ({"config.json": ""}, None, "malformed_config", False),
        ({"config.json": "version https://git-lfs.github.com/spec/v1\noid x\n"}, None,
         "lfs_pointer", False),
    ],
)  # fmt: skip
def test_repositories_without_a_usable_config(
    hub: FakeHub, refused: Refused, files: dict[str, str], tag: str | None, code: str, skipped: bool
) -> None:
    """Each kind of repository that cannot be traced has its own outcome."""
    hub.add("org/name", files)
    if tag:
        hub.tags["org/name"] = tag
    error = refused("org/name")
    assert isinstance(error, NotAuditedError)
    assert (error.code, error.skipped, error.stage) == (code, skipped, Stage.CONFIG)
    assert "org/name" in error.message


def test_adapter_and_its_base(hub: FakeHub, options: Options) -> None:
    """An adapter's base model is asked for too; the result is both, under the adapter's id."""
    hub.add("org/lora", {"adapter_config.json": ADAPTER})
    hub.add("a/b", {"config.json": BERT})
    spec = resolve("org/lora", options())
    assert (spec.id, spec.library, spec.model_type) == ("org/lora", "peft", "bert")
    assert spec.adapter is not None
    assert spec.adapter["base_model_name_or_path"] == "a/b"
    assert any("adapter of a/b" in note for note in spec.notes)


def test_adapter_without_its_base(hub: FakeHub, refused: Refused) -> None:
    """A base model that is not there is a failure of the adapter that names it, not a bad name."""
    hub.add("org/lora", {"adapter_config.json": ADAPTER})
    error = refused("org/lora")
    assert code_of(error) == "base_unresolved"
    assert "a/b" in error.message
    assert error.exit_code is ExitCode.INCOMPLETE


def test_pipeline(hub: FakeHub, options: Options) -> None:
    """A pipeline's components are fetched with it, and no weights; a repeat asks nobody."""
    index = {"_class_name": "X", "unet": ["diffusers", "UNet2DModel"], "s": ["diffusers", "S"]}
    files = {"unet/config.json": '{"sample_size": 8}', "unet/weights.safetensors": "x"}
    hub.add("org/pipe", {"model_index.json": json.dumps(index), **files})
    spec = resolve("org/pipe", options())
    assert [part.component for part in spec.components] == ["unet", "s"]
    assert spec.components[0].config == {"sample_size": 8, "_class_name": "UNet2DModel"}
    assert not any("weights" in name for name in hub.fetched())
    asked = len(hub.fetched())
    assert resolve("org/pipe", options()) == spec
    assert len(hub.fetched()) == asked


def test_rate_limit_is_waited_out(hub: FakeHub, options: Options, clock: Clock) -> None:
    """429 on the listing and on a file is retried after the hub's own Retry-After."""
    hub.add(NAME, {"config.json": BERT})
    hub.faults += [
        Fault(match="/api/models/", times=2, status=429, headers={"Retry-After": "7"}),
        Fault(match="config.json", method="HEAD", status=429, headers={"Retry-After": "3"}),
        Fault(match="config.json", method="GET", status=429, headers={"Retry-After": "5"}),
    ]
    assert resolve(NAME, options()).config_source.startswith("hub@")
    listed = [wait for wait in clock.waits if wait == 7 + 1]  # the client adds one second
    assert len(listed) == 2
    assert clock.waits[-1] == 5 + 1


def test_server_errors_are_retried(hub: FakeHub, options: Options, clock: Clock) -> None:
    """A hub that fails twice and then works is not taken for absent."""
    hub.add(NAME, {"config.json": BERT})
    hub.faults.append(Fault(match="/api/models/", times=2, status=503))
    assert resolve(NAME, options()).config_source.startswith("hub@")
    assert clock.waits == [1, 2]


def test_cut_body_is_fetched_again(hub: FakeHub, options: Options) -> None:
    """A download that breaks off in the middle is completed, not parsed by halves."""
    hub.add(NAME, {"config.json": BERT})
    hub.faults.append(Fault(match="config.json", method="GET", cut=True))
    assert resolve(NAME, options()).config == json.loads(BERT)
    assert hub.fetched() == ["config.json", "config.json"]


def test_second_fetch_uses_the_client_s_cache(hub: FakeHub, options: Options) -> None:
    """A refresh asks for the listing again, and for no file that is cached."""
    hub.add(NAME, FILES)
    resolve(NAME, options())
    hub.requests.clear()
    resolve(NAME, options(refresh=True))
    assert [request.path for request in hub.requests] == [f"/api/models/{NAME}"]


def test_unwritable_client_cache(
    hub: FakeHub, refused: Refused, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A Hugging Face cache that cannot be written is named, with the way out."""
    hub.add(NAME, {"config.json": BERT})
    (tmp_path / "file").touch()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "file" / "hub"))
    error = refused(NAME)
    assert code_of(error) == "cache_unwritable"
    assert "HF_HOME" in (error.hint or "")


def test_nothing_is_printed(
    hub: FakeHub,
    options: Options,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No progress bars, not even where the client would draw them: streams are the command's."""
    monkeypatch.setenv("TQDM_POSITION", "-1")  # the client's way to draw without a terminal
    hub.add(NAME, FILES)
    resolve(NAME, options())
    assert capfd.readouterr() == ("", "")
