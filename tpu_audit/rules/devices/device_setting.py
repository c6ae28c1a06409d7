"""TPA113: a CUDA device in a config file."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tpu_audit.rules.files.lightning import trainer_entries
from tpu_audit.rules.infrastructure.environment import variables
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document, Entry, Key
    from tpu_audit.rules.hit import Hit

_KEY = re.compile(r"(?:[a-z0-9]+_)*device|device_type|accelerator(?:_type)?|torchdevice|gpu")
_FLAG = frozenset({"use_cuda", "use_gpu", "enable_cuda", "cuda"})
_VALUE = re.compile(r"cuda(?::\d+)?|gpu")
_OPTION = re.compile(r"--(?:[\w-]+\.)*(?:[\w-]+[_-])?(?:device|accelerator)")
_OVERRIDE = re.compile(
    r"(?:--|\+{1,2})?(?:[\w-]+\.)*(?:\w+_)?(?:device|accelerator)=(?:cuda(?::\d+)?|gpu)"
)
"""``--device=cuda``, ``model.device=cuda:0``, ``--trainer.accelerator=gpu``."""
_VARIABLE = re.compile(r"(?:\w+_)?DEVICE|ACCELERATOR")
_OTHERS = frozenset({"echo", "docker", "podman", "nerdctl", "qemu-system-x86_64", "losetup"})
"""Programs that have devices of another kind, or only say something."""
_LISTS = (("devices",), ("device",), ("cuda_devices",))
"""Keys that hold a list of devices."""
_DEVICE = re.compile(r"cuda(?::\d+(?:,\d+)*)?")
_OF_OTHER_RULES = frozenset(
    {"kubernetes", "compose", "helm", "ci", "conda", "lock", "constraints", "accelerate"}
)
_DATA = re.compile(r"result|metric|report|bench|history|output|log|fixture|sample|package|schema")
_MOST = 2000
"""Entries of a JSON file that is still written by hand."""

RULE = Rule(
    code="TPA113",
    name="cuda-device-setting",
    severity=Severity.WARNING,
    words=("cuda", "gpu", "CUDA", "GPU", "use_cuda", "use_gpu", "enable_cuda"),
    docs=Docs(
        what="Finds CUDA devices in YAML, JSON, TOML and INI files: `device: cuda`, "
        "`accelerator: gpu`, `use_cuda: true`, and hydra's `_target_: torch.device`.",
        why="Code that takes its device from there raises on a TPU, or runs on the host's CPU.",
        example="trainer:\n  device: cuda:0",
        instead="Leave the key out, or write `auto`, and let the code ask "
        "`torch.accelerator.current_accelerator()`.",
        references=(
            "https://docs.pytorch.org/docs/stable/accelerator.html",
            "https://hydra.cc/docs/advanced/instantiate_objects/overview/",
        ),
    ),
    valid=(
        Case("device: cpu\naccelerator: auto\n# device: cuda\n", filename="train.yaml"),
        Case("title: cuda\nnotes: device cuda\n", filename="train.yaml"),
        Case('[{"device": "cuda", "ms": 3.1}]\n', filename="times.json"),
        Case('{"device": "cuda", "score": 0.9}\n', filename="eval_results.json"),
        Case("device: ${oc.env:DEVICE,cuda}\nuse_cuda: false\n", filename="conf/a.yaml"),
        Case(
            "jobs:\n  t:\n    strategy: {matrix: {device: [cpu, cuda]}}\non: push\n",
            filename=".github/workflows/t.yml",
        ),
        Case("trainer:\n  accelerator: gpu\n  devices: 2\n", filename="conf.yaml"),
        Case("docker run --device nvidia.com/gpu=all x\necho --device cuda\n", filename="a.sh"),
        Case("python t.py --device cpu --name cuda\nDEVICE=cpu\n", filename="a.sh"),
    ),
    invalid=(
        Case(
            "run:\n  device: cuda:0\n  accelerator: gpu\n",
            filename="conf/train.yaml",
            lines=(2, 3),
            columns=(11, 16),
        ),
        Case('{"model": {"device": "cuda"}}\n', filename="config.json", lines=(1,)),
        Case(
            "python a.py --device cuda:0\npython b.py model.device=cuda trainer=gpu\n"
            "export EVAL_DEVICE=cuda\npython c.py --trainer.accelerator=gpu\n",
            filename="run.sh",
            lines=(1, 2, 3, 4),
        ),
        Case(
            'FROM x\nENV DEVICE=cuda\nCMD ["python", "a.py", "--device", "cuda"]\n',
            filename="Dockerfile",
            lines=(2, 3),
        ),
        Case('[run]\neval_device = "cuda:1"\n', filename="settings.toml", lines=(2,)),
        Case("[run]\ndevice = cuda\n", filename="run.cfg", lines=(2,)),
        Case(
            "dev: {_target_: torch.device, type: cuda}\nother:\n  _target_: torch.device\n"
            "  _args_: [cuda]\n",
            filename="conf/dev.yaml",
            lines=(1, 4),
        ),
        Case("parameters:\n  device: {value: cuda}\n", filename="sweep.yaml", lines=(2,)),
        Case("use_cuda: true\n", filename="params.yml", lines=(1,)),
        Case(
            "device: cuda\n",
            filename="tests/data/a.yaml",
            lines=(1,),
            severity=Severity.INFO,
        ),
    ),
)


@RULE.document("yaml", "json", "toml", "ini")
def check(document: Document) -> Iterator[Hit]:
    """Find the keys, and the arguments of ``torch.device``."""
    if document.flavours & _OF_OTHER_RULES or _is_data(document):
        return
    devices = {e.keys[:-1] for e in document.keyed("_target_") if e.value == "torch.device"}
    lightning = {entry.keys for entry in trainer_entries(document)}
    for entry in document.entries:
        if entry.keys in lightning and entry.key == "accelerator":
            continue  # the rule on Lightning says more
        if _is_setting(entry) or _is_argument(entry, devices):
            yield document.hit(
                entry.span,
                f"`{entry.key}` asks for CUDA, which no TPU host has",
                "leave the device to the code, which asks for the accelerator",
            )


@RULE.document()
def check_commands(document: Document) -> Iterator[Hit]:
    """Find options of commands, hydra's overrides, and environment variables."""
    for command in document.commands:
        for before, word in zip(command.words, command.words[1:], strict=False):
            option = _OPTION.fullmatch(before.text) and _VALUE.fullmatch(word.text)
            if (option or _OVERRIDE.fullmatch(word.text)) and command.name not in _OTHERS:
                yield document.hit(
                    word.span,
                    f"`{word.text}` asks for CUDA, which no TPU host has",
                    "leave the device to the program, which asks for the accelerator",
                )
    for variable in variables(document):
        if _VARIABLE.fullmatch(variable.name) and _VALUE.fullmatch(variable.value):
            yield document.hit(
                variable.key_span,
                f"`{variable.name}` asks for CUDA, which no TPU host has",
                "leave the device to the program, which asks for the accelerator",
            )


def _is_data(document: Document) -> bool:
    """Tell a JSON file that holds data rather than settings."""
    if document.kind != "json":
        return False
    name = PurePosixPath(document.path).stem.lower()
    return len(document.entries) > _MOST or _DATA.search(name) is not None


def _is_setting(entry: Entry) -> bool:
    if isinstance(entry.key, int) and entry.keys[-2:-1] in _LISTS:
        return _is_cuda(entry)
    if not isinstance(entry.key, str) or entry.container:
        return False
    key = entry.key.lower().replace("-", "_")
    if key in {"value", "default"} and len(entry.keys) > 1:  # a sweep's, a schema's
        key = str(entry.keys[-2]).lower().replace("-", "_")
    if key in _FLAG:
        return entry.value is True or entry.text() in {"true", "yes", "on"}
    in_list = isinstance(entry.keys[0], int)
    return not in_list and _KEY.fullmatch(key) is not None and _is_cuda(entry)


def _is_cuda(entry: Entry) -> bool:
    text = entry.text().strip("\"'")
    return text == "gpu" or _DEVICE.fullmatch(text) is not None


def _is_argument(entry: Entry, devices: set[tuple[Key, ...]]) -> bool:
    """Tell ``type: cuda`` or ``_args_: [cuda]`` beside ``_target_: torch.device``."""
    parent = entry.keys[:-1]
    named = entry.key == "type" and parent in devices
    placed = entry.key == 0 and parent[-1:] == ("_args_",) and parent[:-1] in devices
    return (named or placed) and _is_cuda(entry)
