"""Runs scripts and notebooks on the CPU, or on the pretended TPU with a record of their calls.

``python script_run.py cpu|pretended`` with a JSON list of command lines on stdin: each a path and
its arguments. Each runs in a process of its own, forked once PyTorch is there. Prints one line of
JSON: for each script its exit code, what it printed, and its errors. On the pretended device a
script's last line is JSON too: how many calls ran on tensors of the TPU and of the host, by op,
and the error that ended the script, if one did.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.utils._pytree import tree_map

from tests.support.device import take_device


def run(path: Path, arguments: list[str]) -> None:
    """Run a script as the main program; a notebook's code cells one after the other."""
    sys.argv = [str(path), *arguments]
    if path.suffix != ".ipynb":
        runpy.run_path(str(path), run_name="__main__")
        return
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "notebook.py"
        script.write_text(code_of(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
        runpy.run_path(str(script), run_name="__main__")


def code_of(notebook: dict[str, Any]) -> str:
    """Return the Python of a notebook's code cells, without magics."""
    cells = ("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code")
    lines = [line for cell in cells for line in cell.splitlines()]
    return "\n".join(line for line in lines if not line.startswith(("%", "!"))) + "\n"


def record(path: Path, arguments: list[str]) -> dict[str, Any]:
    """Run on the pretended device, on fake tensors; return what ran where."""
    from tpu_audit.trace import shadow
    from tpu_audit.trace.fake import fake_mode, patched_for_fakes
    from tpu_audit.trace.places import Places
    from tpu_audit.trace.recorder import Recorder

    stand_in()
    recorder = Recorder(Places())
    error = None
    shadow.forget_all()
    with (
        patched_for_fakes(),
        fake_mode(),
        recorder,
        torch.autograd.set_multithreading_enabled(False),
    ):
        recorder.enter("step")
        try:
            run(path, arguments)
        except Exception as raised:  # noqa: BLE001 - the answer, whatever it is
            error = f"{type(raised).__name__}: {raised}"
        recorder.enter(None)
    on_tpu = Counter[str]()
    ledger = recorder.ledgers["step"]
    for use in ledger.uses():
        on_tpu[use.op] += use.count
    return {"tpu": on_tpu, "cpu": dict(ledger.cpu_ops), "error": error}


def stand_in() -> None:
    """Give the pretended device what a runtime has and a dispatcher has not."""
    instead: dict[Any, dict[str, Any]] = {
        torch: {"save": _save, "load": _load},
        torch.Tensor: {"pin_memory": lambda tensor, *_: tensor},
        torch.accelerator: {
            **dict.fromkeys(("memory_allocated", "max_memory_allocated"), lambda *_: 0),
            **dict.fromkeys(("empty_cache", "synchronize", "set_device_index"), lambda *_: None),
            "reset_peak_memory_stats": lambda *_: None,
        },
    }
    for owner, names in instead.items():
        for name, stand in names.items():
            setattr(owner, name, stand)
    dist.Backend.default_device_backend_map["tpu"] = "gloo"


_saved: dict[str, Any] = {}


def _save(state: Any, path: str) -> None:
    """Keep a checkpoint in memory: fake tensors have no bytes to write."""
    _saved[path] = tree_map(lambda leaf: _copy(leaf, "cpu"), state)


def _load(path: str, map_location: Any = None, **_: Any) -> Any:
    return tree_map(lambda leaf: _copy(leaf, map_location), _saved[path])


def _copy(leaf: Any, device: Any) -> Any:
    return leaf.detach().clone().to(device) if isinstance(leaf, torch.Tensor) else leaf


def forked(where: str, command: list[str]) -> dict[str, Any]:
    """Run one script in a copy of this process."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            os._exit(_code(where, command))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
        return {"code": code, "out": texts[0], "errors": texts[1]}


def _code(where: str, command: list[str]) -> int:
    path, *arguments = command
    code = 0
    try:
        if where == "cpu":
            run(Path(path), arguments)
        else:
            sys.stdout.write("\n" + json.dumps(record(Path(path), arguments)) + "\n")
    except BaseException:  # noqa: BLE001 - a fork must end here
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def main() -> None:
    """Do what the command line says."""
    warnings.simplefilter("ignore")
    where = sys.argv[1]
    commands = json.load(sys.stdin)
    if where != "cpu":
        take_device(where)
    sys.stdout.write(json.dumps([forked(where, command) for command in commands]) + "\n")


if __name__ == "__main__":
    main()
