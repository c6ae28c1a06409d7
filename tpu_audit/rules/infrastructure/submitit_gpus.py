"""TPA819: jobs that submitit starts on GPU nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_COUNTS = (
    "gpus_per_node",
    "slurm_gpus_per_node",
    "slurm_gpus_per_task",
    "gpus_per_task",
    "tasks_per_gpu",
)
_GRES = ("slurm_gres", "gres")
_ADVICE = "start the job on a TPU VM, through queued resources or on GKE"

RULE = Rule(
    code="TPA819",
    name="submitit-gpus",
    severity=Severity.WARNING,
    words=("submitit*",),
    docs=Docs(
        what="Finds GPUs that submitit asks Slurm for: `gpus_per_node`, `slurm_gres` in Python, "
        "and in configs of hydra's submitit launcher.",
        why="The job waits for a node with GPUs; TPUs are reached through TPU VMs, queued "
        "resources or GKE.",
        example="executor.update_parameters(gpus_per_node=8)",
        instead="Start the script on a TPU VM, as a queued resource, or as a job on GKE.",
        references=(
            "https://github.com/facebookincubator/submitit",
            "https://hydra.cc/docs/plugins/submitit_launcher/",
        ),
    ),
    valid=(
        Case("import submitit\nexecutor.update_parameters(gpus_per_node=0, cpus_per_task=8)\n"),
        Case("executor.update_parameters(gpus_per_node=8)\nname = 'submitit'\n"),
        Case("# submitit\ntrainer:\n  gpus_per_node: 8\n", filename="conf/trainer.yaml"),
    ),
    invalid=(
        Case(
            "import submitit\nexecutor = submitit.AutoExecutor(folder='log')\n"
            "executor.update_parameters(slurm_partition='p', gpus_per_node=8, "
            "slurm_gres='gpu:8')\n",
            lines=(3, 3),
        ),
        Case(
            "from submitit import AutoExecutor\nex = AutoExecutor('log')\nn = args.ngpus\n"
            "ex.update_parameters(slurm_gpus_per_task=n)\n",
            lines=(4,),
        ),
        Case(
            "defaults:\n  - override hydra/launcher: submitit_slurm\nhydra:\n  launcher:\n"
            "    gpus_per_node: 8\n    cpus_per_task: 4\n",
            filename="conf/config.yaml",
            lines=(5,),
        ),
        Case(
            "_target_: hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher\n"
            "gres: gpu:4\n",
            filename="conf/hydra/launcher/slurm.yaml",
            lines=(2,),
        ),
    ),
)


@RULE.keyword(*_COUNTS, *_GRES)
def check(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find arguments in modules that import submitit."""
    names = {name.partition(".")[0] for _, found in module.imported for name in found}
    values = module.value(keyword.value)
    none = values.complete and all(not possible.value for possible in values)
    other = keyword.arg in _GRES and not any("gpu" in text for text in values.strings())
    if "submitit" in names and not none and not other:
        yield module.hit(keyword, _message(str(keyword.arg)), _ADVICE, cause="gpus")


@RULE.document("yaml")
def check_launcher(document: Document) -> Iterator[Hit]:
    """Find settings of the launcher."""
    launchers = _launchers(document)
    for entry in document.entries:
        asks = entry.text() not in {"", "0", "none"} and not entry.container
        wanted = entry.key in _COUNTS or (entry.key in _GRES and "gpu" in entry.text())
        if asks and wanted and entry.keys[:-1] in launchers:
            yield document.hit(
                entry.key_span or entry.span, _message(str(entry.key)), _ADVICE, cause="gpus"
            )


def _launchers(document: Document) -> set[tuple[object, ...]]:
    """Return where the launcher's settings stand."""
    found: set[tuple[object, ...]] = set()
    for entry in document.entries:
        if "submitit" in entry.text():
            target = entry.key == "_target_"
            found.add(entry.keys[:-1] if target else ("hydra", "launcher"))
    return found


def _message(name: str) -> str:
    return f"`{name}` asks Slurm for GPUs: the job is given no TPU"
