"""TPA806: batch jobs that ask for GPUs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.infrastructure.gpus import GPU_WORD
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator

    from tpu_audit.rules.files.document import Command, Document, Word
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_OPTIONS = frozenset(
    {
        *("--gpus", "-G", "--gpus-per-node", "--gpus-per-task", "--gpus-per-socket", "--gpu-bind"),
        *("--gpu-freq", "--cpus-per-gpu", "--mem-per-gpu", "--ntasks-per-gpu"),
    }
)
_GRES = re.compile(r"(?:^|,)gres/gpu|(?:^|,)(?:gpu|shard|mps)(?:$|[:,=])", re.IGNORECASE)
_NONE = re.compile(r"(?:gres/)?gpu[:=]0|0")
_MODULE = re.compile(
    r"(?:[\w.-]*/)?(?:cuda(?:toolkit|core)?|cudnn|nccl|nvhpc|nvidia-?hpc\w*)(?:$|[-/_.]\S*|\d\S*)",
    re.IGNORECASE,
)
_PBS = re.compile(
    r"(?:^|[:,+=])n?gpus?=\d|(?:^|[:,])gpu_(?:model|type|id)=|accelerator=(?:nvidia|true)",
    re.IGNORECASE,
)
_WRITTEN = re.compile(
    r"^[ \t]*#SBATCH[ \t]+((?:--gres[= ]gpu|--gpus(?:-per-\w+)?[= ]|-G ?\d)\S*)", re.MULTILINE
)
_LSF = re.compile(r"ngpus\w*\s*=", re.IGNORECASE)
_ADVICE = "run the job on a TPU VM, through queued resources or on GKE"

RULE = Rule(
    code="TPA806",
    name="slurm-gpus",
    severity=Severity.WARNING,
    words=(
        *("gpu", "gpus", "G", "gres", "cuda", "cudnn", "nccl", "ngpus", "cudatoolkit", "nvhpc"),
        *("CUDA", "CUDA*", "cuDNN", "NCCL", "NVHPC"),
        *("cudatoolkit*", "--constraint*", "ngpus*", "cuda*"),
    ),
    docs=Docs(
        what="Finds what asks a batch system for GPUs: `#SBATCH --gres=gpu:4`, `--gpus*` of "
        "`sbatch`, `srun` and `salloc`, PBS, LSF and SGE requests, and `module load cuda`. "
        "Partitions and constraints that merely name GPUs count as info.",
        why="The job waits for a GPU node, and there is no CUDA module on a TPU VM. TPUs are "
        "reached through TPU VMs, queued resources or GKE.",
        example="#SBATCH --gres=gpu:a100:4\nmodule load cuda/12.1",
        instead="Start the script on a TPU VM, as a queued resource, or as a job on GKE.",
        references=(
            "https://slurm.schedmd.com/gres.html",
            "https://cloud.google.com/tpu/docs/queued-resources",
        ),
    ),
    valid=(
        Case('"""Write `#SBATCH --gres=gpu:1` first."""\nHEAD = "#SBATCH --time=1"\n'),
        Case(
            "#!/bin/bash\n#SBATCH --time=1:00\n#SBATCH --gres=tmpdisk:10\npython t.py\n",
            filename="a.sh",
        ),
        Case(
            "#!/bin/bash\n##SBATCH --gres=gpu:1\n# SBATCH --gpus=1\necho --gres=gpu\n",
            filename="a.slurm",
        ),
        Case(
            "python train.py --gpus 8 --gres=gpu:1\nmodule load gcc/12 python\n", filename="run.sh"
        ),
        Case(
            "#SBATCH --job-name=gpu-test\n#SBATCH --output=cuda.log\nmodule list\n", filename="j.sh"
        ),
        Case("#!/bin/bash\n#SBATCH --gres=gpu:0\n#SBATCH --gpus=0\n", filename="job.sh"),
        Case("#!/bin/bash\nsrun python train.py --gpus 4 -G 2\n", filename="job.sh"),
    ),
    invalid=(
        Case(
            "#!/bin/bash\n#SBATCH --gres=gpu:a100:3\n"
            'echo "CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES"\npython train.py\n',
            filename="run.sh",
            lines=(2,),
            columns=(9,),
        ),
        Case(
            "#!/bin/bash\n#SBATCH -N 2 --gpus-per-node 8   # all\n#SBATCH -G 4\n"
            "module purge && module load gcc/12 cuda/12.1 cudnn\nml CUDA\n"
            "srun --gpus=1 python t.py\n",
            filename="job.sbatch",
            lines=(2, 3, 4, 4, 5, 6),
        ),
        Case(
            "#!/bin/bash\n#PBS -l select=1:ncpus=8:ngpus=4\n#PBS -q batch\n",
            filename="job.pbs",
            lines=(2,),
        ),
        Case(
            '#!/bin/bash\n#BSUB -gpu "num=2:mode=exclusive_process"\n'
            '#BSUB -R "rusage[ngpus_excl_p=1]"\n',
            filename="job.lsf",
            lines=(2, 3),
        ),
        Case(
            "def script(n):\n    lines = ['#!/bin/bash', '#SBATCH -N 1']\n"
            "    lines.append(f'#SBATCH --gres=gpu:{n}')\n"
            '    return "#!/bin/bash\\n#SBATCH --gpus-per-node=8\\nsrun x"\n',
            filename="launch.py",
            lines=(3, 4),
        ),
        Case("#$ -l gpu=1\n#$ -cwd\npython t.py\n", filename="sge.sh", lines=(1,)),
        Case("module purge\nml CUDA/12.1.1 gcc/12\n", filename="job.sh", lines=(2,)),
        Case(
            "#!/bin/bash\n#SBATCH --partition=gpu-a100\n#SBATCH -C v100\n",
            filename="job.slurm",
            lines=(2, 3),
            severity=Severity.INFO,
        ),
        Case(
            "train:\n\tsbatch --gres gpu:1 --wrap 'python t.py'\n", filename="Makefile", lines=(2,)
        ),
        Case("salloc --tres-per-node=gres/gpu:2 bash\n", filename="alloc.sh", lines=(1,)),
    ),
)


@RULE.string("#SBATCH")
def check_python(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find directives in batch scripts that Python code writes."""
    for match in _WRITTEN.finditer(str(constant.value)):
        message = f"`{match.group(1)}` asks the batch system for GPUs: no node with TPUs is given"
        yield module.hit(constant, message, _ADVICE, cause="request")
        return


@RULE.document("shell", "makefile", "dockerfile", "yaml")
def check(document: Document) -> Iterator[Hit]:
    """Find requests in directives and commands, and modules of CUDA."""
    for command in document.commands:
        find = _FINDERS.get(command.name)
        if find is not None:
            yield from find(document, command)


def _slurm(document: Document, command: Command) -> Iterator[Hit]:
    for head, value, word in _options(command):
        if _NONE.fullmatch(value):
            continue
        if head in _OPTIONS:
            yield _hit(document, word, f"`{head}`")
        elif head in {"--gres", "--tres-per-node", "--tres-per-task"} and _GRES.search(value):
            yield _hit(document, word, f"`{head}={value}`")
        elif head in {"--partition", "-p", "--constraint", "-C", "--qos"} and GPU_WORD.search(
            value
        ):
            yield document.hit(
                word.span,
                f"`{head} {value}` chooses nodes with GPUs",
                _ADVICE,
                severity=Severity.INFO,
                cause="partition",
            )


def _options(command: Command) -> Iterator[tuple[str, str, Word]]:
    """Yield option, value and word of a Slurm command, up to the program that it runs."""
    words = command.words[1:]
    place = 0
    while place < len(words):
        word = words[place]
        head, equals, value = word.text.partition("=")
        if not head.startswith("-"):
            return
        follows = place + 1 < len(words) and not words[place + 1].text.startswith("-")
        if not equals and follows and not _is_flag(head):
            value = words[place + 1].text
            place += 1
        if re.fullmatch(r"-[GpC]\S+", head):
            head, value = head[:2], head[2:]
        yield head, value, word
        place += 1


def _is_flag(option: str) -> bool:
    return option in {
        *("--exclusive", "--pty", "-l", "--label", "-O", "--overcommit", "--unbuffered", "-u"),
        *("--requeue", "--no-requeue", "--parsable", "-W", "--wait", "-I", "--overlap", "-K", "-v"),
        *("-H", "--hold", "-s", "--oversubscribe", "--verbose", "-Q", "--quiet", "--x11"),
    }


def _pbs(document: Document, command: Command) -> Iterator[Hit]:
    return _matching(document, command, _PBS)


def _lsf(document: Document, command: Command) -> Iterator[Hit]:
    words = [word.text for word in command.words]
    if "-gpu" in words:
        yield _hit(document, command.words[words.index("-gpu")], "`-gpu`")
        return
    yield from _matching(document, command, _LSF)


def _matching(document: Document, command: Command, pattern: re.Pattern[str]) -> Iterator[Hit]:
    for word in command.words[1:]:
        if pattern.search(word.text):
            yield _hit(document, word, f"`{word.text}`")
            return


def _modules(document: Document, command: Command) -> Iterator[Hit]:
    words = command.words
    verbs = {"load", "add", "try-load", "swap", "switch"}
    if command.name == "module" and not verbs & {word.text for word in words[1:2]}:
        return
    for word in words[1:]:
        if _MODULE.fullmatch(word.text):
            yield document.hit(
                word.span,
                f"a TPU VM has no module `{word.text}`, and nothing would use it",
                "delete it",
                cause="module",
            )


def _hit(document: Document, word: Word, what: str) -> Hit:
    message = f"{what} asks the batch system for GPUs: no node with TPUs is given"
    return document.hit(word.span, message, _ADVICE, cause="request")


_FINDERS: dict[str, Callable[[Document, Command], Iterator[Hit]]] = {
    **dict.fromkeys(("#SBATCH", "#FLUX", "sbatch", "srun", "salloc"), _slurm),
    **dict.fromkeys(("#PBS", "qsub", "#COBALT", "#$"), _pbs),
    **dict.fromkeys(("#BSUB", "bsub"), _lsf),
    **dict.fromkeys(("module", "ml"), _modules),
}
