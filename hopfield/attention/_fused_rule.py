"""A kernel of a GPU and the blocks as one function: value and gradient are the kernel's.

The kernel has a gradient and nothing else: the blocks give forward mode and second derivatives.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array

from hopfield.attention import _cut_reads, fused
from hopfield.attention.masks import Mask

How = fused.How | _cut_reads.How
"""Constants of a kernel's program; `read` runs the kernel."""


@partial(jax.jit, static_argnums=(4, 5))
def read_fused(query: Array, key: Array, value: Array, mask: Mask | None, how: How, blocks: Callable) -> Array:
    """Read-out by a kernel that applies. `blocks` reads the same, for all other derivatives."""
    return _read(query, key, value, mask, how, blocks)


@partial(jax.custom_jvp, nondiff_argnums=(4, 5))
def _read(query, key, value, mask, how: How, blocks: Callable) -> Array:
    return how.read(query, key, value, mask)


@_read.defjvp
def _read_jvp(how, blocks, primals, moved):
    output = _for_gradient(*primals, how, blocks)
    leaves, tree = jax.tree.flatten(primals)
    forwards, backwards = (partial(step, tree, how, blocks) for step in (_forwards, _backwards))
    return output, _moved.bind(output, *leaves, *moved[:3], forwards=forwards, backwards=backwards)


@partial(jax.custom_jvp, nondiff_argnums=(4, 5))
def _for_gradient(query, key, value, mask, how: How, blocks: Callable) -> Array:
    """Read-out by the kernel that also keeps what its gradient needs: XLA finds both to be one call."""
    return jax.vjp(lambda q, k, v: how.read(q, k, v, mask), query, key, value)[0]


@_for_gradient.defjvp
def _for_gradient_jvp(how, blocks, primals, moved):
    return _for_gradient(*primals, how, blocks), _along(how, blocks, primals, moved[:3])


@partial(jax.custom_jvp, nondiff_argnums=(5, 6))
def _gradient(query, key, value, mask, slope, how: How, blocks: Callable) -> tuple[Array, Array, Array]:
    return jax.vjp(lambda q, k, v: how.read(q, k, v, mask), query, key, value)[1](slope)


@_gradient.defjvp
def _gradient_jvp(how, blocks, primals, moved):
    *rows, mask, slope = primals
    slopes = lambda slope, *x: jax.vjp(lambda *x: blocks(*x, mask, how), *x)[1](slope)
    along = jax.jvp(slopes, (slope, *rows), (moved[4], *moved[:3]))[1]
    return _gradient(*primals, how, blocks), along


def _along(how: How, blocks: Callable, primals: Any, moved: Any) -> Array:
    """Tangent of the read-out along tangents of query, key and value."""
    *rows, mask = primals
    return jax.jvp(lambda *x: blocks(*x, mask, how), tuple(rows), tuple(moved))[1]


def _forwards(tree, how, blocks, output, *arrays):
    primals = jax.tree.unflatten(tree, arrays[:-3])
    return _along(how, blocks, primals, arrays[-3:])


def _backwards(tree, how, blocks, output, *arrays):
    *rows, mask = jax.tree.unflatten(tree, arrays[:-1])
    return _gradient(*rows, mask, arrays[-1], how, blocks)


_moved = Primitive("fused_attention_tangent")
"""Tangent of a read-out: forwards of the last three arguments, which it is linear in; backwards its transpose."""
_moved.def_impl(lambda *arrays, forwards, backwards: forwards(*arrays))
_moved.def_abstract_eval(lambda output, *arrays, forwards, backwards: output)
mlir.register_lowering(
    _moved, mlir.lower_fun(lambda *arrays, forwards, backwards: forwards(*arrays), multiple_results=False)
)


def _moved_jvp(arrays, tangents, *, forwards, backwards):
    moved = [ad.instantiate_zeros(tangent) for tangent in tangents]
    return jax.jvp(forwards, tuple(arrays), tuple(moved))


def _moved_transpose(slope, *arrays, forwards, backwards):
    fixed, moved = arrays[:-3], arrays[-3:]
    slopes = zip(moved, backwards(*fixed, slope), strict=True)
    return [None] * len(fixed) + [found if ad.is_undefined_primal(x) else None for x, found in slopes]


def _moved_batched(arrays, axes, *, forwards, backwards):
    size = next(x.shape[axis] for x, axis in zip(arrays, axes, strict=True) if axis is not None)
    arrays = [
        jnp.broadcast_to(x, (size, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)
        for x, axis in zip(arrays, axes, strict=True)
    ]
    return _moved.bind(*arrays, forwards=jax.vmap(forwards), backwards=jax.vmap(backwards)), 0


ad.primitive_jvps[_moved] = _moved_jvp
ad.primitive_transposes[_moved] = _moved_transpose
batching.primitive_batchers[_moved] = _moved_batched
