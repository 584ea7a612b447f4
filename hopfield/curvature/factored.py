"""Approximations of the Fisher information that are cheap to invert: blocks of single arrays, and Kronecker products.

Both leave out what the Fisher information has between different arrays of parameters; the Kronecker form also takes
each block as a product of two small matrices. They are for any array, learned metrics included, because their factors
come from rows of F itself rather than from a list of known layers.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from hopfield.curvature.fisher import Fisher
from hopfield.curvature.solvers import SolveInfo, dense_solve
from hopfield.pytrees import Node

Tree = Any


class BlockDiagonal(Node):
    """F with only the blocks of single arrays kept; with heads, of single heads. Build with `block_diagonal`."""

    blocks: Tree
    """Per parameter array a stack of blocks [H, p, p], H = 1 where it is one block."""

    def __matmul__(self, v: Tree) -> Tree:
        return jax.tree.map(lambda b, x: jnp.einsum("hij,hj->hi", b, _split(x, b)).reshape(x.shape), self.blocks, v)

    def solve(self, v: Tree, damping=0.0) -> tuple[Tree, SolveInfo]:
        """(F + λ I)⁻¹ v, block by block."""
        one = jax.vmap(lambda b, x: dense_solve(b, x, damping))
        found = jax.tree.map(lambda b, x: one(b, _split(x, b)).reshape(x.shape), self.blocks, v)
        return found, _info(self, found, v, damping)

    def to_dense(self) -> Float[Array, "P P"]:
        """The whole matrix, in the order of `ravel_pytree`."""
        return jax.scipy.linalg.block_diag(*(block for stack in jax.tree.leaves(self.blocks) for block in stack))


class Kronecker(Node):
    """F ≈ ⊕ (L ⊗ R) / t over arrays [*h, r, c], one product per head; vectors keep a whole block. See `kronecker`."""

    left: Tree
    """Per array L = Σ G Gᵀ [H, r, r]; for vectors their block."""
    right: Tree
    """Per array R = Σ Gᵀ G [H, c, c] over t = tr L; for vectors ones [1, 1, 1]."""

    def __matmul__(self, v: Tree) -> Tree:
        def one(left, right, x):
            return jnp.einsum("hij,hjk,hlk->hil", left, _matrices(x, left, right), right).reshape(x.shape)

        return jax.tree.map(one, self.left, self.right, v)

    def solve(self, v: Tree, damping=0.0) -> tuple[Tree, SolveInfo]:
        """(F + λ I)⁻¹ v exactly for this F, from the spectra of both factors: the damping need not be split."""

        def one(left, right, x):
            a, u = jnp.linalg.eigh(left)
            b, w = jnp.linalg.eigh(right)
            levels = jnp.maximum(a, 0.0)[:, :, None] * jnp.maximum(b, 0.0)[:, None, :] + damping
            turned = jnp.einsum("hji,hjk,hkl->hil", u, _matrices(x, left, right), w)
            usable = levels > 0
            scaled = jnp.where(usable, turned / jnp.where(usable, levels, 1.0), 0.0)
            return jnp.einsum("hij,hjk,hlk->hil", u, scaled, w).reshape(x.shape)

        found = jax.tree.map(one, self.left, self.right, v)
        return found, _info(self, found, v, damping)

    def to_dense(self) -> Float[Array, "P P"]:
        """The whole matrix, in the order of `ravel_pytree`."""
        pairs = zip(jax.tree.leaves(self.left), jax.tree.leaves(self.right), strict=True)
        blocks = [jnp.kron(a, b) for left, right in pairs for a, b in zip(left, right, strict=True)]
        return jax.scipy.linalg.block_diag(*blocks)


def block_diagonal(fisher: Fisher, *, heads: bool = True) -> BlockDiagonal:
    """The blocks of F of single parameter arrays, exactly.

    Args:
        heads: whether the leading axes of arrays of three axes and more are heads, each with a block of its own.
    """

    def blocks(grads):
        def one(g):
            rows = g.reshape(g.shape[0], _heads(g[0], heads), -1)
            return jnp.einsum("nhi,nhj->hij", rows, rows)

        return jax.tree.map(one, grads)

    return BlockDiagonal(fisher.accumulate(blocks))


def kronecker(fisher: Fisher) -> Kronecker:
    """A Kronecker product for every array of two axes and more, from the rows G of F as matrices.

        L = Σ G Gᵀ,  R = Σ Gᵀ G,  F ≈ L ⊗ R / tr L

    It has the trace of F, and is F where G is a product of independent parts on either side, such as inputs and
    back-propagated scores: for a linear layer it is then K-FAC. Leading axes are heads with a product each.

    Source: Ren & Goldfarb, NeurIPS 2021, arXiv:2106.02925 (tensor-normal); Martens & Grosse 2015 for K-FAC.
    """

    def factors(grads):
        def one(g):
            if g.ndim < 3:  # vectors and numbers: a whole block
                rows = g.reshape(g.shape[0], 1, -1)
                return jnp.einsum("nhi,nhj->hij", rows, rows), jnp.zeros((1, 1, 1), g.dtype)
            rows = g.reshape(g.shape[0], _heads(g[0], True), *g.shape[-2:])
            return jnp.einsum("nhij,nhkj->hik", rows, rows), jnp.einsum("nhij,nhik->hjk", rows, rows)

        return [one(g) for g in jax.tree.leaves(grads)]

    structure = jax.tree.structure(fisher.params)
    left, right = [], []
    for leaf, (a, b) in zip(jax.tree.leaves(fisher.params), fisher.accumulate(factors), strict=True):
        total = jnp.trace(a, axis1=1, axis2=2)[:, None, None]
        left.append(a)
        right.append(jnp.ones((1, 1, 1), a.dtype) if leaf.ndim < 2 else b / jnp.where(total > 0, total, 1.0))
    return Kronecker(jax.tree.unflatten(structure, left), jax.tree.unflatten(structure, right))


def _heads(x: Array, apart: bool) -> int:
    """Number of blocks an array of parameters is cut into along its leading axes."""
    size = 1
    for length in x.shape[:-2] if apart and x.ndim > 2 else ():
        size *= length
    return size


def _split(x: Array, blocks: Array) -> Array:
    return x.reshape(blocks.shape[0], -1)


def _matrices(x: Array, left: Array, right: Array) -> Array:
    return x.reshape(left.shape[0], left.shape[1], right.shape[1])


def _info(operator, found: Tree, v: Tree, damping) -> SolveInfo:
    image, _ = ravel_pytree(operator @ found)
    flat, _ = ravel_pytree(found)
    asked, _ = ravel_pytree(v)
    size = jnp.linalg.norm(asked)
    residual = jnp.linalg.norm(asked - image - damping * flat) / jnp.where(size > 0, size, 1.0)
    return SolveInfo(residual, jnp.zeros((), jnp.int32), jnp.isfinite(residual))
