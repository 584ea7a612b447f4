"""Arrays drawn for the cases of public functions, and the case of a function of such arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tests.hopfield.contracts.public import Call, Case, Shape, all_nan

Draw = Callable[[np.random.Generator], Any]


def any_nan(found: Any) -> bool:
    """True if any floating array of a result holds NaN."""
    return any(all_nan(leaf) for leaf in jax.tree.leaves(found))


def normal(*shape: int) -> Draw:
    return lambda rng: 0.3 * rng.normal(size=shape)


def positive(*shape: int) -> Draw:
    return lambda rng: 0.5 + rng.random(shape)


def simplex(*shape: int) -> Draw:
    return lambda rng: rng.dirichlet(np.ones(shape[-1]), shape[:-1])


def definite(n: int) -> Draw:
    def draw(rng):
        a = 0.3 * rng.normal(size=(n, n))
        return a @ a.T + np.eye(n)

    return draw


def unit(*shape: int) -> Draw:
    def draw(rng):
        x = rng.normal(size=shape)
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    return draw


def symmetric(n: int) -> Draw:
    def draw(rng):
        a = 0.3 * rng.normal(size=(n, n))
        return a + a.T

    return draw


def case(
    name: str, function: Callable, *draws: Any, nan: Sequence[int | str] | None = None, shows=all_nan, **options: Any
) -> Case:
    """A function of arrays drawn one by one; what is not a draw is handed over as it is."""
    places = tuple(i for i, d in enumerate(draws) if callable(d)) if nan is None else tuple(nan)

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Call:
        return Call(function, tuple(d(rng) if callable(d) else d for d in draws), options)

    return Case(f"hopfield.{name}", draw, nan=places, shows=shows)


def spins(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return rng.choice([-1.0, 1.0], shape)


def of_vectors(name: str, function: Callable, count: int, options: dict, *more: Any) -> Case:
    """A function of `count` vectors and of further arguments."""
    return Case(
        name,
        lambda rng, shape: Call(function, (*(rng.normal(size=shape) for _ in range(count)), *more)),
        **{"nan": tuple(range(count)), **options},
    )
