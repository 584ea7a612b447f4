"""A claim of a paper: the options that it is measured at, one measurement of one draw, and theory beside it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp

from hopfield import retrieve
from hopfield.observables.overlaps import overlap


@dataclass
class Claim(ABC):
    """Base of claims. A list among the options is an axis, every other option is the same for all points.

    Attributes:
        quantity: what is measured, in words.
        x, y: labels of the axes of its panel.
        symbol: sign of the number that tells its curves apart, for the legend.
        scale: scale of the x-axis; where "log", the growth of the value for each doubling of x is told.
        kind: kind of its theory.
        random: whether draws differ.
    """

    quantity: ClassVar[str]
    x: ClassVar[str]
    y: ClassVar[str]
    symbol: ClassVar[str] = ""
    scale: ClassVar[str] = "linear"
    kind: ClassVar[str] = "exact"
    random: ClassVar[bool] = True

    @classmethod
    def label(cls, curve: float) -> str:
        """Entry of a curve in the legend, by its number; asked for where there are several."""
        return f"${cls.symbol}={curve:g}$"

    @abstractmethod
    def places(self) -> list[tuple[float, float]]:
        """Number of the curve and x of every point."""

    @abstractmethod
    def measure(self, key: jax.Array, curve: float, x: float) -> float:
        """Measurement of one draw. Draws of the same number share their key at all places."""

    def cost(self, curve: float, x: float) -> tuple[float, float]:
        """Entries of the largest array of one draw, and its rough multiplications."""
        return 1e4, 1e6

    def theory(self, curve: float, x: float) -> float | None:
        """Prediction at a place and its size, if there is one."""
        return None

    def limit(self, curve: float, x: float) -> float | None:
        """Prediction for infinite size, if there is one."""
        return None

    def setting(self) -> str:
        """Options that are the same for all points, in words."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return " ".join(f"{name}={value}" for name, value in values.items() if not isinstance(value, list))


@partial(jax.jit, static_argnames="max_steps")
def overlap_kept(network, starts, key, *, max_steps: int) -> jax.Array:
    """Mean overlap of starts [K, N] with where asynchronous sweeps from each end, in an order of its own."""
    run = partial(retrieve, network, dynamics="asynchronous", max_steps=max_steps)
    keys = jax.random.split(key, len(starts))
    return jnp.mean(jax.vmap(lambda start, key: overlap(run(start, key=key).state, start))(starts, keys))
