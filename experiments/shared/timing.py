"""Timing of compiled programs: until the result is there, and several in alternation, so that noise meets all alike."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np


def seconds(action: Callable[[], Any], calls: int = 1) -> float:
    """Time of some calls, one after the other, until the last result is there."""
    began, result = time.perf_counter(), None
    for _ in range(calls):
        result = action()
    jax.block_until_ready(result)
    return time.perf_counter() - began


def in_turn(actions: Sequence[Callable[[], Any]], turns: int, calls: int = 1) -> np.ndarray:
    """Times [turns, actions] of actions in alternation, after a turn that compiles and touches memory first."""
    for action in actions:
        jax.block_until_ready(action())
    return np.array([[seconds(action, calls) for action in actions] for _ in range(turns)])
