"""Approximations of a Fisher matrix by blocks, from sums over the rows of a factor."""

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import flag
from hopfield.fisher.block_forms import Block, BlockDiagonal, DenseBlock, DiagonalBlock, KroneckerBlock, Tree

Heads = Callable[[str, Array], Sequence[int]]
"""(path such as "['query'].kernel", leaf) ↦ axes of the leaf along which blocks are separate, such as heads."""


class SumOverRows(Protocol):
    """Source of a structured form: parameters, and sums over the rows of a factor of the matrix."""

    @property
    def params(self) -> Tree:
        """The parameters that the matrix is about."""
        ...

    def over_rows(self, statistic: Callable[[Tree], Tree]) -> Tree:
        """The sum of a statistic over the rows of the factor."""
        ...


def block_diagonal(fisher: SumOverRows, heads: Heads | None = None) -> BlockDiagonal:
    """F without couplings between different leaves (or heads): one dense block each, exact within a block.

    Args:
        fisher: the operator.
        heads: axes of a leaf along which blocks are separate; none if None.
    """
    axes = [_axes(path, leaf, heads, ()) for path, leaf in _paths(fisher.params)]

    moments = fisher.over_rows(_Moments(tuple(axes), ("dense",) * len(axes)))
    return BlockDiagonal(fisher.params, tuple(DenseBlock(m, a) for (m,), a in zip(moments, axes, strict=True)))


def kronecker(
    fisher: SumOverRows, heads: Heads | None = None, *, dense_limit: int = 512, factored_damping: bool = True
) -> BlockDiagonal:
    """Per matrix leaf, learned metrics included, the tensor-normal factors of its rows' gradients G_n [R, C]:

        F ≈ L ⊗ R / tr L      L = Σ G_n G_nᵀ      R = Σ G_nᵀ G_n

    What is approximated: blocks of different leaves (and heads) are decoupled, and within a block E[G ⊗ G] is taken
    to factor. The trace is kept. Exact where each row's gradient is u_n v_nᵀ with u and v independent; for a linear
    layer with |∂log p/∂output|² independent of its input it is K-FAC with the true second moments.
    Leaves of fewer than two axes besides the heads get a dense block, or their diagonal above `dense_limit` entries.

    Args:
        fisher: the operator; "monte_carlo" makes rows cheap for many outputs.
        heads: axes of a leaf along which blocks are separate. If None all but the last two, of Flax's kernels of
            queries, keys and values [E, H, D] the heads, and of convolutions none: their inputs are one axis.
        dense_limit: largest dense block.
        factored_damping: λ is split over the factors as π√λ and √λ/π, π² = (tr L/dim)/(tr R/dim), which takes a
            Cholesky factor each; otherwise (L ⊗ R / tr L + λ I) is inverted exactly by the factors' spectra.
    Source: Ren & Goldfarb (2021), arXiv:2106.02925; damping Martens & Grosse (2015), arXiv:1503.05671, eq. 31.
    """
    leaves = _paths(fisher.params)
    axes = [_axes(path, leaf, heads, _separate(path, leaf)) for path, leaf in leaves]
    forms = [
        _form(leaf.shape, leaf_axes, dense_limit, heads is None)
        for (_, leaf), leaf_axes in zip(leaves, axes, strict=True)
    ]

    def block(moments: tuple[Array, ...], leaf_axes: tuple[int, ...], form: str) -> Block:
        if form == "dense":
            return DenseBlock(moments[0], leaf_axes)
        if form == "diagonal":
            return DiagonalBlock(moments[0])
        root = jnp.sqrt(jnp.trace(moments[0], axis1=-2, axis2=-1))[:, None, None]
        zero = root == 0  # not root > 0, which would turn NaN into a curvature of zero
        left, right = (jnp.where(zero, 0.0, m / jnp.where(zero, 1.0, root)) for m in moments)
        return KroneckerBlock(left, right, leaf_axes, flag("factored_damping", factored_damping))

    moments = fisher.over_rows(_Moments(tuple(axes), tuple(forms)))
    return BlockDiagonal(fisher.params, tuple(block(*each) for each in zip(moments, axes, forms, strict=True)))


def _separate(path: str, leaf: Array) -> tuple[int, ...]:
    """Axes along which blocks of a leaf are separate: all but the last two, but for what Flax calls a kernel.

    Kernels of queries, keys and values are [*stack, inputs, heads, outputs], the kernel of an attention's `out` is
    [*stack, heads, inputs, outputs], and other kernels, as in convolutions, are [*inputs, outputs]: one matrix.
    """
    kernel = re.search(r"(\w*)\W+kernel\W*(?:value\W*)?$", path)
    if kernel is None or leaf.ndim < 3 or kernel[1] == "out":
        return tuple(range(leaf.ndim - 2))
    if kernel[1] in ("query", "key", "value"):
        return (*range(leaf.ndim - 3), leaf.ndim - 2)
    return ()


def _form(shape: tuple[int, ...], axes: tuple[int, ...], dense_limit: int, joined: bool) -> str:
    if (left := len(shape) - len(axes)) == 2 or (joined and left > 2):
        return "kronecker"
    return "dense" if math.prod(n for i, n in enumerate(shape) if i not in axes) <= dense_limit else "diagonal"


class _Moments(NamedTuple):
    """Sums over rows from which each leaf's form is made. Equal axes and forms make equal objects, compiled once."""

    axes: tuple[tuple[int, ...], ...]
    forms: tuple[str, ...]

    def __call__(self, rows: Tree) -> list[tuple[Array, ...]]:
        return [_moments(*each) for each in zip(jax.tree.leaves(rows), self.axes, self.forms, strict=True)]


def _moments(rows: Float[Array, "N *leaf"], axes: tuple[int, ...], form: str) -> tuple[Array, ...]:
    """Both factors, the dense block, or the diagonal."""
    if form == "dense":
        return (_gram(rows, axes),)
    if form == "diagonal":
        return (jnp.sum(rows * rows, axis=0),)
    moved = jnp.moveaxis(rows, [a + 1 for a in axes], range(1, len(axes) + 1))
    each = moved.reshape(rows.shape[0], math.prod(rows.shape[1 + a] for a in axes), -1, moved.shape[-1])
    return jnp.einsum("nhrc,nhsc->hrs", each, each), jnp.einsum("nhrc,nhrd->hcd", each, each)


def _gram(rows: Float[Array, "N *leaf"], axes: tuple[int, ...]) -> Float[Array, "H Q Q"]:
    moved = jnp.moveaxis(rows, [a + 1 for a in axes], range(1, len(axes) + 1))
    each = moved.reshape(rows.shape[0], math.prod(rows.shape[1 + a] for a in axes), -1)
    return jnp.einsum("nhp,nhq->hpq", each, each)


def _paths(params: Tree) -> list[tuple[str, Array]]:
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(params)]


def _axes(path: str, leaf: Array, heads: Heads | None, default: tuple[int, ...]) -> tuple[int, ...]:
    axes = default if heads is None else tuple(heads(path, leaf))
    if len(set(axes)) != len(axes) or not all(0 <= a < leaf.ndim for a in axes):
        raise ValueError(f"heads must name different axes from 0 to {leaf.ndim - 1} of {path}, got {axes}")
    return axes
