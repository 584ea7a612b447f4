"""Approximations of a Fisher matrix that are cheap to invert: one dense block or Kronecker product per parameter."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from flax import struct
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._checks import flag
from hopfield._pytrees import Node
from hopfield.fisher.solvers import dense_solve

Tree = Any
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


class DenseBlock(Node):
    """One matrix [Q, Q] per head for a leaf of H·Q entries.

    Example:
        >>> from hopfield.fisher import fisher, gaussian
        >>> model, x = lambda params, x: x @ params, jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> F = fisher(model, jnp.zeros((2, 1)), likelihood=gaussian(1.0), inputs=x)
        >>> [type(block).__name__ for block in F.block_diagonal().blocks]
        ['DenseBlock']
    """

    matrix: Float[Array, "H Q Q"]
    axes: tuple[int, ...] = struct.field(pytree_node=False, default=())

    def product(self, leaf: Array) -> Array:
        """The matrix times a leaf."""
        flat = _fronted(leaf, self.axes, self.matrix.shape[:-1])
        return _backed(jnp.einsum("hpq,hq->hp", self.matrix, flat), leaf, self.axes)

    def solve(self, leaf: Array, damping: ArrayLike) -> Array:
        """x with (matrix + λ) x = leaf."""
        flat = _fronted(leaf, self.axes, self.matrix.shape[:-1])
        return _backed(_solve_each(_dense, (self.matrix, flat), damping), leaf, self.axes)


class DiagonalBlock(Node):
    """The diagonal alone, of the leaf's shape.

    Example:
        >>> from hopfield.fisher import DiagonalBlock
        >>> DiagonalBlock(jnp.array([1.0, 3.0])).solve(jnp.array([2.0, 8.0]), 1.0).tolist()
        [1.0, 2.0]
    """

    entries: Array

    def product(self, leaf: Array) -> Array:
        """The diagonal times a leaf."""
        return self.entries * leaf

    def solve(self, leaf: Array, damping: ArrayLike) -> Array:
        """x with (diagonal + λ) x = leaf, 0 where diagonal + λ is not positive."""
        level = self.entries + damping
        null = level <= 0
        return jnp.where(null, 0.0, leaf / jnp.where(null, 1.0, level))


class KroneckerBlock(Node):
    """left ⊗ right per head for a leaf of matrices V [R, C]: V ↦ left V right.

    Example:
        >>> from hopfield.fisher import fisher, gaussian
        >>> model, x = lambda params, x: x @ params, jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> F = fisher(model, jnp.zeros((2, 1)), likelihood=gaussian(1.0), inputs=x)
        >>> [type(block).__name__ for block in F.kronecker().blocks]
        ['KroneckerBlock']
    """

    left: Float[Array, "H R R"]
    right: Float[Array, "H C C"]
    axes: tuple[int, ...] = struct.field(pytree_node=False, default=())
    factored_damping: bool = struct.field(pytree_node=False, default=True)

    def product(self, leaf: Array) -> Array:
        """left V right."""
        return _backed(self.left @ self._matrices(leaf) @ self.right, leaf, self.axes)

    def solve(self, leaf: Array, damping: ArrayLike) -> Array:
        """V with (left + π√λ) V (right + √λ/π) = leaf, or exactly left V right + λ V = leaf."""
        one = _factored if self.factored_damping else _exact
        found = _solve_each(one, (self.left, self.right, self._matrices(leaf)), damping)
        return _backed(found, leaf, self.axes)

    def _matrices(self, leaf: Array) -> Array:
        return _fronted(leaf, self.axes, (self.left.shape[0], self.left.shape[-1], self.right.shape[-1]))


Block = DenseBlock | DiagonalBlock | KroneckerBlock


class Blocks(Node):
    """A block-diagonal operator over parameters: `@`, `solve`, `to_dense` as those of `Fisher`.

    Example:
        >>> from hopfield.fisher import fisher, gaussian
        >>> model, x = lambda params, x: x @ params, jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> F = fisher(model, jnp.zeros((2, 1)), likelihood=gaussian(1.0), inputs=x)
        >>> print(F.block_diagonal().to_dense().round(4))
        [[0.5 0. ]
         [0.  2. ]]
    """

    params: Tree
    blocks: tuple[Block, ...]
    """One per leaf of the parameters, in their order."""

    def __matmul__(self, vector: Tree) -> Tree:
        return self._map(lambda block, leaf: block.product(leaf), vector)

    def solve(self, vector: Tree, damping: ArrayLike = 0.0) -> Tree:
        """(A + λ I)⁻¹ v, block by block."""
        return self._map(lambda block, leaf: block.solve(leaf, damping), vector)

    def to_dense(self) -> Float[Array, "P P"]:
        """The matrix in `ravel_pytree`'s order."""
        flat, unravel = ravel_pytree(self.params)
        eye = jnp.eye(flat.size, dtype=flat.dtype)
        return jax.vmap(lambda row: ravel_pytree(self @ unravel(row))[0])(eye)

    def _map(self, function: Callable, vector: Tree) -> Tree:
        leaves, tree = jax.tree.flatten(vector)
        if tree != jax.tree.structure(self.params):
            raise ValueError(f"vector must have the structure of params, got {tree}")
        return jax.tree.unflatten(tree, [function(b, x) for b, x in zip(self.blocks, leaves, strict=True)])


def block_diagonal(fisher: SumOverRows, heads: Heads | None = None) -> Blocks:
    """F without what couples different leaves (or heads), one dense block each; exact within a block.

    Args:
        fisher: the operator.
        heads: axes of a leaf along which blocks are separate; none if None.
    """
    axes = [_axes(path, leaf, heads, ()) for path, leaf in _paths(fisher.params)]

    found = fisher.over_rows(_Moments(tuple(axes), ("dense",) * len(axes)))
    return Blocks(fisher.params, tuple(DenseBlock(m, a) for (m,), a in zip(found, axes, strict=True)))


def kronecker(
    fisher: SumOverRows, heads: Heads | None = None, *, dense_limit: int = 512, factored_damping: bool = True
) -> Blocks:
    """Per matrix leaf, learned metrics included, the tensor-normal factors of its rows' gradients G_n [R, C]:

        F ≈ L ⊗ R / tr L      L = Σ G_n G_nᵀ      R = Σ G_nᵀ G_n

    What is approximated: blocks of different leaves (and heads) are decoupled, and within a block E[G ⊗ G] is taken
    to factor. The trace is kept. Exact where each row's gradient is u_n v_nᵀ with u and v independent; for a linear
    layer with |∂log p/∂output|² independent of its input it is K-FAC with the true second moments.
    Leaves of fewer than two axes besides the heads get a dense block, or their diagonal above `dense_limit` entries.

    Args:
        fisher: the operator; "monte_carlo" makes rows cheap for many outputs.
        heads: axes of a leaf along which blocks are separate; all but the last two if None.
        dense_limit: largest dense block.
        factored_damping: λ is split over the factors as π√λ and √λ/π, π² = (tr L/dim)/(tr R/dim), which takes a
            Cholesky factor each; otherwise (L ⊗ R / tr L + λ I) is inverted exactly by the factors' spectra.
    Source: Ren & Goldfarb (2021), arXiv:2106.02925; damping Martens & Grosse (2015), arXiv:1503.05671, eq. 31.
    """
    leaves = _paths(fisher.params)
    axes = [_axes(path, leaf, heads, tuple(range(leaf.ndim - 2))) for path, leaf in leaves]

    forms = [_form(leaf.shape, own, dense_limit) for (_, leaf), own in zip(leaves, axes, strict=True)]

    def block(found: tuple[Array, ...], own: tuple[int, ...], form: str) -> Block:
        if form == "dense":
            return DenseBlock(found[0], own)
        if form == "diagonal":
            return DiagonalBlock(found[0])
        root = jnp.sqrt(jnp.trace(found[0], axis1=-2, axis2=-1))[:, None, None]
        zero = root == 0  # not root > 0, which would turn NaN into a curvature of zero
        left, right = (jnp.where(zero, 0.0, m / jnp.where(zero, 1.0, root)) for m in found)
        return KroneckerBlock(left, right, own, flag("factored_damping", factored_damping))

    found = fisher.over_rows(_Moments(tuple(axes), tuple(forms)))
    return Blocks(fisher.params, tuple(block(*each) for each in zip(found, axes, forms, strict=True)))


def _form(shape: tuple[int, ...], axes: tuple[int, ...], dense_limit: int) -> str:
    if len(shape) - len(axes) == 2:
        return "kronecker"
    return "dense" if math.prod(n for i, n in enumerate(shape) if i not in axes) <= dense_limit else "diagonal"


class _Moments(NamedTuple):
    """The sums over rows that each leaf's form is made of; equal for equal axes and forms, and so compiled once."""

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
    each = moved.reshape(rows.shape[0], -1, *moved.shape[-2:])
    return jnp.einsum("nhrc,nhsc->hrs", each, each), jnp.einsum("nhrc,nhrd->hcd", each, each)


def _gram(rows: Float[Array, "N *leaf"], axes: tuple[int, ...]) -> Float[Array, "H Q Q"]:
    moved = jnp.moveaxis(rows, [a + 1 for a in axes], range(1, len(axes) + 1))
    each = moved.reshape(rows.shape[0], math.prod(rows.shape[1 + a] for a in axes), -1)
    return jnp.einsum("nhp,nhq->hpq", each, each)


@partial(jax.jit, static_argnames=("one",))
def _solve_each(one: Callable, heads: tuple[Array, ...], damping: ArrayLike) -> Array:
    """One system after the other, for the memory of one."""
    return jax.lax.map(lambda head: one(*head, damping), heads)


def _dense(matrix: Array, v: Array, damping: ArrayLike) -> Array:
    return dense_solve(matrix, v, damping)


def _factored(left: Array, right: Array, v: Array, damping: ArrayLike) -> Array:
    one, two = jnp.trace(left) / left.shape[0], jnp.trace(right) / right.shape[0]
    usable = (one > 0) & (two > 0)
    balance = jnp.sqrt(jnp.where(usable, one, 1.0) / jnp.where(usable, two, 1.0))
    root = jnp.sqrt(jnp.asarray(damping, v.dtype))
    half = dense_solve(left, v, balance * root)
    return dense_solve(right, half.T, root / balance).T


def _exact(left: Array, right: Array, v: Array, damping: ArrayLike) -> Array:
    (a, rows), (b, columns) = jnp.linalg.eigh(left), jnp.linalg.eigh(right)
    level = jnp.maximum(a, 0.0)[:, None] * jnp.maximum(b, 0.0)[None, :] + damping
    inner = rows.T @ v @ columns
    null = level <= 0
    return rows @ jnp.where(null, 0.0, inner / jnp.where(null, 1.0, level)) @ columns.T


def _fronted(leaf: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    return jnp.moveaxis(leaf, axes, range(len(axes))).reshape(shape)


def _backed(found: Array, leaf: Array, axes: tuple[int, ...]) -> Array:
    moved = [leaf.shape[a] for a in axes] + [n for i, n in enumerate(leaf.shape) if i not in axes]
    return jnp.moveaxis(found.reshape(moved), range(len(axes)), axes)


def _paths(params: Tree) -> list[tuple[str, Array]]:
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(params)]


def _axes(path: str, leaf: Array, heads: Heads | None, default: tuple[int, ...]) -> tuple[int, ...]:
    axes = default if heads is None else tuple(heads(path, leaf))
    if len(set(axes)) != len(axes) or not all(0 <= a < leaf.ndim for a in axes):
        raise ValueError(f"heads must name different axes from 0 to {leaf.ndim - 1} of {path}, got {axes}")
    return axes
