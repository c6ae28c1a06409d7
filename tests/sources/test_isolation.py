"""In a fresh process: what is imported, what is executed, and the real client end to end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.support.configs import BERT, CONFIGS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.fakehub import FakeHub

PROGRAM = """
import json, sys
from pathlib import Path
from tpu_audit.sources.resolve import ResolveOptions, resolve
before = set(sys.modules)
spec = resolve(sys.argv[2], ResolveOptions(cache_dir=Path(sys.argv[1]))) if sys.argv[2:] else None
heavy = {"torch", "transformers", "huggingface_hub", "pydantic"}
print(json.dumps({
    "heavy": sorted(heavy & set(sys.modules)),
    "source": spec and spec.config_source,
    "id": spec and spec.id,
    "class": spec and spec.architecture,
}))
"""


def run(tmp_path: Path, *targets: str, **environment: str) -> dict[str, Any]:
    """Resolve in a new interpreter, as a user's shell would."""
    clean = {k: v for k, v in os.environ.items() if not k.upper().startswith("HF_")}
    env = clean | {"HF_HOME": str(tmp_path / "hf")} | environment
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "cache"), *targets]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_import_is_light(tmp_path: Path) -> None:
    """Importing the resolver imports no framework, no client and no validator."""
    assert run(tmp_path)["heavy"] == []


def test_local_path_is_light(tmp_path: Path) -> None:
    """Neither does reading a local folder."""
    result = run(tmp_path, str(CONFIGS / "microsoft/wavlm-base-plus"))
    assert (result["source"], result["heavy"]) == ("local", [])


def test_hub_end_to_end(tmp_path: Path, hub: FakeHub) -> None:
    """HF_ENDPOINT and HF_HOME are honoured; a repeat imports no client and asks nobody."""
    name = "google-bert/bert-base-uncased"
    hub.add(name, {"config.json": BERT, "model.safetensors": b"\0" * 999, "evil.py": "exit(9)"})
    hub.renamed["bert-base-uncased"] = name
    first = run(tmp_path, "bert-base-uncased", HF_ENDPOINT=hub.url)
    assert (first["id"], first["class"]) == (name, "BertForMaskedLM")
    assert first["source"] == f"hub@{hub.commit(name)}"
    assert not {"torch", "transformers"} & set(first["heavy"])
    assert list((tmp_path / "hf" / "hub").glob("models--google-bert--bert-base-uncased"))
    assert hub.fetched() == ["config.json", "evil.py"]
    hub.requests.clear()
    again = run(tmp_path, "bert-base-uncased", HF_ENDPOINT=hub.url)
    assert again == first | {"heavy": ["pydantic"]}
    assert hub.requests == []


def test_no_network_is_light(tmp_path: Path, hub: FakeHub) -> None:
    """With a closed port the catalogue answers, and only the client's constants are loaded."""
    hub.stop()
    result = run(tmp_path, "bert-base-uncased", HF_ENDPOINT=hub.url)
    assert (result["source"], result["class"]) == ("catalogue", "BertForMaskedLM")
    assert not {"torch", "transformers"} & set(result["heavy"])
