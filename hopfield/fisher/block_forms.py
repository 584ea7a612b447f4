"""Blocks of a structured Fisher matrix, cheap to invert: one dense block or Kronecker product per parameter."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arrays import Tree
from hopfield._numerics import accumulation_dtype
from hopfield._pytrees import Node
from hopfield.fisher.solvers import dense_solve


class DenseBlock(Node):
    """One matrix [Q, Q] per head for a leaf of H·Q entries.

    Example:
        >>> from hopfield.fisher import Gaussian, fisher
        >>> model, x = lambda params, x: x @ params, jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> F = fisher(model, jnp.zeros((2, 1)), likelihood=Gaussian(1.0), inputs=x)
        >>> [type(block).__name__ for block in F.block_diagonal().blocks]
        ['DenseBlock']
    """

    matrix: Float[Array, "H Q Q"]
    axes: tuple[int, ...] = struct.field(pytree_node=False, default=())

    def product(self, leaf: Array) -> Array:
        """The matrix times a leaf."""
        flat = _as_matrices(leaf, self.axes, self.matrix.shape[:-1])
        return _from_matrices(jnp.einsum("hpq,hq->hp", self.matrix, flat), leaf, self.axes)

    def solve(self, leaf: Array, damping: ArrayLike) -> Array:
        """x with (matrix + λ) x = leaf."""
        return _solved((self,), [leaf], damping)[0]

    def _by_head(self, leaf: Array) -> tuple[Callable, tuple[Array, ...]]:
        return _dense, (self.matrix, _as_matrices(leaf, self.axes, self.matrix.shape[:-1]))


class DiagonalBlock(Node):
    """The diagonal alone, of the leaf's shape.

    Example:
        >>> from hopfield.fisher import DiagonalBlock
        >>> DiagonalBlock(jnp.array([1.0, 3.0])).solve(jnp.array([2.0, 8.0]), 1.0).tolist()
        [1.0, 2.0]
    """

    entries: Array
    axes: ClassVar[tuple[int, ...]] = ()

    def product(self, leaf: Array) -> Array:
        """The diagonal times a leaf."""
        return self.entries * leaf

    def solve(self, leaf: Array, damping: ArrayLike) -> Array:
        """x with (diagonal + λ) x = leaf, 0 where diagonal + λ is not positive."""
        return _entrywise(self.entries, leaf, damping)

    def _by_head(self, leaf: Array) -> tuple[Callable, tuple[Array, ...]]:
        return _entrywise, (self.entries[None], leaf[None])


class KroneckerBlock(Node):
    """left ⊗ right per head for a leaf of matrices V [R, C]: V ↦ left V right.

    Example:
        >>> from hopfield.fisher import Gaussian, fisher
        >>> model, x = lambda params, x: x @ params, jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> F = fisher(model, jnp.zeros((2, 1)), likelihood=Gaussian(1.0), inputs=x)
        >>> [type(block).__name__ for block in F.kronecker().blocks]
        ['KroneckerBlock']
    """

    left: Float[Array, "H R R"]
    right: Float[Array, "H C C"]
    axes: tuple[int, ...] = struct.field(pytree_node=False, default=())
    factored_damping: bool = struct.field(pytree_node=False, default=True)

    def product(self, leaf: Array) -> Array:
        """left V right."""
        return _from_matrices(self.left @ self._matrices(leaf) @ self.right, leaf, self.axes)

    def solve(self, leaf: Array, damping: ArrayLike) -> Array:
        """V with (left + π√λ) V (right + √λ/π) = leaf, or exactly left V right + λ V = leaf."""
        return _solved((self,), [leaf], damping)[0]

    def _by_head(self, leaf: Array) -> tuple[Callable, tuple[Array, ...]]:
        one = _solve_factored if self.factored_damping else _exact
        return one, (self.left, self.right, self._matrices(leaf))

    def _matrices(self, leaf: Array) -> Array:
        return _as_matrices(leaf, self.axes, (self.left.shape[0], self.left.shape[-1], self.right.shape[-1]))


Block = DenseBlock | DiagonalBlock | KroneckerBlock


class BlockDiagonal(Node):
    """A block-diagonal operator over parameters, with the methods `@`, `solve` and `to_dense` of `Fisher`.

    Example:
        >>> from hopfield.fisher import Gaussian, fisher
        >>> model, x = lambda params, x: x @ params, jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> F = fisher(model, jnp.zeros((2, 1)), likelihood=Gaussian(1.0), inputs=x)
        >>> print(F.block_diagonal().to_dense().round(4))
        [[0.5 0. ]
         [0.  2. ]]
    """

    params: Tree
    blocks: tuple[Block, ...]
    """One per leaf of the parameters, in their order."""

    def __matmul__(self, vector: Tree) -> Tree:
        leaves, tree = self._leaves(vector)
        products = [block.product(leaf) for block, leaf in zip(self.blocks, leaves, strict=True)]
        return jax.tree.unflatten(tree, products)

    def solve(self, vector: Tree, damping: ArrayLike = 0.0) -> Tree:
        """(A + λ I)⁻¹ v, block by block."""
        leaves, tree = self._leaves(vector)
        return jax.tree.unflatten(tree, _solved(self.blocks, leaves, damping))

    def to_dense(self) -> Float[Array, "P P"]:
        """The matrix in `ravel_pytree`'s order."""
        flat, unravel = ravel_pytree(self.params)
        eye = jnp.eye(flat.size, dtype=flat.dtype)
        return jax.vmap(lambda row: ravel_pytree(self @ unravel(row))[0])(eye)

    def _leaves(self, vector: Tree) -> tuple[list[Array], Any]:
        """Leaves of a vector, and its structure. ValueError unless the structure is the parameters'."""
        leaves, tree = jax.tree.flatten(vector)
        if tree != jax.tree.structure(self.params):
            raise ValueError(f"vector must have the structure of params, got {tree}")
        return leaves, tree


def _solved(blocks: Sequence[Block], leaves: list[Array], damping: ArrayLike) -> list[Array]:
    """Solutions of blocks, all of one form and size by one program, which compiles in a third of the time."""
    groups: dict[tuple, list[tuple[int, tuple[Array, ...]]]] = {}
    for i, (block, leaf) in enumerate(zip(blocks, leaves, strict=True)):
        one, heads = block._by_head(leaf)
        groups.setdefault((one, *((x.shape[1:], x.dtype) for x in heads)), []).append((i, heads))
    found = list(leaves)
    for (one, *_), alike in groups.items():
        joined = tuple(map(jnp.concatenate, zip(*(heads for _, heads in alike), strict=True)))
        ends = np.cumsum([len(heads[0]) for _, heads in alike])[:-1]
        for (i, _), part in zip(alike, jnp.split(_solve_each(one, joined, damping), ends), strict=True):
            found[i] = _from_matrices(part, leaves[i], blocks[i].axes)
    return found


@partial(jax.jit, static_argnames=("one",))
def _solve_each(one: Callable, heads: tuple[Array, ...], damping: ArrayLike) -> Array:
    """Solutions for all heads, one head after the other, so that only one is in memory at a time."""
    return jax.lax.map(lambda head: one(*head, damping), heads)


def _entrywise(entries: Array, leaf: Array, damping: ArrayLike) -> Array:
    level = entries + damping
    null = level <= 0
    return jnp.where(null, 0.0, leaf / jnp.where(null, 1.0, level))


def _dense(matrix: Array, v: Array, damping: ArrayLike) -> Array:
    return dense_solve(matrix, v, damping)


def _solve_factored(left: Array, right: Array, v: Array, damping: ArrayLike) -> Array:
    one, two = jnp.trace(left) / left.shape[0], jnp.trace(right) / right.shape[0]
    usable = (one > 0) & (two > 0)
    balance = jnp.sqrt(jnp.where(usable, one, 1.0) / jnp.where(usable, two, 1.0))
    root = jnp.sqrt(jnp.asarray(damping, v.dtype))
    half = dense_solve(left, v, balance * root)
    return dense_solve(right, half.T, root / balance).T


def _exact(left: Array, right: Array, v: Array, damping: ArrayLike) -> Array:
    wide = accumulation_dtype(v.dtype)  # half precision has no spectra
    (a, rows), (b, columns) = jnp.linalg.eigh(left.astype(wide)), jnp.linalg.eigh(right.astype(wide))
    level = jnp.maximum(a, 0.0)[:, None] * jnp.maximum(b, 0.0)[None, :] + damping
    inner = rows.T @ v @ columns
    null = level <= 0
    return (rows @ jnp.where(null, 0.0, inner / jnp.where(null, 1.0, level)) @ columns.T).astype(v.dtype)


def _as_matrices(leaf: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    return jnp.moveaxis(leaf, axes, range(len(axes))).reshape(shape)


def _from_matrices(matrices: Array, leaf: Array, axes: tuple[int, ...]) -> Array:
    moved = [leaf.shape[a] for a in axes] + [n for i, n in enumerate(leaf.shape) if i not in axes]
    return jnp.moveaxis(matrices.reshape(moved), range(len(axes)), axes)
