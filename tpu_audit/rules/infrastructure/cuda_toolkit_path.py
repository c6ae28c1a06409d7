"""TPA818: paths to the CUDA toolkit, and libraries of it that are linked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.infrastructure.environment import variables
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit

_PATHS = re.compile(
    r"(?:LD_)?(?:LIBRARY_)?PATH|C(?:PLUS_INCLUDE_)?PATH|C_INCLUDE_PATH|PKG_CONFIG_PATH"
)
_TOOLKIT = re.compile(r"(?:^|[/:$\{])(?:cuda(?:-[\d.$\{]|/|:|$)|CUDA_(?:HOME|PATH|ROOT))")
_LINKED = re.compile(
    r"-l(?:cudart|cuda|cublas(?:Lt)?|cudnn|cufft|curand|cusolver|cusparse|nccl|nvrtc)"
)

RULE = Rule(
    code="TPA818",
    name="cuda-toolkit-path",
    severity=Severity.INFO,
    words=("cuda", "cuda*", "CUDA_*", "lcu*", "lnccl", "lnvrtc"),
    docs=Docs(
        what="Finds `PATH`, `LD_LIBRARY_PATH` and other search paths with the CUDA toolkit in "
        "them. Linker flags such as `-lcudart` count as a warning.",
        why="The toolkit is not on a TPU host. A path to nowhere is harmless; what is linked "
        "against its libraries neither links nor loads.",
        example="export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH",
        instead="Delete it.",
        references=("https://docs.nvidia.com/cuda/cuda-installation-guide-linux/",),
    ),
    valid=(
        Case(
            "export PATH=$HOME/bin:$PATH\n# export PATH=/usr/local/cuda/bin:$PATH\n",
            filename="e.sh",
        ),
        Case("DATA_PATH=/data/cuda/x\nexport PYTHONPATH=/src/cuda:$PYTHONPATH\n", filename="e.sh"),
        Case("LIBS = -lm -lcurl\nPATH := /opt/barracuda/bin:$(PATH)\n", filename="Makefile"),
    ),
    invalid=(
        Case(
            "export LD_LIBRARY_PATH=/usr/local/cuda-12.1/lib64:$LD_LIBRARY_PATH\n"
            'export PATH="$CUDA_HOME/bin:$PATH"\n',
            filename="env.sh",
            lines=(1, 2),
            columns=(8, 8),
        ),
        Case("FROM x\nENV PATH=/usr/local/cuda/bin:${PATH}\n", filename="Dockerfile", lines=(2,)),
        Case(
            "LDFLAGS += -L$(CUDA_HOME)/lib64 -lcudart -lcublas\n",
            filename="Makefile",
            lines=(1,),
            severity=Severity.WARNING,
        ),
        Case(
            "g++ a.o -o a -lcudart -lm\n",
            filename="build.sh",
            lines=(1,),
            severity=Severity.WARNING,
        ),
    ),
)


@RULE.document()
def check(document: Document) -> Iterator[Hit]:
    """Find search paths and linker flags."""
    for variable in variables(document):
        if _PATHS.fullmatch(variable.name) and _TOOLKIT.search(variable.value):
            message = f"`{variable.name}` leads to the CUDA toolkit, which a TPU host lacks"
            yield document.hit(variable.key_span, message, "delete the path", cause="paths")
        elif linked := _LINKED.search(variable.value):
            yield document.hit(
                variable.key_span,
                f"`{linked.group()}` links against CUDA, which a TPU host lacks",
                "build without it",
                severity=Severity.WARNING,
                cause="linked",
            )
    for command in document.commands:
        word = next((w for w in command.words[1:] if _LINKED.fullmatch(w.text)), None)
        if word and command.name != "echo":
            yield document.hit(
                word.span,
                f"`{word.text}` links against CUDA, which a TPU host lacks",
                "build without it",
                severity=Severity.WARNING,
                cause="linked",
            )
