"""Draws of patterns stored in a memory: their random numbers, the patterns, and the form that dynamics run on.

Paddings choose programs: `largest` is for few loads and long dynamics, one program for all of them;
`rows_to_draw` for many loads whose largest alone is known; `rows_for_counts` where all numbers of patterns are
known, with their draws.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array

import hopfield.patterns
from experiments.contract import Point
from experiments.shared.grids import Draw, PaddedProgram, Traced
from hopfield import Couplings, Memory, hebb_couplings
from hopfield.dynamics.models import SpinModel, lacking
from hopfield.memories import EXPONENTIAL, find
from hopfield.packed import packed_couplings
from hopfield.patterns import Corrupted, corrupt

TRACED: Mapping[str, Traced] = {"num_patterns": (np.uint32, itemgetter("patterns")), "sample": np.uint32}
"""Traced numbers that draws of patterns share: their M, which tables call `patterns`, and their own number."""


PROGRAM = 2.5e9
"""Multiplications that take as long as a program does to be traced and compiled: a second or more. With 5e9 and 1e10
`conf=capacity` takes 0.96 and 0.96 of the time with an empty cache, 1.17 and 1.13 with a full one."""


class Rule(NamedTuple):
    """Structure of a measurement of a storage rule: the values that select its program. All others are traced."""

    rule: str
    neurons: int
    padding: int
    queries: int
    cost: float
    """Rough multiplications of one draw."""


def usual_dynamics(memory: str) -> str:
    """Dynamics of a memory if none are given: synchronous where states are real or the load is ln M / N.

    Synchronous, too, where a model of one's own has no local fields.
    """
    blueprint = find(memory)
    alone = blueprint.ensemble == "spins" and blueprint.scaling.symbol != EXPONENTIAL.symbol
    alone = alone and not lacking(blueprint.sample, SpinModel)
    return "asynchronous" if alone else "synchronous"


def check(memory: str, dynamics: Iterable[str], beta: float | None) -> None:
    """Check that a memory has these dynamics, and a β if one is given; else ValueError."""
    blueprint = find(memory)
    for name in dynamics:
        if name != "synchronous" and blueprint.ensemble != "spins":
            raise ValueError(f"dynamics must be synchronous for {memory}, whose states are real, got {name!r}")
        if name != "synchronous" and (absent := lacking(blueprint.sample, SpinModel)):
            told = ", ".join(absent)
            raise ValueError(f"dynamics must be synchronous for {memory}, which lacks {told}, got {name!r}")
    if beta is not None and not blueprint.takes_beta:
        raise ValueError(f"beta must be null for {memory}, which has none, got {beta:g}")


def key(seed: ArrayLike, *numbers: ArrayLike) -> Array:
    """Random key of a seed and the whole numbers by which a draw is named, such as N, M and its own; traced or not."""
    fold = lambda key, number: (jax.random.fold_in(key, number), None)
    start = jax.random.key(seed)
    if not numbers:
        return start
    parts = jnp.stack([jnp.asarray(number, jnp.uint32) for number in numbers])
    return jax.lax.scan(fold, start, parts)[0]  # a loop, as compiling each step takes as long as all


def keys(seed: ArrayLike, *numbers: ArrayLike) -> tuple[Array, Array]:
    """Two random keys of one draw, for its patterns and for its queries, split from `key` of the same.

    Of a network they are named by N, M and the number of the sample, and depend on nothing else that is measured.
    """
    pattern_key, query_key = jax.random.split(key(seed, *numbers))
    return pattern_key, query_key


def seed_of(seed: int, number: int) -> int:
    """Seed, from 0 to 2³² − 1, of draw `number` in a run with the option `seed`; seed 0 gives `number` itself.

    With `seed + number`, draw 1 of seed 0 would be draw 0 of seed 1. The seed is multiplied with 2³² over the golden
    ratio first, whose multiples lie far apart (Knuth, vol. 3, 6.4).
    """
    return (seed * 2654435769 + number) % 2**32


def numbers_and_keys(key: Array, count: int) -> tuple[Array, Array]:
    """Numbers 0 to count − 1 of the queries of a draw, and for each a key that depends on its number alone."""
    index = jnp.arange(count)
    return index, jax.vmap(lambda i: jax.random.fold_in(key, i))(index)


def patterns(ensemble: str | Callable, key: Array, rows: int, neurons: int, data: Array | None = None) -> Array:
    """Patterns [M, N] of one draw: from a random ensemble, or distinct rows of `data` in random order.

    Args:
        ensemble: a function of `hopfield.patterns` by name, or one like them.
        key, rows, neurons: random key, M and N.
        data: patterns that are given [rows, N].
    """
    if data is None:
        random = getattr(hopfield.patterns, ensemble) if isinstance(ensemble, str) else ensemble
        return random(key, rows, neurons)
    return data[jax.random.permutation(key, data.shape[0])[:rows]]


def in_use(program: PaddedProgram, draw: Draw) -> Array:
    """Mask [padding] of the padded patterns of a draw that are stored: the first `num_patterns`."""
    return jnp.arange(program.padding) < draw["num_patterns"]


def rows_to_draw(num_patterns: int, largest: int, neurons: int) -> int:
    """Rows to draw where `num_patterns` are used: the largest load's, divided by 4 as long as enough rows remain.

    Few programs serve many loads, and where the largest load is costly the others do not pay for it.

    Args:
        num_patterns, largest: M, and the largest M that is measured at this size.
        neurons: N; up to 2^18 numbers a smaller matrix would save nothing.
    """
    rows = largest
    while rows * neurons > 2**18 and -(-rows // 4) >= num_patterns:
        rows = -(-rows // 4)
    return rows


def rows_for_counts(draws: Mapping[int, int], row_cost: float) -> dict[int, int]:
    """Rows to draw by number of patterns: those that shared programs, and what they draw in vain, cost least together.

    Args:
        draws: how many draws there are of each number of patterns.
        row_cost: rough multiplications that a row of patterns costs a draw.
    """
    sizes = sorted(draws)
    total = [0, *itertools.accumulate(draws[size] for size in sizes)]
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end, size in enumerate(sizes, start=1):  # the least cost of all up to a size, and where its last program begins
        wide = row_cost * size
        best.append(min((best[i][0] + PROGRAM + wide * (total[end] - total[i]), i) for i in range(end)))
    rows, end = {}, len(sizes)
    while end:
        start = best[end][1]
        rows |= dict.fromkeys(sizes[start:end], sizes[end - 1])
        end = start
    return rows


def largest(curves: Iterable[Point], *columns: str) -> Callable[[Point], int]:
    """Function of a point: most patterns of any curve that agrees with it in `columns`, the rows to pad to."""
    kind, most = itemgetter(*columns), {}
    for curve in curves:
        most[kind(curve)] = max(most.get(kind(curve), 0), curve["patterns"])
    return lambda point: most[kind(point)]


def as_spins(key: Array, start: Array) -> Array:
    """Signs of a start [N]: of a hidden unit, 0, a random one, as `hopfield.patterns.hide` fills. NaN stays NaN."""
    signs = jnp.where(jax.random.bernoulli(key, shape=start.shape), 1.0, -1.0)
    return jnp.where(start == 0, signs, jnp.sign(start))


def corrupted(key: Array, target: Array, kind: str, amount: float | Array, *, spins: bool) -> Corrupted:
    """Start of a query: its pattern [N] corrupted by `hopfield.patterns.corrupt`. For spins every entry is ±1.

    Args:
        key: random key; hidden spins are filled from it, and those that noise leaves at 0 from one made of it.
        kind, amount: kind of the corruption, or "none", and how much of it.
        spins: whether states are spins.
    """
    if kind == "none":
        return Corrupted(target, jnp.ones(target.shape, bool))
    start, untouched = corrupt(key, target, kind, amount, fill="random" if spins else 0.0)
    return Corrupted(as_spins(jax.random.fold_in(key, 1), start) if spins else start, untouched)


def network(memory: Memory | Couplings, *, packed: bool = False) -> Memory | Couplings:
    """Network that a memory's dynamics run on: Couplings of a classical memory, else the memory itself.

    A step of Couplings costs N² whatever M is, but they have no weights on patterns: `shares` is the memory's alone.
    `packed` ones cost a row of bits for each spin that flips, and never have the matrix: less wherever spins move one
    at a time from near a pattern.
    """
    if not (isinstance(memory, Memory) and memory.classical):
        return memory
    return packed_couplings(memory) if packed else hebb_couplings(memory)
