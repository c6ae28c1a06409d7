"""All rules together: what has one cause is one finding, of the rule that says most about it."""

from __future__ import annotations

import pytest

from tpu_audit.check.file_check import check_bytes
from tpu_audit.rules import catalogue

LINES = (
    ('s = torch.load(p, map_location=torch.device("cuda"))', {"TPA112"}),
    ('s = torch.load(p, map_location=torch.device("cuda", 0))', {"TPA112"}),
    ('torch.cuda.set_device(torch.device("cuda:0"))', {"TPA117"}),
    ("with torch.cuda.device(1): f()", {"TPA117"}),
    ('parts = [b.to(f"cuda:{i % n}") for i, b in enumerate(blocks)]', {"TPA116"}),
    ('kind = torch.half if x.device.type == "cuda" else torch.float', {"TPA304"}),
    ('with torch.cuda.amp.autocast(on and device.type == "cuda"): f()', {"TPA301"}),
    ('a = TrainingArguments("o", dataloader_pin_memory=True)', {"TPA709"}),
    ('g = torch.Generator(device="cuda:0")', {"TPA206"}),
    ('m = AutoModel.from_pretrained("x", device_map={"": "cuda:0"})', {"TPA114"}),
    ('torch.set_default_tensor_type("torch.cuda.FloatTensor")', {"TPA106"}),
    ('device = "cuda" if torch.cuda.is_available() else "cpu"', {"TPA109"}),
    ('backend = "nccl" if torch.cuda.is_available() else "gloo"', {"TPA221"}),
    # Two causes: each has to be changed by itself.
    ("x = x.half().cuda()", {"TPA103", "TPA303"}),
    ('torch.cuda.synchronize(device="cuda:0")', {"TPA102", "TPA201"}),
    ('n = torch.compile(m, backend="inductor", mode="max-autotune")', {"TPA501", "TPA503"}),
)
TEST = """\
import pytest
import torch
@pytest.mark.skipif(not torch.cuda.is_available(), reason="GPU")
def test_a():
    assert run()
"""
FILES = (
    ("tests/test_a.py", TEST, {"TPA813"}),
    ("conf/trainer.yaml", "trainer:\n  accelerator: gpu\n  devices: 2\n", {"TPA712"}),
    ("conf/run.yaml", "accelerator: gpu\n", {"TPA113"}),
    (
        "amp.py",
        "try:\n    import apex\n    import apex.amp\nexcept ImportError:\n    pass\n",
        {"TPA608"},
    ),
)


def found(name: str, text: str) -> list[str]:
    """Return the codes of what all rules find in a file, in order."""
    return [item.code for item in check_bytes(name, text.encode(), catalogue.rules()).items]


@pytest.mark.parametrize(("line", "codes"), LINES)
def test_lines(line: str, codes: set[str]) -> None:
    """Each cause on a line is found once."""
    text = f"import torch\nfrom transformers import AutoModel, TrainingArguments\n{line}\n"
    assert sorted(found("case.py", text)) == sorted(codes)


@pytest.mark.parametrize(("name", "text", "codes"), FILES)
def test_files(name: str, text: str, codes: set[str]) -> None:
    """Each cause in a file is found once."""
    assert sorted(found(name, text)) == sorted(codes)
