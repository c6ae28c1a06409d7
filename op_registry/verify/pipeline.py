"""Runs the stages of a verification over several threads, each with child processes of its own.

Lowering one dtype is a task; what it finds adds the tasks of the other stages. The dtypes that
models are made of come first through all stages, cheap programs before expensive ones.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from op_registry.toolchain.programs import has_mosaic
from op_registry.verify import plan
from op_registry.verify.collect import NOT_UNIQUE, name, run_key
from op_registry.verify.crew import work_off
from op_registry.verify.hand import GRADIENTS, SAMPLES, took_too_long
from op_registry.verify.tasks import Task, Tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from op_registry.verify.facts import Found, LoweredSample
    from op_registry.verify.hand import Hand
    from op_registry.verify.workspace import Workspace

    Watch: TypeAlias = Callable[["Pipeline"], None]

_DIFFERENTIABLE = frozenset({"float32", "bfloat16", "float16", "float64", "complex64"})
_RANKS = {"lower": 0, "compile": 1, "numerics": 2, "gradient": 3}


class Pipeline:
    """One verification of ``ops``; ``run`` it once. What is in the journal is not done again."""

    def __init__(
        self, workspace: Workspace, python: str, selection: plan.Selection, ops: Sequence[str]
    ) -> None:
        self.selection = selection
        self.workspace = workspace
        self.tasks: Tasks[Hand] = Tasks()
        self.reused = 0
        """Results that the journal already had."""
        self._python = python
        self._ops = list(ops)
        self._wanted = frozenset(ops)

    def run(self, jobs: int, watch: Watch = lambda _: None) -> None:
        """Do all there is to do with ``jobs`` threads; ``watch`` is called every second or so.

        Raises RegistryError when a child does not start or lowering fails as a whole, and
        KeyboardInterrupt after the children have ended; the journal has all that was done.
        """
        for dtype in self.selection.dtypes:
            self._add(dtype, "lower", (dtype,), 0, partial(self._lower, dtype))
        work_off(self.tasks, self._python, jobs, lambda: watch(self))

    def lowered(self) -> tuple[int, int]:
        """Return how many ops have been lowered of how many, counted once for each dtype."""
        done = sum(self.workspace.lowered(dtype) for dtype in self.selection.dtypes)
        total = len(self._ops) * len(self.selection.dtypes)
        return min(done, total), total

    def _add(
        self, dtype: str, stage: str, key: tuple[str, ...], cost: int, do: Callable[[Hand], None]
    ) -> None:
        urgency = (plan.wave(dtype), _RANKS[stage], cost)
        self.tasks.add(Task(urgency=urgency, stage=stage, key=key, do=do))

    def _lower(self, dtype: str, hand: Hand) -> None:
        """Lower what has not been lowered; the other stages begin while gradients are."""
        if "lower" in self.selection.stages:
            self._lower_all(dtype, SAMPLES, hand)
        for found in self.workspace.found(dtype):
            if found.op in self._wanted:
                self._plan(found)
        if "gradient" in self.selection.stages and dtype in _DIFFERENTIABLE:
            self._lower_all(dtype, GRADIENTS, hand)
            for found in self.workspace.found(dtype, GRADIENTS):
                if found.op in self._wanted and name(found.op) not in NOT_UNIQUE:
                    for sample in plan.with_gradients(found):
                        self._plan_run("gradient", found, sample)
        hand.rest()

    def _lower_all(self, dtype: str, what: str, hand: Hand) -> None:
        if unseen := self.workspace.unseen(dtype, self._ops, what):
            hand.lower(dtype, str(self.workspace.samples), unseen, what)

    def _plan(self, found: Found) -> None:
        if "compile" in self.selection.stages:
            for chip in plan.chips_in_order(self.selection.chips):
                self._plan_compile(found, chip)
        if "numerics" in self.selection.stages:
            for sample in plan.with_values(found):
                self._plan_run("numerics", found, sample)

    def _plan_compile(self, found: Found, chip: str) -> None:
        programs = plan.programs(found, chip)
        for place, program in enumerate(programs):
            if self.workspace.journal.get("compile", (program, chip)) is not None:
                self.reused += 1
                continue
            first = chip == plan.FIRST_CHIP
            cost = plan.cost(self.workspace.text(program)) * (1 if first else 10)
            like = programs[:place] if first else programs
            do = partial(self._compile, program, chip, like)
            self._add(found.dtype, "compile", (program, chip), cost, do)

    def _plan_run(self, stage: str, found: Found, sample: LoweredSample) -> None:
        text = self.workspace.text(sample.program or "")
        if has_mosaic(text):
            return
        key = run_key(self.workspace, found.op, sample)
        if self.workspace.journal.get("numerics", key) is not None:
            self.reused += 1
            return
        do = partial(self._run, key, found, sample)
        self._add(found.dtype, stage, key, plan.cost(text), do)

    def _compile(self, program: str, chip: str, like: Sequence[str], hand: Hand) -> None:
        """Compile a program, unless one ``like`` it took too long for the first chip."""
        journal = self.workspace.journal
        if any(took_too_long(journal.get("compile", (one, plan.FIRST_CHIP))) for one in like):
            return
        kept = hand.compile(str(self.workspace.program(program)), chip)
        self._keep("compile", (program, chip), kept)

    def _run(self, key: tuple[str, ...], found: Found, sample: LoweredSample, hand: Hand) -> None:
        values = sample.values
        if values is None or sample.program is None:
            return
        request = {
            "op": found.op,
            "dtype": found.dtype,
            "arguments": sample.arguments,
            "program": str(self.workspace.program(sample.program)),
            "values": str(self.workspace.values(values)),
            "inputs": values.inputs,
            "outputs": values.outputs,
            "references": values.references,
            "undefined": list(sample.undefined),
            "tolerance": sample.tolerance,
        }
        self._keep("numerics", key, hand.run(request))

    def _keep(self, stage: str, key: tuple[str, ...], kept: dict[str, object]) -> None:
        # After an interrupt a call comes back as lost: that says nothing of the program.
        if not self.tasks.stopped:
            self.workspace.journal.put(stage, key, kept)
