"""TPA815: machines with NVIDIA GPUs, rented from a cloud."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tpu_audit.rules.infrastructure.gpus import ACCELERATOR, MACHINE
from tpu_audit.rules.python.dicts import items
from tpu_audit.rules.rule import Case, Docs, Rule
from tpu_audit.types.report import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpu_audit.rules.files.document import Document
    from tpu_audit.rules.hit import Hit
    from tpu_audit.rules.python.module import Module

_KEYS = frozenset(
    {
        *("acceleratorType", "accelerator_type", "accelerator-type", "accelerator"),
        *("machineType", "machine_type", "machine-type", "instance_type", "InstanceType"),
        *("instanceType", "instanceTypes", "instance_types", "InstanceTypes", "vm_size", "vmSize"),
        *("training_instance_type", "worker_machine_type", "master_machine_type", "masterType"),
        *("workerType", "node_type_id", "driver_node_type_id", "trn_instance_type", "size", "sku"),
        *("node.kubernetes.io/instance-type", "cloud.google.com/machine-family", "vm_type"),
    }
)
_KEYWORDS = (
    *("accelerator_type", "machine_type", "instance_type", "vm_size", "train_instance_type"),
    *("worker_accelerator_type", "training_accelerator_type", "node_type_id"),
)
_COMMANDS = frozenset(
    {"gcloud", "aws", "az", "eksctl", "oci", "terraform", "sagemaker", "pcluster"}
)
_PART = re.compile(r"[^,=\s;]+")
_IN_LINK = re.compile(r"^.*/(?:acceleratorTypes|machineTypes)/")
_ADVICE = "rent TPUs: a TPU VM, through queued resources, or a GKE node pool with a TPU topology"

RULE = Rule(
    code="TPA815",
    name="gpu-machine-type",
    severity=Severity.WARNING,
    words=(
        *(
            "acceleratorType*",
            "accelerator*",
            "machineType",
            "machine_type",
            "instance*",
            "vm_size",
        ),
        *(
            "Instance*",
            "node_type_id",
            "vmSize",
            "gcloud",
            "aws",
            "az",
            "eksctl",
            "workerType",
            "masterType",
        ),
        *("machine", "training_instance_type", "size", "sku", "trn_instance_type", "vm_type"),
    ),
    docs=Docs(
        what="Finds machine types and accelerators with NVIDIA GPUs, of Google Cloud, AWS, Azure "
        "and Oracle: in `gcloud`, `aws` and `az` commands, job and cluster configs, and the "
        "arguments of Vertex AI, SageMaker and Azure ML in Python.",
        why="The job is given GPUs. TPUs are rented otherwise: as TPU VMs, through queued "
        "resources, or in GKE node pools with a TPU topology.",
        example="gcloud compute instances create train --accelerator=type=nvidia-tesla-t4,count=1",
        instead="gcloud compute tpus queued-resources create ...",
        references=(
            "https://cloud.google.com/tpu/docs/queued-resources",
            "https://cloud.google.com/compute/docs/gpus",
            "https://aws.amazon.com/ec2/instance-types/",
        ),
    ),
    valid=(
        Case("gcloud compute instances create x --machine-type=n2-standard-8\n", filename="a.sh"),
        Case(
            "# instance_type: p3.2xlarge\ninstance_type: m5.xlarge\nname: p3.2xlarge\n",
            filename="c.yaml",
        ),
        Case("machine_type: ct5lp-hightpu-4t\naccelerator: nvidia\n", filename="c.yaml"),
        Case('job.run(machine_type="n1-standard-4", accelerator_type=None)\n'),
        Case('echo "aws p3.2xlarge"\ngcloud config set project a2-highgpu\n', filename="e.sh"),
    ),
    invalid=(
        Case(
            "gcloud compute instances create train --accelerator=type=nvidia-tesla-t4,count=1\n"
            "gcloud container node-pools create p \\\n  --machine-type a2-highgpu-1g\n"
            "aws ec2 run-instances --instance-type p4d.24xlarge\n",
            filename="create.sh",
            lines=(1, 3, 4),
            columns=(39, 18, 39),
        ),
        Case(
            "workerPoolSpecs:\n  - machineSpec: {machineType: n1-standard-8, acceleratorType: "
            "NVIDIA_TESLA_V100, acceleratorCount: 2}\n",
            filename="vertex.yaml",
            lines=(2,),
        ),
        Case(
            "available_node_types:\n  gpu:\n    node_config:\n      InstanceType: g5.4xlarge\n"
            "  g:\n    node_config:\n      machineType: g2-standard-8\n      guestAccelerators:\n"
            "        - acceleratorType: projects/p/zones/z/acceleratorTypes/nvidia-l4\n",
            filename="ray.yaml",
            lines=(4, 7, 9),
        ),
        Case(
            "from sagemaker.pytorch import PyTorch\n"
            'est = PyTorch(entry_point="t.py", instance_type="ml.p4d.24xlarge")\n',
            lines=(2,),
        ),
        Case(
            "from google.cloud import aiplatform\nGPU = 'NVIDIA_TESLA_T4'\n"
            "aiplatform.CustomJob(accelerator_type=GPU, machine_type='n1-standard-4')\n",
            lines=(2,),
        ),
        Case(
            'run([{"machine_spec": {"machine_type": "a2-highgpu-1g", "accelerator_count": 1}}])\n',
            lines=(1,),
        ),
        Case("compute:\n  vm_size: Standard_NC24ads_A100_v4\n", filename="azureml.yml", lines=(2,)),
        Case(
            '{"ResourceConfig": {"InstanceType": "ml.g4dn.xlarge", "InstanceCount": 1}}\n',
            filename="job.json",
            lines=(1,),
        ),
    ),
)


@RULE.node(ast.Dict)
def check_dict(literal: ast.Dict, module: Module) -> Iterator[Hit]:
    """Find settings in dicts that Python gives to a cloud's client."""
    for key, value in items(literal):
        if isinstance(key, ast.Constant) and key.value in _KEYS and isinstance(value, ast.Constant):
            name = _gpu_machine(value.value) if isinstance(value.value, str) else ""
            if name:
                yield module.hit(value, _message(name), _ADVICE, cause="machine")


@RULE.document("yaml", "json", "toml")
def check(document: Document) -> Iterator[Hit]:
    """Find settings."""
    for entry in document.entries:
        names = [key for key in entry.keys if isinstance(key, str)]
        named = bool(names) and names[-1] in _KEYS and isinstance(entry.value, str)
        if named and (name := _gpu_machine(str(entry.value))):
            yield document.hit(entry.span, _message(name), _ADVICE, cause="machine")


@RULE.document("shell", "makefile", "dockerfile", "yaml")
def check_commands(document: Document) -> Iterator[Hit]:
    """Find arguments of the clouds' commands."""
    for command in document.commands:
        for word in command.words[1:] if command.name in _COMMANDS else ():
            names = (_gpu_machine(part) for part in _PART.findall(word.text))
            if name := next(filter(None, names), ""):
                yield document.hit(word.span, _message(name), _ADVICE, cause="machine")


@RULE.keyword(*_KEYWORDS)
def check_python(keyword: ast.keyword, module: Module) -> Iterator[Hit]:
    """Find arguments of the clouds' libraries."""
    for possible in module.value(keyword.value):
        name = _gpu_machine(possible.value) if isinstance(possible.value, str) else ""
        if name:
            yield module.hit(possible.node, _message(name), _ADVICE, cause="machine")


def _gpu_machine(text: str) -> str:
    """Return the name of a machine or accelerator with NVIDIA GPUs; empty for others."""
    name = _IN_LINK.sub("", text.strip())
    return name if MACHINE.fullmatch(name) or ACCELERATOR.fullmatch(name) else ""


def _message(name: str) -> str:
    return f"`{name}` is a machine or accelerator with NVIDIA GPUs: no TPU is given"
