"""Compiler options by program: a program of a run of seconds is compiled in half the time, by options of XLA on a CPU.

XLA takes two seconds for a program of thousands of instructions, whatever the program is to do. With `LESS` a program
is compiled somewhat sooner and runs as fast. With `PLAIN` besides a program is compiled in a third of the time, but
loops over an exponential run half as fast, which pays where a draw takes milliseconds. Results differ by rounding: rows
of a run of seconds from rows of a long one by some 1e-7, spins in nothing.
"""

import os
from functools import cache

import jax

from experiments.shared.hardware import Hardware

LESS = {"xla_backend_optimization_level": 1, "xla_cpu_parallel_codegen_split_count": 1}
PLAIN = {"xla_cpu_use_fusion_emitters": False}
MILLISECONDS = 1e7
"""Multiplications of a draw up to which a program is compiled with `PLAIN`."""


def options(used: Hardware, cost: float) -> dict[str, int | bool]:
    """Compiler options of a program, by the run as a whole and the cost of a draw, never by remaining work.

    Args:
        used: what the program runs on; options of a long run, several devices or an accelerator stay XLA's own.
        cost: rough multiplications of one draw.
    """
    if not used.brief or used.side_by_side or used.devices[0].platform != "cpu":
        return {}
    return {
        name: value for name, value in (LESS | (PLAIN if cost <= MILLISECONDS else {})).items() if _known(name, value)
    }


@cache
def _known(name: str, value: int | bool) -> bool:
    """True if this version of XLA has an option, and the environment does not say otherwise."""
    if f"--{name}=" in os.environ.get("XLA_FLAGS", ""):
        return False
    try:
        jax.jit(lambda: 0, compiler_options={name: value}).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
