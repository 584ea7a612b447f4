"""Hardware that a run is measured on: calls at a time on the cores of a CPU, draws side by side on accelerators.

The hardware decides how a grid is measured, never what: spins are the same on all of it, other numbers to rounding.
"""

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import jax
import scipy.linalg  # noqa: F401 - only a library that is loaded can be limited
from threadpoolctl import threadpool_limits

from experiments.contract import Config, InputError
from experiments.system import terminal

PAYS = 2e11
"""Multiplications from which on accelerators are worth their programs, whose compiling is dear: minutes of a core."""
DEFAULT = "jax_default_device"
BRIEF = 1e11
"""Multiplications up to which compiling is most of a run, and programs are compiled in less time (`compiling`)."""
LANES = 64
"""Calls of a core that one call to an accelerator does, whose work they would divide too finely."""
_current: ContextVar["Hardware | None"] = ContextVar("hardware", default=None)
_said: ContextVar[bool] = ContextVar("said", default=True)


@dataclass(frozen=True)
class Hardware:
    """Hardware of a run.

    Attributes:
        devices: what programs run on, devices of JAX of one kind.
        workers: calls, or compilations, at a time.
        side_by_side: whether the draws of a call are measured side by side, and not one after the other.
        reason: why an accelerator is left alone, if one is.
        brief: whether the run as a whole takes seconds, and compiling most of them.
    """

    devices: tuple[Any, ...]
    workers: int
    side_by_side: bool = False
    reason: str = ""
    brief: bool = False

    def __str__(self) -> str:
        if self.devices[0].platform == "cpu":
            return f"{self.workers} core{'s' * (self.workers != 1)}{self.reason}"
        return f"{len(self.devices)} × {_name(self.devices)}" if len(self.devices) > 1 else _name(self.devices)

    def memory(self) -> float:
        """Bytes of a device that one program may take: of two at a time, half of what is free."""
        held = self.devices[0].memory_stats() or {}
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return (held.get("bytes_limit", machine) - held.get("bytes_in_use", 0)) / 2


def _name(devices: tuple[Any, ...]) -> str:
    return devices[0].device_kind


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose(config: Config, work: float = float("inf"), left: float = 1.0) -> Hardware:
    """Hardware that options ask for.

    Args:
        config: the options `device` and `workers`.
        work: rough multiplications of the run as a whole.
        left: share of them that is left to do, by which `auto` decides.

    Raises:
        InputError: they ask for a GPU where there is none.
    """
    workers = config.workers or cores()
    found = tuple(device for device in jax.local_devices() if device.platform != "cpu")
    if config.device == "gpu" and not found:
        raise InputError("device must be cpu or auto on a machine without a GPU, got gpu")
    small = config.device == "auto" and work * left < PAYS
    if found and not small and config.device != "cpu":
        return Hardware(found, workers, side_by_side=True)
    reason = f"; {_name(found)} is left alone, for which so little would be compiled longer" if found and small else ""
    return Hardware((jax.local_devices(backend="cpu")[0],), workers, reason=reason, brief=work <= BRIEF)


def current() -> Hardware:
    """Hardware in use, the first device and all cores where none was chosen."""
    return _current.get() or Hardware((jax.local_devices()[0],), cores())


@contextlib.contextmanager
def using(hardware: Hardware) -> Iterator[None]:
    """Block of measurement on some hardware.

    Calls side by side have one thread of linear algebra each: threads of a factor and of XLA would wait for each
    other, for a second at times.
    """
    before, token = getattr(jax.config, DEFAULT), _current.set(hardware)
    try:
        if hardware.devices[0] != jax.local_devices()[0]:
            jax.config.update(DEFAULT, hardware.devices[0])
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        jax.config.update(DEFAULT, before)
        _current.reset(token)


@contextlib.contextmanager
def telling() -> Iterator[None]:
    """Block of a run, whose first `say` tells of the hardware in use."""
    token = _said.set(False)
    try:
        yield
    finally:
        _said.reset(token)


def say(draws: int | None = None) -> None:
    """Line on the hardware in use, once for each run: its name, and how many draws are measured at a time there."""
    if not _said.get():
        _said.set(True)
        terminal.say(f"{current()}{'' if draws is None else f', {draws} draws at a time'}")
