"""Functions called as they are, as in a notebook, beside the same ones under `jax.jit`: nothing compiles again."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hopfield import Memory, glauber, retrieve, separations, spaces
from hopfield.observables import thermodynamics

from . import BenchmarkError, Case, Run, Side

SIZES = {"small": (8, 32), "published": (32, 256)}
RATIO, EXTRA = 3.0, 1e-3
"""A plain call should take at most RATIO times the compiled one and EXTRA seconds; those that do not are counted."""


class Problem(NamedTuple):
    """A memory on spins, one of real numbers, states of each, scores and a key."""

    classical: Memory
    modern: Memory
    spins: jax.Array
    query: jax.Array
    scores: jax.Array
    key: jax.Array


FUNCTIONS: dict[str, Callable[[Problem], jax.Array]] = {
    "retrieve": lambda p: retrieve(p.modern, p.query).state,
    "retrieve, asynchronous": lambda p: retrieve(p.classical, p.spins, dynamics="asynchronous", key=p.key).state,
    "glauber": lambda p: glauber(p.classical, p.spins, p.key, 0.5, sweeps=10).mean,
    "thermodynamics.boltzmann_weights": lambda p: thermodynamics.boltzmann_weights(p.scores, 2.0),
    "thermodynamics.entropy": lambda p: thermodynamics.entropy(jnp.abs(p.scores)),
    "entmax": lambda p: separations.Entmax(1.5).weights(p.scores),
}
_COMPILED = {name: jax.jit(function) for name, function in FUNCTIONS.items()}


def case(size: str, workspace: Path) -> Case:
    """The second and every later call of each function, on other numbers of the same shapes."""
    del workspace
    patterns, neurons = SIZES[size]

    def draw(number: int) -> Problem:
        rng = np.random.default_rng(number)
        spins = jnp.asarray(rng.choice([-1.0, 1.0], (patterns, neurons)))
        classical = Memory(spins, 1.0 / neurons, separation="linear", space=spaces.Spins())
        rows = jnp.asarray(rng.normal(size=(patterns, neurons)))
        modern = Memory(rows)
        start = jnp.asarray(spins[0] * np.where(rng.random(neurons) < 0.1, -1, 1), classical.patterns.dtype)
        scores = jnp.asarray(rng.normal(size=neurons), classical.patterns.dtype)
        return Problem(classical, modern, start, rows[0], scores, jax.random.key(number))

    def side(functions: dict[str, Callable[[Problem], jax.Array]]) -> Callable:
        def solve(problem: Problem, run: Run) -> tuple[list[np.ndarray], dict[str, float]]:
            found = []
            for name, function in functions.items():
                with run.stage(name):
                    found.append(np.asarray(function(problem)))
            return found, dict(run.seconds)

        return solve

    return Case(
        what="Functions called plainly against the same under jax.jit, on numbers not seen before.",
        shapes={"patterns": patterns, "neurons": neurons},
        draw=draw,
        ours=Side("plain", side(FUNCTIONS)),
        theirs=Side("jitted", side(_COMPILED)),
        check=check,
    )


def check(problems: list, ours: list, theirs: list) -> dict[str, float]:
    """The largest difference of results, and the plain time over the compiled one for each function."""
    differences = [
        np.max(np.abs(a - b)) for (x, _), (y, _) in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True)
    ]
    if not max(differences) <= 1e-4:
        raise BenchmarkError(f"plain and compiled results must agree, got a difference of {max(differences):g}")
    ratios, beyond = {}, 0
    for name in FUNCTIONS:
        plain, compiled = (float(np.median([seconds[name] for _, seconds in side])) for side in (ours, theirs))
        beyond += plain > RATIO * compiled + EXTRA
        ratios[f"{name}, plain / jitted"] = plain / compiled
    found = {"largest difference": float(max(differences)), **ratios}
    return {**found, f"functions that take more than {RATIO:g} times as long and 1 ms": float(beyond)}
