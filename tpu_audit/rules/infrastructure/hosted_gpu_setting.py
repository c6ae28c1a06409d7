"""TPA821: settings of hosting services that choose GPUs."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tpu_audit.rules.infrastructure.gpus import MODEL
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document, Key
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_OFF = frozenset({"", "false", "0", "none", "null"})

RULE = Rule(
    code="TPA821",
    name="hosted-gpu-setting",
    severity=Severity.WARNING,
    words=("gpu", "cuda", "cuda_version", "enable_gpu", "modal"),
    docs=Docs(
        what="Finds GPUs in the settings of hosting services: Replicate's `cog.yaml`, "
        "BentoML's `bentofile.yaml`, Kaggle's `kernel-metadata.json` and `gpu=` of Modal.",
        why="The service starts a machine with an NVIDIA GPU and CUDA in its image. Of these, "
        "Kaggle alone rents TPUs.",
        example='{"enable_gpu": "true"}',
        instead='{"enable_gpu": "false", "enable_tpu": "true"}',
        references=(
            "https://github.com/replicate/cog/blob/main/docs/yaml.md",
            "https://github.com/Kaggle/kaggle-api/blob/main/docs/kernels_metadata.md",
            "https://modal.com/docs/guide/gpu",
        ),
    ),
    valid=(
        Case("build:\n  gpu: false\n  python_version: '3.12'\n", filename="cog.yaml"),
        Case("build:\n  gpu: true\n  cuda: '12.1'\n", filename="conf/build.yaml"),
        Case('{"enable_gpu": "false", "enable_tpu": "true"}\n', filename="kernel-metadata.json"),
        Case("import modal\n@app.function(gpu=None)\ndef f(): ...\n"),
        Case("import other\n@app.function(gpu='A100')\ndef f(): ...\n# modal\n"),
    ),
    invalid=(
        Case("build:\n  gpu: true\n  cuda: '12.1'\n", filename="cog.yaml", lines=(2, 3)),
        Case(
            "service: a:b\ndocker:\n  cuda_version: '11.8'\n", filename="bentofile.yaml", lines=(3,)
        ),
        Case('{"id": "u/k", "enable_gpu": "true"}\n', filename="kernel-metadata.json", lines=(1,)),
        Case(
            "import modal\napp = modal.App()\n@app.function(gpu='A100-80GB:2')\ndef f(): ...\n",
            lines=(3,),
        ),
        Case("import modal\nGPU = ['H100', 'any']\n@app.cls(gpu=GPU)\nclass A: ...\n", lines=(3,)),
        Case(
            "import modal\n@app.function(gpu=modal.gpu.A10G(count=1))\ndef f(): ...\n", lines=(2,)
        ),
    ),
)
_KEYS: dict[str, set[tuple[Key, ...]]] = {
    "cog.yaml": {("build", "gpu"), ("build", "cuda"), ("build", "cudnn")},
    "cog.yml": {("build", "gpu"), ("build", "cuda"), ("build", "cudnn")},
    "bentofile.yaml": {("docker", "cuda_version")},
    "kernel-metadata.json": {("enable_gpu",)},
}
"""File -> keys that choose a GPU."""


@RULE.document("yaml", "json")
def check(document: Document) -> Iterator[Hit]:
    """Find settings in the services' files."""
    wanted = _KEYS.get(PurePosixPath(document.path).name, set())
    for entry in document.entries:
        if entry.keys in wanted and entry.text() not in _OFF:
            name = ".".join(map(str, entry.keys))
            message = f"`{name}` gives the service's machine a GPU and CUDA, not a TPU"
            yield document.hit(entry.key_span or entry.span, message, _advice(name))


@RULE.keyword("gpu")
def check_modal(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find Modal's functions and classes that ask for a GPU."""
    names = {name.partition(".")[0] for _, found in module.imported for name in found}
    if "modal" not in names:
        return
    texts = [
        module.value(item).strings() for item in (keyword.value, *module.elements(keyword.value))
    ]
    named = any(MODEL.fullmatch(t.partition(":")[0]) or t == "any" for some in texts for t in some)
    called = "modal.gpu." in module.code(keyword.value)
    if named or called:
        message = "Modal starts this on an NVIDIA GPU, and rents no TPU"
        yield module.hit(keyword, message, "run it on a TPU VM or on GKE")


def _advice(name: str) -> str:
    if name == "enable_gpu":
        return "set `enable_tpu` instead"
    return "delete it, and host the model on a TPU VM or on GKE"
