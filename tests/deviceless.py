"""Programs compiled for an NVIDIA H100 on a machine that has none: what they call, their loops and their memory."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

DESCRIPTION = Path(__file__).with_name("h100.txtpb")
"""XLA's description of the hardware."""


class Program(NamedTuple):
    """Parts of a compiled program."""

    kernels: int
    loops: int
    calls: frozenset[str]
    scratch: int
    """Bytes of temporary memory."""

    @property
    def fused(self) -> bool:
        """True if the program calls cuDNN's attention."""
        return any("fmha" in call for call in self.calls)


def h100() -> Any:
    """The device that programs are compiled for."""
    os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"
    description = DESCRIPTION.read_text()
    return topologies.get_topology_desc(
        platform="cuda", topology_name="", target_config=description, topology="1x1x1"
    ).devices[0]


def compiled(device: Any, function: Callable, *shapes: Any) -> Program:
    """The program of a function of arguments of these shapes, for a device."""
    sharding = SingleDeviceSharding(device)
    placed = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), shapes)
    program = jax.jit(function).trace(*placed).lower(lowering_platforms=("cuda",)).compile()
    text = program.as_text()
    calls = frozenset(re.findall(r'custom_call_target="([^"]+)"', text))
    kernels, loops = len(re.findall(r"kind=k\w+", text)), len(re.findall(r" while\(", text))
    return Program(kernels, loops, calls, program.memory_analysis().temp_size_in_bytes)
