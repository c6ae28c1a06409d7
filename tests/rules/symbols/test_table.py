"""The symbol tables say nothing that the installed PyTorch, or the wheel, does not bear out."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.support.rule_cases import check
from tests.support.wheel import PYTHON, needs_wheel, run_json
from tpu_audit.rules import catalogue
from tpu_audit.rules.python.canonical import canonical
from tpu_audit.rules.rule import Case
from tpu_audit.rules.symbols.table import OnTpu, Symbol, cuda_symbols, tpu_names

if TYPE_CHECKING:
    from collections.abc import Callable

SYMBOLS = cuda_symbols()
RELEASE = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
MODULES = (
    *("torch.cuda", "torch.cuda.amp", "torch.cuda.memory", "torch.cuda.random"),
    *("torch.cuda.graphs", "torch.cuda.nvtx", "torch.cuda.nccl", "torch.cuda.comm"),
    *("torch.cuda.profiler", "torch.cuda.tunable", "torch.cuda.gds", "torch.cuda.green_contexts"),
    "torch.backends.cuda",
)
CALLS: dict[str, Callable[[], Any]] = {
    "torch.cuda.memory_summary": torch.cuda.memory_summary,
    "torch.cuda.mem_get_info": torch.cuda.mem_get_info,
    "torch.cuda.reset_peak_memory_stats": torch.cuda.reset_peak_memory_stats,
    "torch.cuda.set_per_process_memory_fraction": lambda: (
        torch.cuda.set_per_process_memory_fraction(0.5)
    ),
    "torch.cuda.set_device": lambda: torch.cuda.set_device(0),
    "torch.cuda.nvtx.mark": lambda: torch.cuda.nvtx.mark("x"),
    "torch.cuda.device": lambda: torch.cuda.device(0).__enter__(),
    "torch.cuda.set_sync_debug_mode": lambda: torch.cuda.set_sync_debug_mode(1),
    "torch.cuda.memory_allocated": torch.cuda.memory_allocated,
    "torch.cuda.memory_stats": torch.cuda.memory_stats,
    "torch.cuda.get_rng_state_all": torch.cuda.get_rng_state_all,
    "torch.cuda.is_bf16_supported": torch.cuda.is_bf16_supported,
    "torch.cuda.get_arch_list": torch.cuda.get_arch_list,
    "torch.cuda.empty_cache": torch.cuda.empty_cache,
    "torch.cuda.manual_seed_all": lambda: torch.cuda.manual_seed_all(0),
    "torch.cuda.set_rng_state": lambda: torch.cuda.set_rng_state(torch.get_rng_state()),
    "torch.backends.cudnn.version": torch.backends.cudnn.version,
    "torch.backends.cuda.is_built": torch.backends.cuda.is_built,
}
"""Calls that can be made anywhere, beside those that take no arguments."""
NO_ARGUMENTS = (
    *("current_device", "synchronize", "Stream", "Event", "current_stream", "default_stream"),
    *("CUDAGraph", "graph_pool_handle", "is_current_stream_capturing", "MemPool", "init"),
    *("get_device_capability", "get_device_name", "ipc_collect", "cudart", "memory_snapshot"),
    *("get_rng_state", "initial_seed", "current_blas_handle", "get_sync_debug_mode"),
    *("reset_max_memory_allocated", "reset_accumulated_memory_stats", "get_allocator_backend"),
    *("reset_peak_host_memory_stats", "get_per_process_memory_fraction", "FloatTensor"),
    *("nccl.version", "tunable.enable", "tunable.get_results", "nvtx.range_pop"),
)


def resolve(name: str) -> object:
    """Return what a dotted name is, its modules imported; ``AttributeError`` where it is not."""
    found: object = importlib.import_module("torch")
    at = "torch"
    for part in name.split(".")[1:]:
        at = f"{at}.{part}"
        if not hasattr(found, part):
            try:
                importlib.import_module(at)
            except ModuleNotFoundError:
                raise AttributeError(at) from None
        found = getattr(found, part)
    return found


def is_installed(symbol: Symbol) -> bool:
    """Tell whether the installed release is new enough for a symbol."""
    return symbol.since <= RELEASE


@pytest.mark.parametrize("module", MODULES)
def test_knows_every_public_name(module: str) -> None:
    """Every name that PyTorch exports from its modules for CUDA is in the table."""
    there = importlib.import_module(module)
    names = [n for n in there.__all__ if not inspect.ismodule(getattr(there, n))]
    full = [canonical(f"{module}.{name}") for name in names]
    assert [n for n in full if not any(s == n or s.startswith(f"{n}.") for s in SYMBOLS)] == []


def test_knows_every_cudnn_setting() -> None:
    """Every property and function of torch.backends.cudnn is in the table."""
    cudnn = torch.backends.cudnn
    names = {
        *vars(type(cudnn)),
        *(n for n, v in vars(vars(cudnn)["m"]).items() if inspect.isfunction(v)),
    }
    own = {n for n in names if not n.startswith("_") and n not in {"conv", "rnn", "contextmanager"}}
    assert {n for n in own if f"torch.backends.cudnn.{n}" not in SYMBOLS} == set()


@pytest.mark.parametrize("symbol", SYMBOLS.values(), ids=lambda symbol: symbol.name)
def test_names_exist(symbol: Symbol) -> None:
    """A name of the table, and its replacement, are in the installed PyTorch."""
    if is_installed(symbol):
        resolve(symbol.name)
    if symbol.replacement is not None:
        resolve(symbol.replacement)


@pytest.mark.skipif(torch.version.cuda is not None, reason="PyTorch is built with CUDA")
@pytest.mark.parametrize("name", [*CALLS, *(f"torch.cuda.{name}" for name in NO_ARGUMENTS)])
def test_does_without_cuda_what_it_says(name: str) -> None:
    """A call raises where the table says so, and returns nothing of a device elsewhere."""
    call = CALLS.get(name) or resolve(name)
    assert callable(call)
    if SYMBOLS[canonical(name)].on_tpu is OnTpu.RAISES:
        with pytest.raises((AssertionError, AttributeError, RuntimeError, TypeError, KeyError)):
            call()
    else:
        assert not call()


def test_reasons_are_sentences() -> None:
    """Every reason is text that messages can be made of, and codes are those of rules' families."""
    assert all(s.reason[0] in f"0{ascii_uppercase}" for s in SYMBOLS.values())
    assert all(s.reason.endswith(".") for s in SYMBOLS.values())
    assert {s.rule[:4] for s in SYMBOLS.values()} == {"", "TPA1", "TPA2", "TPA3"}


@pytest.mark.parametrize(
    "symbol",
    [s for s in SYMBOLS.values() if s.on_tpu is not OnTpu.WORKS],
    ids=lambda symbol: symbol.name,
)
def test_a_rule_finds_it(symbol: Symbol) -> None:
    """Using a name is found by the rule that the table names, or by the rule for the rest."""
    code = symbol.rule or "TPA227"
    rules = [rule for rule in catalogue.rules() if rule.code == code]
    name = symbol.name
    uses = (f"{name}(x)", f"{name} = x", f"float({name})", f"float({name}())")
    sources = [f"import torch\n{use}\n" for use in uses]
    sources.append(f"import torch\n@{name}\ndef f(ctx): ...\n")
    assert len(rules) == 1
    assert any(check(rules[0], Case(source)) for source in sources)


@needs_wheel
def test_torch_tpu_has_just_these_names() -> None:
    """The wheel's torch.tpu exports the names of the table, and refuses calls of internal ones."""
    assert PYTHON is not None
    script = Path(__file__).parents[2] / "support" / "torch_tpu_names.py"
    there = run_json(PYTHON, script)
    table = tpu_names()
    assert there["public"] == sorted(table)
    assert set(there["internal"]) == {name for name, entry in table.items() if entry.internal}


@pytest.mark.parametrize("name", [n for n, e in tpu_names().items() if e.replacement is not None])
def test_replacements_of_internal_names_exist(name: str) -> None:
    """What stands for an internal name of torch.tpu is in the installed PyTorch."""
    replacement = tpu_names()[name].replacement
    assert replacement is not None
    assert callable(resolve(replacement))
