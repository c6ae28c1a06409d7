"""TPA805: Kubernetes workloads that ask for NVIDIA GPUs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpu_audit.rules.edits import Applicability
from tpu_audit.rules.infrastructure.places import part
from tpu_audit.rules.python import repair
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Command, Document, Entry, Word
    from tpu_audit.rules.hit import Hit, Span
    from tpu_audit.rules.python.module import Module

_RESOURCE = re.compile(r"(?:requests\.|limits\.)?(nvidia\.com/(?:gpu(?:\.shared)?|mig-[\w.-]+))")
_IN_TEXT = re.compile(
    r"(?<![\w./-])(?:requests\.|limits\.)?(nvidia\.com/gpu(?:\.shared)?)(?=[\"':=\\\]])"
)
_LABEL = re.compile(
    r"cloud\.google\.com/gke-(?:accelerator|gpu-[\w-]+)|nvidia\.com/[\w.-]+"
    r"|k8s\.amazonaws\.com/accelerator|karpenter\.k8s\.aws/instance-gpu-[\w-]+"
    r"|(?:feature\.node\.kubernetes\.io/)?pci-10de\.present|gpu\.nvidia\.com/[\w.-]+"
)
_TPU = "google.com/tpu"
_ADVICE = (
    "request `google.com/tpu`, and select nodes by `cloud.google.com/gke-tpu-accelerator` and "
    "`cloud.google.com/gke-tpu-topology`"
)
_PENDING = "a TPU node has no `{name}`: the pod stays pending"
_SELECTORS = frozenset({"nodeSelector", "node_selector", "nodeSelectors", "node_selectors"})

RULE = Rule(
    code="TPA805",
    name="kubernetes-gpu-resource",
    severity=Severity.ERROR,
    words=("nvidia", "accelerator", "10de", "gpu"),
    docs=Docs(
        what="Finds `nvidia.com/gpu` among resources, node selectors and affinities for GPU "
        "nodes, tolerations of their taint and `runtimeClassName: nvidia`, in manifests, Helm "
        "values and Python clients, in block and flow style.",
        why="Nodes with TPUs offer `google.com/tpu` and carry other labels: the scheduler finds "
        "no node, and the pod stays pending.",
        example="resources:\n  limits:\n    nvidia.com/gpu: 4",
        instead="resources:\n  limits:\n    google.com/tpu: 4\nnodeSelector:\n"
        "  cloud.google.com/gke-tpu-accelerator: ...\n  cloud.google.com/gke-tpu-topology: ...",
        fix_safety="Unsafe: the resource's name and the taint are rewritten; the count, and the "
        "selectors of accelerator and topology, are yours to choose.",
        references=(
            "https://cloud.google.com/kubernetes-engine/docs/how-to/tpus",
            "https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/",
        ),
    ),
    valid=(
        Case("resources: {limits: {google.com/tpu: 4}}\n", filename="pod.yaml"),
        Case(
            "resources:\n  limits:\n    cpu: 1\n    # nvidia.com/gpu: 1\n"
            "nodeSelector:\n  cloud.google.com/gke-tpu-accelerator: x\n  accelerator: tpu\n",
            filename="pod.yaml",
        ),
        Case("resources:\n  limits:\n    nvidia.com/gpu: 0\n", filename="values.yaml"),
        Case('# limits={"nvidia.com/gpu": 1}\nNOTE = "ask for nvidia.com/gpu nodes"\n'),
        Case(
            "affinity: {x: {matchExpressions: [{key: nvidia.com/gpu.present, "
            "operator: DoesNotExist}]}}\n",
            filename="pod.yaml",
        ),
        Case('homepage: "https://www.nvidia.com/gpu"\nvendor: nvidia\n', filename="about.yml"),
    ),
    invalid=(
        Case(
            "resources: { limits: { nvidia.com/gpu: 1 } }\n---\nresources:\n  requests:\n"
            '    nvidia.com/gpu: "1"\n',
            filename="conf.yaml",
            lines=(1, 5),
            columns=(24, 5),
            fixed="resources: { limits: { google.com/tpu: 1 } }\n---\nresources:\n  requests:\n"
            '    google.com/tpu: "1"\n',
        ),
        Case(
            "apiVersion: v1\nkind: Pod\nspec:\n  runtimeClassName: nvidia\n  nodeSelector:\n"
            "    cloud.google.com/gke-accelerator: nvidia-l4\n  tolerations:\n"
            "    - key: nvidia.com/gpu\n      operator: Exists\n"
            "  affinity: {nodeAffinity: {x: [{matchExpressions: "
            "[{key: nvidia.com/gpu.product, operator: In}]}]}}\n",
            filename="pod.yaml",
            lines=(4, 6, 8, 10),
            fixed="apiVersion: v1\nkind: Pod\nspec:\n  runtimeClassName: nvidia\n  nodeSelector:\n"
            "    cloud.google.com/gke-accelerator: nvidia-l4\n  tolerations:\n"
            "    - key: google.com/tpu\n      operator: Exists\n"
            "  affinity: {nodeAffinity: {x: [{matchExpressions: "
            "[{key: nvidia.com/gpu.product, operator: In}]}]}}\n",
        ),
        Case(
            'resources:\n  limits:\n    "nvidia.com/gpu": {{ .Values.gpus | quote }}\n'
            "    {{- if .Values.mig }}\n    nvidia.com/mig-1g.10gb: 1\n    {{- end }}\n",
            filename="chart/templates/deploy.yaml",
            lines=(3, 5),
            fixed='resources:\n  limits:\n    "google.com/tpu": {{ .Values.gpus | quote }}\n'
            "    {{- if .Values.mig }}\n    nvidia.com/mig-1g.10gb: 1\n    {{- end }}\n",
        ),
        Case(
            "kind: ClusterQueue\nspec:\n  resourceGroups:\n"
            "    - coveredResources: [cpu, nvidia.com/gpu]\n      flavors:\n"
            "        - resources:\n            - {name: nvidia.com/gpu, nominalQuota: 8}\n",
            filename="queue.yaml",
            lines=(4, 7),
            fixed="kind: ClusterQueue\nspec:\n  resourceGroups:\n"
            "    - coveredResources: [cpu, google.com/tpu]\n      flavors:\n"
            "        - resources:\n            - {name: google.com/tpu, nominalQuota: 8}\n",
        ),
        Case(
            '{"kind": "ResourceQuota", "spec": {"hard": {"requests.nvidia.com/gpu": 8}}}\n',
            filename="quota.json",
            lines=(1,),
            fixed='{"kind": "ResourceQuota", "spec": {"hard": {"requests.google.com/tpu": 8}}}\n',
        ),
        Case(
            "from kubernetes import client\n"
            'client.V1ResourceRequirements(limits={"nvidia.com/gpu": "1", "cpu": "4"})\n',
            lines=(2,),
            columns=(39,),
            fixed="from kubernetes import client\n"
            'client.V1ResourceRequirements(limits={"google.com/tpu": "1", "cpu": "4"})\n',
        ),
        Case(
            'kubectl run t --image=x --overrides=\'{"limits": {"nvidia.com/gpu": 1}}\'\n',
            filename="run.sh",
            lines=(1,),
            fixed='kubectl run t --image=x --overrides=\'{"limits": {"google.com/tpu": 1}}\'\n',
        ),
        Case(
            "resource_pool:\n  gke:\n    node_selector: {k8s.amazonaws.com/accelerator: a100}\n",
            filename="pool.yaml",
            lines=(3,),
        ),
    ),
)


@RULE.document("yaml", "json", "toml")
def check(document: Document) -> Iterator[Hit]:
    """Find requests, selectors, tolerations and the runtime class."""
    for entry in document.entries:
        key = str(entry.key)
        if entry.key_span and (match := _RESOURCE.fullmatch(key)) and _asks(entry):
            yield _resource(document, entry.key_span, match.group(1))
        elif entry.key_span and set(entry.keys[:-1]) & _SELECTORS and _LABEL.fullmatch(key):
            yield _selector(document, entry.key_span, key)
        elif key == "key" and isinstance(entry.value, str):
            yield from _expression(document, entry)
        elif _is_quota(entry):
            yield _resource(document, entry.span, str(entry.value))
        elif key in {"runtimeClassName", "runtime_class_name"} and entry.text() == "nvidia":
            message = "TPU nodes have no runtime class `nvidia`: the pod is refused"
            yield document.hit(entry.span, message, "delete it")


@RULE.document("shell", "makefile", "dockerfile", "yaml")
def check_commands(document: Document) -> Iterator[Hit]:
    """Find requests in the arguments of commands."""
    for _, word in _words(document.commands):
        for match in _IN_TEXT.finditer(document.source.slice(word.span)):
            yield _resource(document, part(document, word.span, match, 1), match.group(1))


@RULE.string("nvidia.com/")
def check_python(constant: ast.Constant, module: Module) -> Iterator[Hit]:
    """Find requests that Python clients make."""
    match = _RESOURCE.fullmatch(str(constant.value))
    if match is None:
        return
    code = module.code(constant)
    fix = None
    if match.group(1) == "nvidia.com/gpu":
        edit = module.edit(constant, code.replace(match.group(1), _TPU))
        fix = repair.fix(module, Applicability.UNSAFE, edit)
    yield module.hit(
        constant, _PENDING.format(name=match.group(1)), _ADVICE, fix=fix, cause="resource"
    )


def _is_quota(entry: Entry) -> bool:
    """Tell a resource that Kueue counts: an item of ``coveredResources``, a quota's ``name``."""
    listed = entry.keys[-2:-1] == ("coveredResources",)
    named = entry.key == "name" and entry.keys[-3:-2] == ("resources",)
    text = entry.value if isinstance(entry.value, str) else ""
    return (listed or named) and _RESOURCE.fullmatch(text) is not None


def _asks(entry: Entry) -> bool:
    return not (entry.text() == "0" and not entry.container)


def _resource(document: Document, span: Span, name: str) -> Hit:
    match = re.search(re.escape(name), document.source.slice(span))
    fix = None
    if match and name == "nvidia.com/gpu":
        fix = document.replace(part(document, span, match), _TPU, Applicability.UNSAFE)
    return document.hit(span, _PENDING.format(name=name), _ADVICE, fix=fix, cause="resource")


def _selector(document: Document, span: Span, label: str) -> Hit:
    return document.hit(
        span,
        f"no TPU node carries the label `{label}`: the pod stays pending",
        _ADVICE,
        cause="selector",
    )


def _expression(document: Document, entry: Entry) -> Iterator[Hit]:
    """Find labels in affinities, and the taint of GPU nodes in tolerations."""
    name, keys = str(entry.value), entry.keys
    if {"matchExpressions", "requirements"} & {*keys} and _LABEL.fullmatch(name):
        if not _keeps_off(document, entry):
            yield _selector(document, entry.span, name)
    elif keys[-3:-2] == ("tolerations",) and _LABEL.fullmatch(name):
        match = re.search(re.escape(name), document.source.slice(entry.span))
        fix = None
        if match and name == "nvidia.com/gpu":
            place = part(document, entry.span, match)
            fix = document.replace(place, _TPU, Applicability.UNSAFE)
        message = f"`{name}` is the taint of GPU nodes; that of TPU nodes is `{_TPU}`"
        yield document.hit(entry.span, message, f"tolerate `{_TPU}`", fix=fix, cause="taint")


def _keeps_off(document: Document, entry: Entry) -> bool:
    """Tell ``operator: DoesNotExist`` beside a label: the pod keeps off GPU nodes."""
    beside = (*entry.keys[:-1], "operator")
    return any(
        other.keys == beside and other.text() in {"doesnotexist", "notin"}
        for other in document.entries
        if other.stream == entry.stream
    )


def _words(commands: tuple[Command, ...]) -> Iterator[tuple[Command, Word]]:
    return ((command, word) for command in commands for word in command.words[1:])
