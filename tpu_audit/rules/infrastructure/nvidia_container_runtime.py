"""TPA804: containers that are given NVIDIA GPUs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Command, Document, Entry, Word
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_MESSAGE = (
    "{what} asks Docker for NVIDIA's runtime, which a TPU VM lacks: the container does not start"
)
_ADVICE = "drop it and give the container the TPU's devices: run it privileged on a TPU VM"
_ENGINES = frozenset({"docker", "podman", "nerdctl", "docker-compose"})
_HPC = frozenset({"singularity", "apptainer"})
_GPU_DEVICE = re.compile(r"nvidia\.com/gpu\b|/dev/nvidia")
_RUNTIME_KEYS = frozenset({"runtime", "default-runtime", "container_runtime"})

RULE = Rule(
    code="TPA804",
    name="nvidia-container-runtime",
    severity=Severity.ERROR,
    words=("nvidia*", "gpus", "gpu", "nv", "nvccli"),
    docs=Docs(
        what="Finds compose services that reserve NVIDIA devices, `runtime: nvidia`, "
        "`docker run --gpus`, `apptainer --nv`, and `runArgs` of dev containers.",
        why="The NVIDIA container runtime is not installed on a TPU VM: Docker refuses to start "
        "the container.",
        example="docker run --gpus all image python train.py",
        instead="docker run --privileged image python train.py",
        references=(
            "https://docs.docker.com/compose/how-tos/gpu-support/",
            "https://cloud.google.com/tpu/docs/run-in-container",
        ),
    ),
    valid=(
        Case("parser.add_argument('--gpus', default=1)\nargs = ['python', '--gpus', '2']\n"),
        Case(
            "services:\n  app:\n    privileged: true\n    image: python:3.12\n",
            filename="compose.yaml",
        ),
        Case(
            "services:\n  a:\n    image: x\n    runtime: runc\n    # runtime: nvidia\n",
            filename="docker-compose.yml",
        ),
        Case(
            "docker run --privileged img python t.py --gpus 4\necho --gpus all\n", filename="r.sh"
        ),
        Case("python train.py --gpus 8 --nv\n# docker run --gpus all x\n", filename="run.sh"),
        Case("trainer:\n  gpus: all\n  devices: [gpu]\n", filename="conf/trainer.yaml"),
    ),
    invalid=(
        Case(
            "services:\n  app:\n    image: x\n    deploy: {resources: {reservations: {devices: "
            "[{driver: nvidia, capabilities: [gpu]}]}}}\n",
            filename="compose.yaml",
            lines=(4,),
        ),
        Case(
            "services:\n  app:\n    build: .\n    deploy:\n      resources:\n"
            "        reservations:\n"
            '          devices:\n            - capabilities: ["gpu"]\n              count: 1\n',
            filename="docker-compose.gpu.yml",
            lines=(8,),
        ),
        Case(
            "services:\n  a: {build: ., runtime: nvidia}\n  b: {build: ., gpus: all}\n",
            filename="docker-compose.yml",
            lines=(2, 3),
        ),
        Case(
            "sudo docker run -it --rm --gpus '\"device=0,1\"' \\\n  img python train.py\n"
            "nvidia-docker run img\ndocker run --runtime=nvidia img\n",
            filename="run.sh",
            lines=(1, 3, 4),
            columns=(26, 1, 12),
        ),
        Case(
            "x-gpu: &gpu\n  deploy:\n    resources:\n      reservations:\n        devices:\n"
            "          - driver: nvidia\n            capabilities: [gpu]\nservices:\n"
            "  a: {<<: *gpu}\n",
            filename="deploy/nvidia.yml",
            lines=(6,),
        ),
        Case(
            "import subprocess, docker\n"
            "subprocess.run(['docker', 'run', '--rm', '--gpus', 'all', image])\n"
            "os.system('docker run --gpus all img')\n"
            "client = docker.from_env()\n"
            "client.containers.run(image, runtime='nvidia', device_requests=[\n"
            "    docker.types.DeviceRequest(count=-1, capabilities=[['gpu']])])\n",
            lines=(2, 3, 5, 6),
        ),
        Case(
            "on: push\njobs:\n  a:\n    container: {image: x, options: --gpus all --shm-size 8g}\n",
            filename=".github/workflows/a.yml",
            lines=(4,),
            severity=Severity.WARNING,
        ),
        Case("podman run --device nvidia.com/gpu=all img\n", filename="run.sh", lines=(1,)),
        Case("run:\n\tdocker run --gpus=all $(IMG)\n", filename="Makefile", lines=(2,)),
        Case(
            "#!/bin/bash\nsrun apptainer exec --nv img.sif python train.py\n",
            filename="job.slurm",
            lines=(2,),
        ),
        Case(
            '{"image": "python:3.12", "runArgs": ["--gpus", "all", "--ipc=host"]}\n',
            filename=".devcontainer/devcontainer.json",
            lines=(1,),
        ),
        Case('{"default-runtime": "nvidia"}\n', filename="docker/daemon.json", lines=(1,)),
    ),
)


@RULE.document("yaml", "json")
def check_compose(document: Document) -> Iterator[Hit]:
    """Find services that reserve GPUs, also in overrides that name no image."""
    reported: set[object] = set()
    compose = "compose" in document.flavours
    for entry in document.entries:
        keys = entry.keys
        if not compose and "reservations" not in keys:
            continue
        if "devices" in keys and _is_gpu_device(entry):
            device = (entry.stream, keys[: keys.index("devices") + 2])
            if device not in reported:
                reported.add(device)
                yield _hit(document, entry, "this device")
        elif entry.key == "gpus" and keys[:1] == ("services",) and _gives_any(entry):
            yield _hit(document, entry, "`gpus:`")


@RULE.document("yaml", "json")
def check_runtime(document: Document) -> Iterator[Hit]:
    """Find `runtime: nvidia`."""
    for entry in document.entries:
        if entry.key in _RUNTIME_KEYS and entry.text() == "nvidia":
            yield _hit(document, entry, f"`{entry.key}: nvidia`")


@RULE.document("ci")
def check_options(document: Document) -> Iterator[Hit]:
    """Find options of the containers that CI jobs run in."""
    for entry in document.entries:
        if entry.key == "options" and re.search(r"--gpus\b|--runtime[= ]nvidia", str(entry.value)):
            message = _MESSAGE.format(what=f"`{entry.value}`")
            yield document.hit(
                entry.span, message, _ADVICE, severity=Severity.WARNING, cause="runtime"
            )


@RULE.document()
def check_commands(document: Document) -> Iterator[Hit]:
    """Find commands that start a container with GPUs, and such options of dev containers."""
    for command in document.commands:
        words = command.words
        if words and words[0].text.startswith("-") and document.kind == "json":
            yield from _options(document, list(words))
        elif "nvidia-docker" in command.name:
            yield _word_hit(document, words[0], "`nvidia-docker`")
        else:
            yield from _options(document, _own_options(command))


@RULE.string("--gpus", "--runtime=nvidia")
def check_arguments(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find `docker run` with GPUs among the arguments that Python code passes on."""
    parent = module.parent(constant)
    words = str(constant.value).split()
    if isinstance(parent, ast.List | ast.Tuple):
        texts = [str(e.value) for e in parent.elts if isinstance(e, ast.Constant)]
        runs = bool(_ENGINES & {*texts}) and words[:1] and words[0].startswith("--")
    else:
        runs = words[:2] == ["docker", "run"] and not isinstance(parent, ast.Expr)
    if runs:
        yield module.hit(constant, _MESSAGE.format(what="`--gpus`"), _ADVICE, cause="runtime")


@RULE.call("docker.types.DeviceRequest")
def check_sdk(call: ast.Call, _: str, module: Module) -> Iterator[Hit]:
    """Find requests through Docker's library."""
    if "gpu" in module.code(call).lower():
        message = _MESSAGE.format(what="this device request")
        yield module.hit(call, message, _ADVICE, cause="runtime")


@RULE.keyword("runtime")
def check_keyword(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find containers that Docker's library starts under NVIDIA's runtime."""
    if "nvidia" in module.value(keyword.value).strings():
        message = _MESSAGE.format(what='`runtime="nvidia"`')
        yield module.hit(keyword, message, _ADVICE, cause="runtime")


def _options(document: Document, words: list[Word]) -> Iterator[Hit]:
    for place, word in enumerate(words):
        head, _, tail = word.text.partition("=")
        value = tail or (words[place + 1].text if place + 1 < len(words) else "")
        if head in {"--gpus", "--nv", "--nvccli"} or (head == "--runtime" and value == "nvidia"):
            yield _word_hit(document, word, f"`{head}`")
        elif head == "--device" and _GPU_DEVICE.search(value):
            yield _word_hit(document, word, f"`--device {value}`")


def _own_options(command: Command) -> list[Word]:
    """Return the engine's words up to the image, behind which the container's own begin."""
    names = [word.text.rpartition("/")[2] for word in command.words]
    engine = next((place for place, name in enumerate(names) if name in _ENGINES | _HPC), None)
    if engine is None or (engine and command.name not in {"srun", "mpirun", "sudo", "time"}):
        return []
    words = list(command.words[engine + 1 :])
    wanted = {"--nv", "--nvccli"} if names[engine] in _HPC else {"--gpus", "--runtime", "--device"}
    end = _image_place(words)
    own = words[:end]
    return [w for place, w in enumerate(words[: end + 1]) if _belongs(w, place, own, wanted)]


def _belongs(word: Word, place: int, own: list[Word], wanted: set[str]) -> bool:
    head = word.text.partition("=")[0]
    return head in wanted or bool(
        place and own[place - 1 : place] and own[place - 1].text in wanted
    )


def _image_place(words: list[Word]) -> int:
    """Return the place of the image: the first word behind the verb that belongs to no option."""
    before = ""
    verb = False
    for place, word in enumerate(words):
        if word.text.startswith("-") or (before.startswith("-") and _takes_value(before)):
            pass
        elif not verb:
            verb = True
        else:
            return place
        before = word.text
    return len(words)


def _takes_value(option: str) -> bool:
    return "=" not in option and option not in _FLAGS and not _SHORT_FLAGS.fullmatch(option)


_FLAGS = frozenset(
    {
        *("--rm", "--privileged", "--interactive", "--tty", "--detach", "--init", "--read-only"),
        *("--nv", "--nvccli", "--cleanenv", "--containall", "--writable", "--writable-tmpfs"),
        *("--no-home", "--fakeroot", "--no-healthcheck", "--publish-all", "--oom-kill-disable"),
    }
)
_SHORT_FLAGS = re.compile(r"-[itdqPcCe]*[itdqP]")


def _is_gpu_device(entry: Entry) -> bool:
    keys, text = entry.keys, entry.text()
    if entry.container:
        return False
    if entry.key == "driver":
        return text in {"nvidia", "cdi"} and "reservations" in keys
    if "capabilities" in keys:
        return text in {"gpu", "nvidia", "compute"}
    return _GPU_DEVICE.search(text) is not None


def _gives_any(entry: Entry) -> bool:
    return entry.container or entry.text() not in {"", "0", "none", "false"}


def _hit(document: Document, entry: Entry, what: str) -> Hit:
    return document.hit(
        entry.key_span or entry.span, _MESSAGE.format(what=what), _ADVICE, cause="runtime"
    )


def _word_hit(document: Document, word: Word, what: str) -> Hit:
    return document.hit(word.span, _MESSAGE.format(what=what), _ADVICE, cause="runtime")
