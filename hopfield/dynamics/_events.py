"""Asynchronous dynamics of many queries on a GPU by one Triton kernel; `asynchronous` has the same on any device."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hopfield import _triton
from hopfield.couplings import Couplings
from hopfield.packed import PackedGram

WIDEST = 2**16
"""Neurons up to which state and fields fit the registers of one program, 64 a thread at 1024 threads."""


def applies(model: Couplings, key: Any) -> bool:
    """True if the kernel reads these couplings: float32 or packed, up to `WIDEST` neurons; with keys of Threefry."""
    plain = model.matrix.dtype == jnp.float32 and model.matrix.shape[0] <= WIDEST
    usual = jax.random.key_data(key).shape == (2,)
    return jax.default_backend() == "gpu" and plain and usual and _triton.installed()


def settle(model: Couplings, query: tuple, key: Any, limit: Array, low: int, random: bool) -> tuple[Array, ...]:
    """State, fields, sweeps and flips of one query [N], or of many under `jax.vmap`, where nothing is left to flip.

    Args:
        model: the couplings.
        query: a state [N], its fields `matrix @ state`, and which neurons may move [N].
        key: of the order of sweeps, which `random` sweeps draw.
        limit: sweeps at most.
        low: bits of a neuron's index in its priority.
        random: whether sweeps visit neurons in random order, else in the order 0 … N − 1.
    """
    matrix: Any = model.matrix
    packed = isinstance(matrix, PackedGram)
    rows = matrix.words if packed else matrix
    patterns = matrix.num_patterns if packed else jnp.zeros((), jnp.float32)

    @jax.custom_batching.custom_vmap
    def settled(rows, patterns, *query):  # rows [G, ...], patterns [G], the arrays of queries [B, ...]
        return _launched(rows, patterns, query, packed, low, random)

    @settled.def_vmap
    def _(size, batched, *arrays):
        matrix_batched = batched[0] or batched[1]
        spread = lambda x, given: x if given else jnp.broadcast_to(x, (size, *x.shape))
        if matrix_batched:  # one matrix for each: [K, G] after each other, [K, B] likewise
            arrays = tuple(spread(x, given) for x, given in zip(arrays, batched, strict=True))
            joined = settled(*(x.reshape((-1, *x.shape[2:])) for x in arrays))
            return tuple(x.reshape((size, -1, *x.shape[1:])) for x in joined), (True,) * len(joined)
        groups = arrays[0].shape[0]  # queries of one matrix stay together: [G, K, B / G]
        moved = [
            jnp.swapaxes(spread(x, given).reshape((size, groups, -1, *x.shape[1 + given :])), 0, 1)
            for x, given in zip(arrays[2:], batched[2:], strict=True)
        ]
        joined = settled(*arrays[:2], *(x.reshape((-1, *x.shape[3:])) for x in moved))
        back = [jnp.swapaxes(x.reshape((groups, size, -1, *x.shape[1:])), 0, 1) for x in joined]
        return tuple(x.reshape((size, -1, *x.shape[3:])) for x in back), (True,) * len(joined)

    state, field, free = query
    of_query = state, field, free.astype(jnp.int8), jax.random.key_data(key), jnp.asarray(limit, jnp.int32)
    given = rows, patterns, *of_query
    end, last, count = (x[0] for x in settled(*(x[None] for x in given)))
    return end, last, count[0], count[1]


def _launched(rows: Array, patterns: Array, query: tuple, packed: bool, low: int, random: bool) -> tuple[Array, ...]:
    from hopfield.dynamics.triton_programs import events  # needs Triton

    state = query[0]
    queries, neurons = state.shape
    block = 1 << (neurons - 1).bit_length()
    options: dict[str, Any] = {
        "N": neurons,
        "BN": block,
        "EACH": queries // rows.shape[0],
        "LOW": low,
        "RANDOM": random,
    }
    options |= {"WORDS": rows.shape[1] if packed else 0, "SIZE": math.prod(rows.shape[1:])}
    warps = min(32, max(4, block // 512))
    like = jax.ShapeDtypeStruct(state.shape, state.dtype)
    found = (like, like, jax.ShapeDtypeStruct((queries, 2), jnp.int32))
    return _triton.launch(events.settle, (queries,), (rows, patterns, *query), found, num_warps=warps, **options)
