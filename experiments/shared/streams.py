"""Streams of patterns that are never stored: the memories of them, starts of their queries, columns of their rows."""

from collections.abc import Iterable, Mapping
from typing import cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.shared import corruptions, draws, pattern_sets
from hopfield import Memory, memories
from hopfield.large import counts
from hopfield.patterns import corrupt
from hopfield.patterns.sources import Source


def build(memory: str, patterns: Source, beta: float | None = None) -> Memory:
    """The memory of a name over patterns that are never stored."""
    return cast(Memory, memories.find(memory).build(patterns, beta=beta))


def check_memory(memory: str) -> None:
    """Check that a memory is a sum over spin patterns; else ValueError."""
    try:
        model = build(memory, pattern_sets.stream(pattern_sets.GENERATED, jax.random.key(0), 1, 2))
    except ValueError:
        raise ValueError(f"patterns must be stored for {memory}, a matrix of couplings") from None
    try:
        counts.summand(model)
    except ValueError:
        raise ValueError(f"patterns must be stored for {memory}, which is no sum over spin patterns") from None


def draw_with_queries(
    seed: int, ensemble: str, neurons: int, sample: int, num_patterns: int, queries: int, starts: Iterable[str]
) -> tuple[Source, np.ndarray, dict[str, np.ndarray]]:
    """Patterns of a draw, the first of them as targets of its queries [queries, N], and the queries by their start."""
    # M is no part of the key: the first patterns of a larger memory are a smaller one's.
    pattern_key, query_key = draws.keys(seed, neurons, 0, sample)
    patterns, first = (pattern_sets.stream(ensemble, pattern_key, m, neurons) for m in (num_patterns, queries))
    targets = np.asarray(first.part(0, queries).rows(0, queries), np.float64)
    return patterns, targets, {name: start(*corruptions.parts(name), query_key, targets) for name in starts}


def start(kind: str, amount: float, key: Array, targets: np.ndarray) -> np.ndarray:
    """Every target corrupted, with the random numbers that stored patterns are corrupted with."""
    if not amount:
        return targets
    _, keys = draws.numbers_and_keys(key, len(targets))
    corrupt_keys = jax.vmap(lambda key: jax.random.split(key)[0])(keys)
    apply = lambda key, target: corrupt(key, target, kind, amount, fill="random").state
    signs = lambda key, target: draws.as_spins(jax.random.fold_in(key, 1), apply(key, target))
    return np.asarray(jax.vmap(signs)(corrupt_keys, jnp.asarray(targets)))


def columns(
    outcome: dict[str, np.ndarray], counts: Iterable[str], means: Iterable[str], kept: Mapping[str, str], by: str
) -> dict[str, float | None]:
    """Columns of a row from the outcomes [queries, ...] of its queries by name. Undefined ones are null.

    Outcomes in `counts` are summed, those in `means` averaged; those in `kept` over the queries that `by` is true of.
    """
    row = {name: int(np.sum(outcome[name])) if name in outcome else None for name in counts}
    row |= {name: float(np.mean(outcome[name])) for name in means}
    some = outcome[by]
    return row | {column: float(np.mean(outcome[name][some])) if some.any() else None for column, name in kept.items()}
