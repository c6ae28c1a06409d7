"""TPA620: GPUs asked of Ray."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpu_audit.rules.python.dicts import items
from tpu_audit.rules.python.options import keyword
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_WAITS = "a node with TPUs offers no `GPU`: the task is never placed"
_ADVICE = 'ask for `resources={"TPU": 4}` (all chips of a host)'

RULE = Rule(
    code="TPA620",
    name="ray-gpus",
    severity=Severity.ERROR,
    words=("ray", "ray_actor_options", "rayStartParams", "rayClusterConfig"),
    docs=Docs(
        what="Finds tasks, actors, trainers and clusters of Ray that ask for GPUs.",
        why="Nodes with TPUs offer the resource `TPU`. A task that asks for a GPU waits for ever.",
        example="@ray.remote(num_gpus=1)\nclass Worker: ...",
        instead='@ray.remote(resources={"TPU": 4})\nclass Worker: ...',
        references=(
            "https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/tpu.html",
            "https://docs.ray.io/en/latest/train/api/doc/ray.train.ScalingConfig.html",
        ),
    ),
    valid=(
        Case("import ray\n\n@ray.remote(resources={'TPU': 4})\ndef f(): ...\n"),
        Case("import ray\n\n@ray.remote(num_gpus=0, num_cpus=2)\ndef f(): ...\n"),
        Case(
            "from ray.train import ScalingConfig\n"
            "config = ScalingConfig(num_workers=4, use_tpu=True, topology='4x4')\n"
        ),
        Case(
            "import ray, torch\nfrom ray.train import ScalingConfig\n"
            "config = ScalingConfig(use_gpu=torch.cuda.is_available())\n"
        ),
        Case("trainer = Trainer(num_gpus=2)\n"),
        Case("ray start --head --num-cpus 8\n", filename="run.sh"),
    ),
    invalid=(
        Case("import ray\n\n@ray.remote(num_gpus=1)\nclass A: ...\n", lines=(3,)),
        Case("import ray\nray.init(num_cpus=8, num_gpus=8)\n", lines=(2,)),
        Case(
            "import ray\nfrom worker import Worker\n"
            "w = ray.remote(Worker).options(num_gpus=0.5).remote()\n",
            lines=(3,),
        ),
        Case(
            "from ray.train import ScalingConfig as Scaling\n"
            "config = Scaling(use_gpu=True, resources_per_worker={'GPU': 1})\n",
            lines=(2, 2),
            severity=Severity.ERROR,
        ),
        Case(
            "from ray.util.placement_group import placement_group\n"
            "group = placement_group([{'GPU': 1, 'CPU': 4}])\n",
            lines=(2,),
        ),
        Case(
            "from ray.train import ScalingConfig\ngpu = True if args.num_gpus else args.use_gpu\n"
            "config = ScalingConfig(use_gpu=gpu)\n",
            lines=(3,),
            severity=Severity.WARNING,
        ),
        Case("@ray.remote(num_gpus=1)\nclass Worker: ...\n", lines=(1,)),
        Case(
            "deployments:\n- name: D\n  ray_actor_options: {num_gpus: 1}\n",
            filename="serve.yaml",
            lines=(3,),
        ),
        Case("ray start --head --num-gpus=8\n", filename="run.sh", lines=(1,)),
        Case(
            "kind: RayCluster\napiVersion: ray.io/v1\nspec:\n  workerGroupSpecs:\n"
            "  - rayStartParams:\n      num-gpus: '4'\n",
            filename="cluster.yaml",
            lines=(6,),
        ),
    ),
)


@RULE.keyword("num_gpus", "num_gpus_per_worker")
def check_count(argument: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find counts of GPUs in calls of Ray."""
    if _uses_ray(module) and _counts(argument, module) and _is_rays(argument, module):
        yield module.hit(argument, f"`{argument.arg}` waits: {_WAITS}", _ADVICE, cause=_WAITS)


@RULE.call(
    *("ray.train.ScalingConfig", "ray.air.ScalingConfig", "ray.air.config.ScalingConfig"),
)
def check_scaling(call: ast.Call, name: str, module: Module) -> Iterator[Hit]:
    """Find workers of a trainer that take GPUs."""
    del name
    use = keyword(call, "use_gpu")
    if use is not None and _is_true(use, module):
        yield module.hit(
            use,
            f"`use_gpu` asks Ray for GPUs: {_WAITS}",
            "write `use_tpu=True` with `topology` and `accelerator_type`",
            severity=None if isinstance(use, ast.Constant) else Severity.WARNING,
            cause=_WAITS,
        )


@RULE.string("GPU")
def check_resource(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find ``{"GPU": 1}`` as resources."""
    parent = module.parent(constant)
    if constant.value != "GPU" or not isinstance(parent, ast.Dict) or not _uses_ray(module):
        return
    count = next((value for key, value in items(parent) if key is constant), None)
    known = module.value(count) if count is not None else ()
    if not known or any(possible.value != 0 for possible in known):
        yield module.hit(constant, f"`GPU` is asked of Ray: {_WAITS}", _ADVICE, cause=_WAITS)


def _uses_ray(module: Module) -> bool:
    return "ray" in module.libraries.roots or "ray" in module.index.names


def _counts(argument: ast.keyword, module: Module) -> bool:
    return any(
        possible.value not in (0, None) and not module.reach(possible.node).dead
        for possible in module.value(argument.value)
    )


def _is_rays(argument: ast.keyword, module: Module) -> bool:
    """Tell a call of Ray: ``ray.remote``, ``ray.init``, or ``.options`` of an actor."""
    call = module.parent(argument)
    if not isinstance(call, ast.Call):
        return False
    return getattr(call.func, "attr", "") == "options" or module.is_named(call.func, "ray.*")


def _is_true(node: ast.expr, module: Module) -> bool:
    return any(possible.value is True for possible in module.value(node))


@RULE.document("shell", "dockerfile", "yaml", "makefile")
def check_document(document: Document) -> Iterator[Hit]:
    """Find clusters that are started with GPUs."""
    for command in document.commands:
        if command.name == "ray" and (word := command.option("--num-gpus")) and word.text != "0":
            yield document.hit(
                word.span, f"`--num-gpus` declares GPUs: {_WAITS}", _ADVICE, cause=_WAITS
            )
    for entry in document.keyed("ray_actor_options", "num_gpus"):
        if entry.text() not in {"0", "0.0", ""}:
            yield document.hit(
                entry.key_span or entry.span, f"`num_gpus`: {_WAITS}", _ADVICE, cause=_WAITS
            )
    for entry in document.keyed("rayStartParams", "num-gpus"):
        if entry.text() not in {"0", ""}:
            yield document.hit(
                entry.key_span or entry.span,
                f"`num-gpus` declares GPUs: {_WAITS}",
                "leave it out, and give the pod `google.com/tpu` resources",
                cause=_WAITS,
            )
