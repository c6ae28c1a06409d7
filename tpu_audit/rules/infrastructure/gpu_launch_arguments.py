"""TPA808: launchers told to count or to use CUDA devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.infrastructure.launches import launches
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.edits import Fix
    from tpu_audit.rules.files.document import Document, Word
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.infrastructure.launches import Launch

_COUNTS = re.compile(
    r"nvidia-smi|cuda\.device_count|cuda\.is_available|CUDA_VISIBLE_DEVICES|SLURM_GPUS"
)
_VARIABLE = re.compile(r"\$\{?(\w+)")
_NPROC = frozenset({"--nproc-per-node", "--num-processes"})
_ACCELERATE = {
    "--multi-gpu": "it chooses CUDA's distributed mode, and raises where there is no GPU",
    "--gpu-ids": "it becomes `CUDA_VISIBLE_DEVICES`, which nothing reads on a TPU",
}
_DEEPSPEED = frozenset({"--num-gpus", "--include", "--exclude"})

RULE = Rule(
    code="TPA808",
    name="gpu-launch-arguments",
    severity=Severity.WARNING,
    words=(
        "nproc_per_node",
        "nproc",
        "multi_gpu",
        "gpu_ids",
        "num_gpus",
        "launch",
        "deepspeed",
        "multi",
    ),
    docs=Docs(
        what="Finds `torchrun --nproc_per_node=gpu`, numbers of processes counted with "
        "`nvidia-smi` or `torch.cuda.device_count()`, directly or through a variable, "
        "`accelerate launch --multi_gpu` and `--gpu_ids`, and `deepspeed --num_gpus`.",
        why='There is no CUDA device to count: torchrun raises "Cuda is not available.", and a '
        "count by `nvidia-smi` is empty or 0.",
        example="torchrun --nproc_per_node=gpu train.py",
        instead="torchrun --nproc_per_node=auto train.py",
        fix_safety="Unsafe: `auto` counts the devices of whatever accelerator there is, and CPU "
        "cores where there is none.",
        references=(
            "https://docs.pytorch.org/docs/stable/elastic/run.html",
            "https://huggingface.co/docs/accelerate/package_reference/cli",
        ),
    ),
    valid=(
        Case(
            "torchrun --nproc_per_node=auto train.py\ntorchrun --nproc-per-node 4 t.py\n",
            filename="r.sh",
        ),
        Case(
            "python train.py --multi_gpu --gpu_ids 0,1\n# torchrun --nproc_per_node=gpu\n",
            filename="r.sh",
        ),
        Case("N=4\naccelerate launch --num_processes $N t.py --multi_gpu\n", filename="r.sh"),
        Case('echo "torchrun --nproc_per_node=gpu"\nnum_gpus=8\n', filename="r.sh"),
        Case("torchrun --nproc_per_node=4 train.py --device gpu --num_gpus 4\n", filename="r.sh"),
    ),
    invalid=(
        Case(
            "torchrun --standalone --nproc_per_node=gpu train.py\n"
            "python -m torch.distributed.run --nproc-per-node gpu -m pkg.main\n",
            filename="run.sh",
            lines=(1, 2),
            columns=(23, 33),
            fixed="torchrun --standalone --nproc_per_node=auto train.py\n"
            "python -m torch.distributed.run --nproc-per-node auto -m pkg.main\n",
        ),
        Case(
            "GPUS=$(nvidia-smi -L | wc -l)\nsrun torchrun --nnodes 2 \\\n"
            "  --nproc_per_node $GPUS train.py\n"
            "torchrun --nproc_per_node=\"$(python -c 'import torch; "
            "print(torch.cuda.device_count())')\""
            " a.py\n",
            filename="job.sh",
            lines=(3, 4),
        ),
        Case(
            "accelerate launch --config_file a.yaml --multi_gpu --gpu_ids=0,1 train.py\n",
            filename="run.sh",
            lines=(1, 1),
        ),
        Case(
            "N=${N:-$(nvidia-smi -L | wc -l)}\n"
            'srun -n 1 bash -c "torchrun --nnodes=2 --nproc_per_node $N train.py"\n',
            filename="run.slurm",
            lines=(2,),
        ),
        Case(
            'torchrun --nproc_per_node="${SLURM_GPUS_ON_NODE:-1}" train.py\n',
            filename="run.sh",
            lines=(1,),
        ),
        Case(
            "train:\n\tdeepspeed --num_gpus=8 train.py --deepspeed ds.json\n",
            filename="Makefile",
            lines=(2,),
        ),
        Case(
            "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n"
            '    - command: ["torchrun", "--nproc_per_node=gpu", "train.py"]\n',
            filename="pod.yaml",
            lines=(5,),
            fixed="apiVersion: v1\nkind: Pod\nspec:\n  containers:\n"
            '    - command: ["torchrun", "--nproc_per_node=auto", "train.py"]\n',
        ),
        Case(
            'FROM python:3.12\nCMD ["torchrun", "--nproc-per-node", "gpu", "train.py"]\n',
            filename="Dockerfile",
            lines=(2,),
        ),
    ),
)


@RULE.document()
def check(document: Document) -> Iterator[Hit]:
    """Find the arguments of launchers."""
    for launch in launches(document):
        for option, value, word in launch.options:
            if option in _NPROC:
                yield from _count(document, launch, value, word)
            elif launch.launcher == "accelerate" and option in _ACCELERATE:
                yield document.hit(
                    word.span, f"`{word.text}`: {_ACCELERATE[option]}", "delete the option"
                )
            elif launch.launcher == "deepspeed" and option in _DEEPSPEED:
                message = f"`{word.text.partition('=')[0]}` counts GPUs, and a TPU host has none"
                yield document.hit(word.span, message, "start it with torchrun, a process a chip")


def _count(document: Document, launch: Launch, value: str, word: Word) -> Iterator[Hit]:
    if value == "gpu" and launch.launcher == "torchrun":
        yield document.hit(
            word.span,
            'torchrun raises "Cuda is not available." where it is to count GPUs',
            "write `auto`, which counts the devices of any accelerator",
            fix=_auto(document, word),
        )
    elif _COUNTS.search(_resolved(document, value)):
        yield document.hit(
            word.span,
            "the number of processes is counted on CUDA devices: on a TPU host it is 0 or empty",
            "write the number of chips, or `auto` with torchrun",
        )


def _resolved(document: Document, value: str) -> str:
    """Return a value with those of the variables that it uses behind it."""
    names = set(_VARIABLE.findall(value))
    assigned = [str(e.value) for e in document.entries if e.key in names and not e.container]
    return " ".join((value, *assigned))


def _auto(document: Document, word: Word) -> Fix | None:
    """Write ``auto`` over ``gpu``, in the option's word or in the next."""
    start = document.source.index(word.span.line, word.span.column)
    match = re.compile(r"[\w\"'-]+(?:=|[\"',\s\\]+)(gpu)\b").match(document.text, start)
    if not match:
        return None
    place = document.source.span(*match.span(1))
    return document.replace(place, "auto", Applicability.UNSAFE)
