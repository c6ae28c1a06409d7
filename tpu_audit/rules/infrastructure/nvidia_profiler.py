"""TPA820: programs run under NVIDIA's profilers and checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit

_PROGRAMS = frozenset(
    {"nsys", "ncu", "nvprof", "nv-nsight-cu-cli", "compute-sanitizer", "cuda-memcheck", "cuda-gdb"}
)
_BEFORE = frozenset({"srun", "mpirun", "mpiexec", "time", "numactl", "sudo"})

RULE = Rule(
    code="TPA820",
    name="nvidia-profiler",
    severity=Severity.WARNING,
    words=("nsys", "ncu", "nvprof", "sanitizer", "memcheck", "gdb", "cu"),
    docs=Docs(
        what="Finds scripts that start programs under `nsys`, `ncu`, `nvprof`, "
        "`compute-sanitizer` or `cuda-gdb`.",
        why="These tools are not on a TPU host and see no TPU: the command is not found, and "
        "what it was to start does not run.",
        example="nsys profile -o report python train.py",
        instead="with torch.profiler.profile() as profile:\n    train()",
        references=(
            "https://docs.pytorch.org/docs/stable/profiler.html",
            "https://openxla.org/xprof",
        ),
    ),
    valid=(
        Case(
            "python profile.py --tool nsys\necho ncu\n# nsys profile python t.py\n", filename="r.sh"
        ),
        Case("which nsys\ncommand -v ncu\ngdb --args python t.py\n", filename="r.sh"),
        Case("tools: [nsys, ncu]\n", filename="tools.yaml"),
    ),
    invalid=(
        Case(
            "nsys profile -t cuda,nvtx -o r \\\n  python train.py\n",
            filename="r.sh",
            lines=(1,),
            columns=(1,),
        ),
        Case(
            "srun -n 2 /opt/nvidia/nsys profile python t.py\nncu --set full python k.py\n",
            filename="prof.sh",
            lines=(1, 2),
        ),
        Case("prof:\n\tCUDA_X=1 compute-sanitizer python t.py\n", filename="Makefile", lines=(2,)),
    ),
)


@RULE.document("shell", "makefile", "dockerfile", "yaml")
def check(document: Document) -> Iterator[Hit]:
    """Find the programs, also behind ``srun`` and its like."""
    for command in document.commands:
        words = command.words if command.name in _BEFORE else command.words[:1]
        for word in words:
            name = word.text.rpartition("/")[2]
            if name in _PROGRAMS and len(command.words) > 1:
                yield document.hit(
                    word.span,
                    f"`{name}` is not on a TPU host, and sees no TPU",
                    "profile with `torch.profiler`, and read the trace in XProf",
                )
