"""The child that compiles StableHLO for a TPU with libtpu, no TPU needed.

Request: ``{"program": path of the text, "chip": "v6e"}``. The result is a ``Compilation``.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from op_registry.toolchain.answers import Compilation, Memory, Outcome
from op_registry.toolchain.chips import chip
from op_registry.toolchain.emulation import computed, custom_calls, emulation, instructions
from op_registry.toolchain.modules import Parsed, SkewError, is_skew, parsed, short
from op_registry.toolchain.serve import serve

if TYPE_CHECKING:
    from op_registry.toolchain.serve import Handle


def prepare() -> Handle:
    """Import jax and return the function that answers requests."""
    import jax
    from jax.experimental import topologies

    jax.config.update("jax_enable_x64", True)  # noqa: FBT003
    topologies.get_topology_desc(topology_name=chip("v6e").topology, platform="tpu")

    def handle(request: dict[str, Any]) -> dict[str, Any]:
        text = Path(request["program"]).read_text(encoding="utf-8")
        return compile_program(text, request["chip"]).to_json()

    return handle


def compile_program(text: str, name: str) -> Compilation:
    """Compile the StableHLO ``text`` for one device of the generation ``name``.

    Raises ValueError for an unknown generation, and what libtpu raises when it is not usable.
    """
    device = _device(name)
    try:
        with parsed(text) as program:
            return _compile(program, device)
    except SkewError as error:
        return Compilation(outcome=Outcome.SKEW, message=str(error))


def _device(name: str) -> Any:
    from jax.experimental import topologies

    found = topologies.get_topology_desc(topology_name=chip(name).topology, platform="tpu")
    return found.devices[0]


def _compile(program: Parsed, device: Any) -> Compilation:
    from jax._src.lib import xla_client
    from jax.errors import JaxRuntimeError

    operations, pairs = computed(program.module)
    devices = xla_client._xla.DeviceList((device,))
    try:
        executable = device.client.compile(program.module, devices, _options(device))
    except JaxRuntimeError as error:
        outcome = Outcome.SKEW if is_skew(error) else Outcome.REFUSED
        message = short(str(error))
        return Compilation(outcome=outcome, message=message, rewritten=program.rewritten)
    hlo = _optimised(executable)
    seconds, unestimated = _seconds(cost := _cost(executable))
    return Compilation(
        outcome=Outcome.OK,
        rewritten=program.rewritten,
        memory=_memory(executable),
        flops=cost.get("flops"),
        bytes_accessed=cost.get("bytes accessed"),
        optimal_seconds=seconds,
        unestimated=unestimated,
        operations=operations,
        instructions=None if hlo is None else instructions(hlo),
        emulation=emulation(pairs, hlo),
        custom_calls=() if hlo is None else custom_calls(hlo),
    )


def _options(device: Any) -> Any:
    import numpy as np
    from jax._src.lib import xla_client

    options = xla_client.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    options.device_assignment = xla_client.DeviceAssignment.create(np.array([[device.id]]))
    return options


def _optimised(executable: Any) -> str | None:
    """Return the optimised HLO, or None: jaxlib may be older than what libtpu writes."""
    from jax.errors import JaxRuntimeError

    try:
        return "\n".join(module.to_string() for module in executable.hlo_modules())
    except JaxRuntimeError:
        return None


def _cost(executable: Any) -> dict[str, float]:
    from jax.errors import JaxRuntimeError

    try:
        found = executable.cost_analysis() or {}
    except JaxRuntimeError:
        return {}
    return {key: value for key, value in found.items() if value >= 0 or key == "optimal_seconds"}


def _seconds(cost: dict[str, float]) -> tuple[float | None, int]:
    """Undo what the compiler does for an instruction without an estimate: it adds -1 s."""
    found = cost.get("optimal_seconds")
    if found is None:
        return None, 0
    unestimated = max(0, math.ceil(-found))
    return found + unestimated, unestimated


def _memory(executable: Any) -> Memory:
    found = executable.get_compiled_memory_stats()
    return Memory(
        arguments=found.argument_size_in_bytes,
        outputs=found.output_size_in_bytes,
        temporaries=found.temp_size_in_bytes,
        aliases=found.alias_size_in_bytes,
        code=found.generated_code_size_in_bytes,
    )


if __name__ == "__main__":
    serve(prepare)
