"""The Fisher information of a model's outputs as a lazy, matrix-free operator over a pytree of parameters.

    F = Σ_n w_n J_nᵀ F_out(η_n) J_n / Σ_n w_n      J_n = ∂η_n/∂θ

over the terms n (examples and their tokens): the generalised Gauss–Newton matrix of the mean negative log-likelihood.

Source: Martens, JMLR 21, 146 (2020); for the empirical Fisher Kunstner, Balles & Hennig (2019), arXiv:1905.12558.
"""

from collections.abc import Callable
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import integer, one_of, real_scalar
from hopfield._arrays import Tree
from hopfield._numerics import accumulation_dtype
from hopfield._pytrees import Node
from hopfield.fisher import _programs
from hopfield.fisher.block_forms import BlockDiagonal
from hopfield.fisher.likelihoods import Likelihood
from hopfield.fisher.solvers import SolveInfo
from hopfield.fisher.structured import Heads, block_diagonal, kronecker

FisherKind = Literal["exact", "monte_carlo", "empirical"]
FISHER_KINDS: tuple[FisherKind, ...] = get_args(FisherKind)
Solver = Literal["cg", "cholesky", "kernel"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)
CHUNK = 256
"""Rows held at once where they are only summed over."""


class Fisher(Node):
    """F as an operator: `F @ v` costs one product with J and one with Jᵀ and forms no matrix. Built by `fisher`.

    Example:
        >>> from hopfield.fisher import Gaussian, fisher
        >>> model, x = lambda params, x: x @ params, jnp.array([[1.0, 0.0], [0.0, 2.0]])
        >>> F = fisher(model, jnp.zeros((2, 1)), likelihood=Gaussian(1.0), inputs=x)
        >>> print(F @ jnp.ones((2, 1)))
        [[0.5]
         [2. ]]
    """

    params: Tree
    inputs: Tree
    outputs: Float[Array, "B *t K"]
    weights: Float[Array, "B *t"]
    """w / Σ w."""
    factor: Float[Array, "B *t K R"] | None
    """Scores in the place of F_out's factor; None for the exact one."""
    likelihood: Likelihood
    model_fn: Callable = struct.field(pytree_node=False)
    kind: FisherKind = struct.field(pytree_node=False)

    def linearised(self) -> Callable[[Tree], Tree]:
        """v ↦ F v with the model linearised once, for loops over products."""
        return _programs.product_by(self, _programs.linearised(self._model, self.params))

    def __matmul__(self, vector: Tree) -> Tree:
        """F v, of the parameters' structure."""
        self._check_vector(vector)
        return _programs.product(self, vector)

    def quadratic(self, vector: Tree) -> Float[Array, ""]:
        """vᵀ F v ≥ 0, by one product with J; KL(p_θ ‖ p_(θ+v)) ≈ ½ vᵀ F v, averaged as F is."""
        self._check_vector(vector)
        return _programs.quadratic(self, vector)

    def solve(
        self,
        vector: Tree,
        damping: ArrayLike,
        *,
        solver: Solver = "cg",
        preconditioner: BlockDiagonal | Callable[[Tree], Tree] | None = None,
        x0: Tree | None = None,
        tolerance: float = 1e-6,
        max_iterations: int = 100,
    ) -> tuple[Tree, SolveInfo]:
        """(F + λ I)⁻¹ v and how it was found.

        Args:
            vector: v, of the parameters' structure.
            damping: λ ≥ 0; positive for "kernel". NaN in the vector gives a solution of NaN.
            solver: "cg" matrix-free; "cholesky" [P, P]; "kernel" [B R, B R] by Woodbury, for few rows.
            preconditioner, x0, max_iterations: of "cg"; a structured form of F preconditions with its own `solve`.
            tolerance: relative residual that counts as converged. Where λ is below the rounding of F, a small residual
                says little of directions in which F vanishes (5 to 12 % off at λ = 1e-6 in single precision).
        """
        self._check_vector(vector)
        one_of("solver", solver, SOLVERS)
        lowest, least = ("positive", 1e-300) if solver == "kernel" else ("non-negative", 0.0)
        tolerance = real_scalar("tolerance", tolerance, "a finite number of at least 0", 0.0)
        max_iterations = integer("max_iterations", max_iterations)
        damping = real_scalar("damping", damping, f"{lowest} and finite for solver {solver!r}", least)
        if solver != "cg":
            return _programs.solved_directly(self, vector, damping, tolerance, solver)
        blocks = preconditioner if isinstance(preconditioner, BlockDiagonal) else None
        inverse = None if blocks is not None else preconditioner
        return _programs.solved_by_cg(self, vector, damping, blocks, x0, tolerance, inverse, max_iterations)

    def rows(self) -> Float[Array, "N P"]:
        """√(w_n/Σw) Lᵀ J_n of all terms n and columns of L, so that F = rowsᵀ rows; `ravel_pytree`'s order of θ."""
        return _programs.rows_of(self)

    def kernel(self) -> Float[Array, "N N"]:
        """rows rowsᵀ, the neural tangent kernel in the outputs' own metric: F's non-zero spectrum."""
        rows = self.rows()
        return rows @ rows.T

    def to_dense(self) -> Float[Array, "P P"]:
        """F as a matrix, in `ravel_pytree`'s order of the parameters."""
        return self.over_rows(_programs.gram)

    def diagonal(self) -> Tree:
        """diag F, of the parameters' structure."""
        return self.over_rows(_programs.squares)

    def trace(self) -> Float[Array, ""]:
        """tr F."""
        return self.over_rows(_programs.square)

    def block_diagonal(self, heads: Heads | None = None) -> BlockDiagonal:
        """F without entries between different leaves: one dense block per leaf, exact within the block.

        Args:
            heads: (path, leaf) ↦ axes of the leaf along which blocks are separate as well; none if None.
        """
        return block_diagonal(self, heads)

    def kronecker(
        self, heads: Heads | None = None, *, dense_limit: int = 512, factored_damping: bool = True
    ) -> BlockDiagonal:
        """F with L ⊗ R in the place of every matrix's block. See `structured.kronecker`."""
        return kronecker(self, heads, dense_limit=dense_limit, factored_damping=factored_damping)

    def over_rows(self, statistic: Callable[[Tree], Tree]) -> Tree:
        """Σ statistic(rows of a chunk of examples), for statistics that add over rows and vanish for rows of zeros.

        Args:
            statistic: of a pytree like the parameters, with the rows as a further leading axis. Compiled once per
                function, so that it is best one that is made once.
        """
        return _programs.summed_over_rows(self, statistic)

    def _summed_over_rows(self, statistic: Callable[[Tree], Tree]) -> Tree:
        factor = self._scaled_factor()
        count, each = factor.shape[0], int(np.prod(factor.shape[1:-2])) * factor.shape[-1]
        size = min(count, max(1, CHUNK // each))
        if self.inputs is None or size == count:
            return statistic(self._rows(self.inputs, factor))
        steps = -(-count // size)

        def chunks(array: Array, fill: bool) -> Array:
            more = jnp.broadcast_to(array[:1], (steps * size - count, *array.shape[1:]))
            full = jnp.concatenate([array, more if fill else jnp.zeros_like(more)])
            return full.reshape(steps, size, *array.shape[1:])

        parts = jax.tree.map(lambda x: chunks(jnp.asarray(x), True), self.inputs), chunks(factor, False)
        shapes = jax.eval_shape(lambda part: statistic(self._rows(*part)), jax.tree.map(lambda x: x[0], parts))
        zero = jax.tree.map(lambda s: jnp.zeros(s.shape, accumulation_dtype(s.dtype)), shapes)

        def add(total: Tree, part: tuple) -> tuple[Tree, None]:
            return jax.tree.map(lambda t, x: t + x.astype(t.dtype), total, statistic(self._rows(*part))), None

        return jax.tree.map(lambda t, s: t.astype(s.dtype), jax.lax.scan(add, zero, parts)[0], shapes)

    def _model(self, params: Tree) -> Array:
        return self.model_fn(params) if self.inputs is None else self.model_fn(params, self.inputs)

    def _of_outputs(self, tangent: Array) -> Array:
        """w F_out tangent."""
        weights = self.weights[..., None]
        if self.factor is None:
            return weights * self.likelihood.fisher_product(self.outputs, tangent)
        return weights * jnp.einsum("...kr,...jr,...j->...k", self.factor, self.factor, tangent)

    def _scaled_factor(self) -> Float[Array, "B *t K R"]:
        factor = self.likelihood.fisher_factor(self.outputs) if self.factor is None else self.factor
        return jnp.sqrt(self.weights)[..., None, None] * factor

    def _rows(self, inputs: Tree, factor: Float[Array, "n *t K R"]) -> Tree:
        """Rows of examples by one vector–Jacobian product each. Known inputs are differentiated example by example."""
        if inputs is None:
            return _pull_back(self.model_fn, self.params, factor)

        def example(one: Tree, factor: Array) -> Tree:
            def model_of_example(params: Tree) -> Array:
                return self.model_fn(params, jax.tree.map(lambda x: x[None], one))[0]

            return _pull_back(model_of_example, self.params, factor)

        rows = jax.vmap(example)(inputs, factor)
        return jax.tree.map(lambda r: r.reshape(-1, *r.shape[2:]), rows)

    def _check_vector(self, vector: Tree) -> None:
        have, want = ([jnp.shape(x) for x in jax.tree.leaves(t)] for t in (vector, self.params))
        if jax.tree.structure(vector) != jax.tree.structure(self.params) or have != want:
            raise ValueError(f"vector must have the structure and shapes of params, got shapes {have} for {want}")
        if any(jnp.issubdtype(jnp.result_type(leaf), jnp.complexfloating) for leaf in jax.tree.leaves(vector)):
            raise ValueError("vector must be real numbers, got complex ones")


def _pull_back(model: Callable[[Tree], Array], params: Tree, factor: Float[Array, "*t K R"]) -> Tree:
    """Jᵀ of every column of every term's factor: leaves [t R, *leaf]."""
    *terms, outputs, columns = factor.shape
    count = int(np.prod(terms))
    eye = jnp.eye(count, dtype=factor.dtype)
    each = jnp.einsum("tkr,ts->trsk", factor.reshape(count, outputs, columns), eye)
    _, pull = jax.vjp(model, params)
    return jax.vmap(pull)(each.reshape(count * columns, *terms, outputs))[0]
