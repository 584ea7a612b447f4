"""Memory of compiled programs: what the compiler plans, and what the process needs beyond that plan."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

PEAK = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")


def temporary_bytes(compiled: Callable, *arguments: Any) -> int:
    """Peak bytes of a compiled function without its arguments and results. The function is run for it.

    The plan of XLA leaves out what its kernels for CPUs allocate themselves: attention with all scores at once plans
    nothing. On Linux it is therefore the growth of the process, to a few pages, where that is more.
    """
    plan = compiled.memory_analysis()
    results = jax.block_until_ready(compiled(*arguments))  # threads and their stacks are there from now on
    platforms = {device.platform for leaf in jax.tree.leaves(results) for device in leaf.devices()}
    del results
    if platforms != {"cpu"} or not _reset():
        return plan.temp_size_in_bytes
    before = _peak()
    jax.block_until_ready(compiled(*arguments))
    return max(plan.temp_size_in_bytes, _peak() - before - plan.output_size_in_bytes)


def _reset() -> bool:
    """Resets the kernel's peak-memory counter to the present memory. False where the kernel does not allow it."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
        PEAK.write_text("5")
    except (OSError, AttributeError):  # another system, or another library of C
        return False
    return True


def _peak() -> int:
    """Peak of resident memory since `_reset`, or since the process began, in bytes."""
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])
