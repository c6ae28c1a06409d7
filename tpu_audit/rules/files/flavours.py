"""What a config file is for, told by its name and its content."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpu_audit.rules.files.document import Command, Entry

_CI_NAMES = re.compile(
    r"(^|/)(\.github/(workflows|actions)/|\.gitlab-ci|\.circleci/|azure-pipelines|\.travis\.ya?ml"
    r"|\.buildkite/|bitbucket-pipelines|\.drone\.ya?ml|cloudbuild\.ya?ml|action\.ya?ml)"
)
_COMPOSE = re.compile(r"(^|/)(docker-)?compose[^/]*\.ya?ml(\.j2)?$")
_CONDA = re.compile(r"(^|/)(environment|conda|env)[^/]*\.ya?ml$")
_LOCKS = frozenset(
    [
        "poetry.lock",
        "uv.lock",
        "pdm.lock",
        "pylock.toml",
        "pixi.lock",
        "conda-lock.yml",
        "Pipfile.lock",
    ]
)
_TEST = re.compile(r"(^|/)(tests?|testing|test_data|testdata|fixtures)(/|$)|(^|/)test_[^/]*$")
_DEEPSPEED = frozenset(
    [
        "zero_optimization",
        "train_micro_batch_size_per_gpu",
        "train_batch_size",
        "zero_allow_untested_optimizer",
        "gradient_accumulation_steps",
        "bf16",
        "fp16",
        "activation_checkpointing",
    ]
)
_TRAINING = frozenset(
    [
        "per_device_train_batch_size",
        "per_device_eval_batch_size",
        "gradient_accumulation_steps",
        "num_train_epochs",
        "lr_scheduler_type",
        "logging_steps",
        "save_steps",
        "output_dir",
        "eval_strategy",
        "model_name_or_path",
        "finetuning_type",
        "base_model",
        "micro_batch_size",
    ]
)
_HF = frozenset(
    ["model_type", "architectures", "transformers_version", "auto_map", "torch_dtype", "dtype"]
)


def named(path: str) -> set[str]:
    """Return the flavours that any file's path tells."""
    name = PurePosixPath(path).name
    found = {"test"} if _TEST.search(path) else set()
    if name in _LOCKS or name.endswith((".conda-lock.yml", "-lock.yml")):
        found.add("lock")
    if name in {"pyproject.toml", "Pipfile", "pixi.toml", "uv.toml"}:
        found.add("pyproject")
    return found


def of_yaml(path: str, entries: Sequence[Entry], *, templated: bool) -> frozenset[str]:
    """Return the flavours of a YAML file."""
    found = named(path)
    keys = {(entry.stream, entry.keys) for entry in entries}
    streams = {entry.stream for entry in entries}
    top = {str(entry.keys[0]) for entry in entries if len(entry.keys) == 1}
    if any({(one, ("apiVersion",)), (one, ("kind",))} <= keys for one in streams):
        found.add("kubernetes")
    if _COMPOSE.search(path) or ("services" in top and _has(entries, 2, "image", "build")):
        found.add("compose")
    if _is_helm(path, templated=templated):
        found.add("helm")
    if "dependencies" in top and ("channels" in top or _CONDA.search(path)):
        found.add("conda")
    if _CI_NAMES.search(path) or {"on", "jobs"} <= top:
        found.add("ci")
    if top & {"distributed_type", "compute_environment"}:
        found.add("accelerate")
    if any(str(entry.key) in {"_target_", "defaults"} or "hydra" in top for entry in entries):
        found.add("hydra")
    return frozenset(found | _of_model(top))


def of_json(path: str, entries: Sequence[Entry]) -> frozenset[str]:
    """Return the flavours of a JSON file."""
    top = {str(entry.keys[0]) for entry in entries if len(entry.keys) == 1}
    found = named(path) | _of_model(top)
    if top & {"distributed_type", "compute_environment"}:
        found.add("accelerate")
    if "apiVersion" in top and "kind" in top:
        found.add("kubernetes")
    return frozenset(found)


def of_shell(path: str, directives: Sequence[Command]) -> frozenset[str]:
    """Return the flavours of a shell script: a batch system's, if it has directives."""
    slurm = any(command.name == "#SBATCH" for command in directives)
    return frozenset(named(path) | ({"slurm"} if slurm else set()))


def of_requirements(path: str) -> frozenset[str]:
    """Return the flavours of a requirements file."""
    name = PurePosixPath(path).name
    return frozenset(named(path) | ({"constraints"} if "constraint" in name else set()))


def _of_model(top: set[str]) -> set[str]:
    found = set()
    if "zero_optimization" in top or len(top & _DEEPSPEED) >= 3:  # noqa: PLR2004 - by chance not
        found.add("deepspeed")
    if len(top & _TRAINING) >= 2:  # noqa: PLR2004 - one alone may be anybody's
        found.add("training-arguments")
    if top & {"model_type", "architectures", "quantization_config"} or len(top & _HF) > 1:
        found.add("hf-config")
    return found


def _is_helm(path: str, *, templated: bool) -> bool:
    parts = PurePosixPath(path).parts
    return (templated and "templates" in parts) or parts[-1:] in {
        ("values.yaml",),
        ("Chart.yaml",),
        ("values.yml",),
    }


def _has(entries: Sequence[Entry], depth: int, *names: str) -> bool:
    return any(len(entry.keys) > depth and entry.keys[depth] in names for entry in entries)
