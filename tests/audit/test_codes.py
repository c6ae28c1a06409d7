"""The registry of codes: stable, documented, cheap to import."""

from __future__ import annotations

import re
import subprocess
import sys

from tpu_audit.audit.codes import CODES, lookup

STABLE = {
    "TPA901": "missing-op",
    "TPA902": "rejected-call",
    "TPA903": "undecided-op",
    "TPA910": "host-sync",
    "TPA911": "dynamic-shape",
    "TPA912": "emulated-64-bit",
    "TPA913": "attention-misses-flash",
    "TPA914": "transfer-in-step",
    "TPA915": "lost-gradient",
    "TPA916": "float16-compute",
    "TPA917": "guessed-value",
    "TPA918": "attention-written-out",
    "TPA919": "complex-compute",
    "TPA920": "remote-code",
    "TPA921": "quantised-checkpoint",
    "TPA922": "unrolled-loop",
    "TPA923": "int64-compute",
    "TPA924": "kernel-disagrees",
    "TPA925": "runs-on-reference-kernel",
    "TPA926": "no-gradient",
    "TPA927": "stand-in-class",
    "TPA930": "compiled-graph-break",
    "TPA931": "compiled-each-step",
    "TPA932": "compiled-each-shape",
    "TPA933": "compiled-missing-op",
}


def test_codes_are_stable() -> None:
    """Codes and names are a contract: baselines and configuration refer to them."""
    assert {code: entry.name for code, entry in CODES.items()} == STABLE


def test_codes_are_documented() -> None:
    """Each code says what, why and what to do, in sentences."""
    for entry in CODES.values():
        assert re.fullmatch(r"TPA9\d\d", entry.code)
        for text in (entry.summary, entry.why, entry.fix):
            assert text.endswith("."), entry.code
            assert len(text.split()) > 3, entry.code


def test_lookup_takes_code_or_name() -> None:
    """``explain`` accepts either, in any case."""
    assert lookup("tpa901") is lookup("Missing-Op") is CODES["TPA901"]
    assert lookup("TPA999") is None


def test_import_is_light() -> None:
    """Reading the codes imports no heavy package."""
    script = (
        "import sys, tpu_audit.audit.codes, tpu_audit.audit.phase\n"
        "heavy = {'torch', 'transformers', 'huggingface_hub', 'pydantic', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
