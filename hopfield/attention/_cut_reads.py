"""Reads by the kernels of `triton_programs.cut`, of rows that `routes` sends there: their launch and their gradient.

Needs the extra `kernels` (jax-triton) and a GPU from Ampere on; without either, the blocks read the same.
"""

import math
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from hopfield import _triton
from hopfield.attention.masks import Mask
from hopfield.attention.routes import Heads, Power, heads_of, lengths_of, mask_parts, power_of
from hopfield.separations import Separation
from hopfield.separations.relu import LogReLU
from hopfield.separations.sparse import Entmax, Normmax, Sparsemax

STEPS = 24
"""Steps of a search at most."""
REST = {4: 1e-3, 2: 1e-2}
"""Newton's last step by bytes of a number, relative to the way from the threshold to the largest score."""
KINDS = {Sparsemax: "entmax", Entmax: "entmax", Normmax: "normmax", LogReLU: "epanechnikov"}
"""Names of the separations by their classes."""
FULL = ("high", "highest", "float32", "TF32_TF32_F32_X3", "F32_F32_F32")
"""Precisions of JAX at which products of float32 are more than TF32's."""


class How(NamedTuple):
    """Constants of a program: the scale β, the separation, by name and as a power, and the band of the mask."""

    scale: float
    separation: str
    power: Power
    band: tuple[int, int]
    """Keys before and after the query's own, −1 where there is no end."""
    cut: bool
    """True if sequences have lengths."""
    precision: str
    """Products of float32: "tf32", or "tf32x3", which adds what that leaves out."""

    def read(self, query: Array, key: Array, value: Array, mask: Mask | None) -> Array:
        """Read-out by the kernels."""
        return read(query, key, value, mask, self)


def how_of(separation: Separation, scale: float, mask: Mask | None) -> How:
    """How the kernels read rows that `routes` sends to them."""
    alpha = getattr(separation, "alpha", None)
    name = KINDS[type(separation)] if alpha is None else f"{KINDS[type(separation)]}:{float(alpha)!r}"
    bands = [part.band for part in mask_parts(mask)]
    left, right = (min((band[side] for band in bands if band[side] is not None), default=-1) for side in (0, 1))
    precision = "tf32x3" if cast(Any, jax.config).jax_default_matmul_precision in FULL else "tf32"
    return How(scale, name, cast(Power, power_of(separation)), (left, right), bool(lengths_of(mask)), precision)


def read(query: Array, key: Array, value: Array, mask: Mask | None, how: How) -> Array:
    """Read-out of rows [*b, T, D], [*b, S, D], [*b, S, V]."""
    layout = cast(Heads, heads_of(query, key, value))
    shape = (*jnp.broadcast_shapes(query.shape[:-2], key.shape[:-2]), query.shape[-2], value.shape[-1])
    query = jnp.broadcast_to(query, (*shape[:-2], *query.shape[-2:]))
    padded = next(iter(lengths_of(mask)), None)
    length = jnp.asarray(key.shape[-2] if padded is None else padded.length, jnp.int32)
    length = jnp.broadcast_to(jnp.clip(length, 0, key.shape[-2]), (layout.batch,))
    rows = [x.reshape((math.prod(x.shape[:-2]), *x.shape[-2:])) for x in (query, key, value)]
    return cast(Array, _rows(*rows, length, how)).reshape(shape)


@partial(jax.custom_vjp, nondiff_argnums=(4,))
def _rows(query, key, value, length, how: How) -> Array:
    return _forwards(query, key, value, length, how, slopes=False)[0]


def _forwards(query, key, value, length, how: How, slopes: bool) -> tuple[Array, ...]:
    """Read-out, τ, c, Σ u v and Σ u of rows [B H, T, D], the last two if `slopes`; and LIST and COUNT."""
    power, (heads, count, _), float32 = how.power, query.shape, jnp.float32
    options = _options(query, key, value, length, how)
    line = jax.ShapeDtypeStruct((heads, count), float32)
    grid = (-(-count // options["BT"]), heads)
    blocks = -(-key.shape[1] // options["BS"])
    lists = tuple(jax.ShapeDtypeStruct((heads, grid[0], size), jnp.int32) for size in (blocks, 2))
    searched = {k: x for k, x in options.items() if k not in ("W", "BW", "RATE", "E")}
    searched |= {"E": power.search or 1.0, "STEPS": STEPS if power.search else 0, "GIVEN": power.tau}
    searched["REST"] = REST[query.dtype.itemsize]
    tau, *listed = launch("search", grid, (query, key, length), (line, *lists), **searched)
    rows = jax.ShapeDtypeStruct((heads, count, value.shape[-1]), value.dtype)
    found = (rows, line, jax.ShapeDtypeStruct(rows.shape, float32), line)
    read = (query, key, value, length, tau, *listed)
    output, *sums = launch("read", grid, read, found, TOTAL=power.total, SLOPES=slopes, **options)
    return output, tau, *sums, *listed


def _rows_forwards(query, key, value, length, how):
    output, tau, factor, moment, mass, *listed = _forwards(query, key, value, length, how, slopes=True)
    common, beside = _shared(how.separation, output.astype(jnp.float32), moment, mass[..., None])
    return output, (query, key, value, length, tau, factor, common, beside, listed)


def _shared(name: str, output: Array, moment: Array, mass: Array) -> tuple[Array | None, Array | None]:
    """M and N of dO = Σ (dp v + p dv) − M Σ dp − N Σ p ds, where dp moves with the scores and the threshold stays.

    They are what it costs that the threshold moves, too; None stands for zero.
    """
    kind = name.partition(":")[0]
    if kind == "epanechnikov":
        return None, output
    if kind == "normmax":
        return output, moment - output * mass
    return moment / jnp.where(mass == 0, 1.0, mass), None


def _rows_backwards(how, kept, slope):
    query, key, value, length, tau, factor, *shared, listed = kept
    options = _options(query, key, value, length, how) | {"TILTED": shared[1] is not None}
    along = lambda x: jnp.zeros_like(tau) if x is None else jnp.sum(slope.astype(jnp.float32) * x, axis=-1)
    beside = (factor, slope, *map(along, shared))
    like = lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype)
    grids = (-(-query.shape[1] // options["BT"]), len(query)), (-(-key.shape[1] // options["BS"]), len(key))
    arrays = (query, key, value, length, tau)
    (d_query,) = launch("queries_slope", grids[0], (*arrays, *listed, *beside), (like(query),), **options)
    given = (*arrays, *_by_keys(listed[0], listed[1], grids[1][0]), *beside)
    d_key, d_value = launch("keys_slope", grids[1], given, (like(key), like(value)), **options)
    return d_query, d_key, d_value, np.zeros(length.shape, jax.dtypes.float0)


_rows.defvjp(_rows_forwards, _rows_backwards)


def _by_keys(listed: Array, counts: Array, blocks: int) -> tuple[Array, Array]:
    """Blocks of queries that stand beside each block of keys [H, S', T'], in order, and their number [H, S']."""
    used = jax.lax.broadcasted_iota(jnp.int32, listed.shape, 2) < counts[..., 1:]
    put = lambda place: jnp.zeros(blocks + 1, bool).at[place].set(True)[:-1]
    beside = jnp.swapaxes(jax.vmap(jax.vmap(put))(jnp.where(used, listed, blocks)), -1, -2)
    return jnp.argsort(~beside, axis=-1, stable=True).astype(jnp.int32), jnp.sum(beside, axis=-1, dtype=jnp.int32)


def _options(query, key, value, length, how: How) -> dict[str, Any]:
    """Constants of the programs, by the names of their arguments."""
    power = how.power
    width, wide = (max(16, 1 << (x.shape[-1] - 1).bit_length()) for x in (query, value))
    half = query.dtype.itemsize == 2
    rows, keys = (64, 64 if max(width, wide) <= 64 else 32) if half else (64, 32)
    options = {"HEADS": len(query) // len(length), "GROUP": len(query) // len(key)}
    options |= {"T": query.shape[1], "S": key.shape[1], "D": query.shape[2], "W": value.shape[2]}
    options |= {"BD": width, "BW": wide, "BT": rows, "BS": keys, "LEFT": how.band[0], "RIGHT": how.band[1]}
    options["EDGE"] = how.cut or how.band != (-1, -1) or key.shape[1] % keys > 0
    options |= {"SCALE": how.scale * power.rate, "RATE": power.rate, "E": power.exponent}
    return options | {"PRECISION": "ieee" if half else how.precision}


def launch(name: str, grid: tuple[int, int], arrays: tuple, found: tuple, **options: Any) -> tuple[Array, ...]:
    """Results of a kernel of `triton_programs.cut`, whose last pointers they are."""
    from hopfield.attention.triton_programs import cut  # needs Triton

    call = lambda *arrays: _triton.launch(getattr(cut, name), grid, arrays, found, num_stages=2, **options)
    return jax.custom_batching.sequential_vmap(call)(*arrays)
