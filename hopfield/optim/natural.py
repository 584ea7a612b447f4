"""Natural gradient descent, θ ← θ − η (F + λ I)⁻¹ ∇.

    optimiser = natural_gradient(model, "categorical")
    state = optimiser.init(params)
    params, state = optimiser.step(params, state, inputs, targets)

∇ is the gradient of the mean negative log-likelihood of the targets and of a penalty, F the Fisher information of the
same examples and weights, or of a part of them (`hopfield.fisher.operator`). The model is linearised once a step, for
the gradient and every product with F.

Source: Amari 1998; Martens 2010 and 2020 for damping, its Levenberg–Marquardt rule and conjugate gradients;
Goldshlager, Abrahamsen & Lin 2024 (SPRING) for momentum.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array

from hopfield._arguments import integer, one_of, real_scalar
from hopfield._arrays import Tree
from hopfield._numerics import nan_outside
from hopfield.fisher import Fisher, Likelihood, _programs
from hopfield.fisher._conjugate_gradients import flat_conjugate_gradient, flattened
from hopfield.fisher.operator import FisherKind, Solver
from hopfield.optim._rates import Schedule, check_params, value_at
from hopfield.optim._safeguards import LEAST, ROUNDED, Trial, check_damping, or_gradient, share, still
from hopfield.optim._steps import PART, Evaluated, NaturalOptimiser, common, shared

SMALL = 1500
"""Parameters up to which "auto" forms the whole matrix."""
FEW = 2000
"""Rows up to which "auto" takes the kernel form, where they are fewer than parameters."""
ROOM = 2**26
"""Most entries that rows of the kernel form may have: 256 MB in single precision."""

ChosenSolver = Literal["auto", Solver]
CHOSEN_SOLVERS: tuple[ChosenSolver, ...] = get_args(ChosenSolver)


class NaturalGradientState(NamedTuple):
    """State of `natural_gradient`: the input of its next step, and the outcome of the last one.

    Example:
        >>> from hopfield.optim import natural_gradient
        >>> natural_gradient(lambda w, x: x @ w, "categorical").init(jnp.zeros(3)).count.item()
        0
    """

    count: Array
    loss: Array
    """Loss of the batch where the last step began."""
    damping: Array
    direction: Array
    """The last solution as one vector [P]: a warm start, and the momentum's past."""
    residual: Array
    iterations: Array
    """Iterations of conjugate gradients."""
    products: Array
    """With F, of the last step."""
    lengths: Array
    """Number of lengths tried for the last step, a loss of the batch each."""
    accepted: Array
    """True if the last step was taken; rejected steps are zero."""
    finite: Array
    """True if the solution was finite and better than zero; else the step followed the gradient."""
    gain: Array
    """Fall of the loss over the fall that the quadratic model predicted; 1 if not asked for."""


class Solving(NamedTuple):
    """Options of the solver, which a program is compiled for."""

    solver: ChosenSolver
    momentum: float
    max_iterations: int


class NaturalGradient(NaturalOptimiser):
    """Natural gradient descent by a solution of the damped system. Build with `natural_gradient`."""

    tolerance: Any
    solving: Solving = struct.field(pytree_node=False)

    def init(self, params: Tree) -> NaturalGradientState:
        check_params(params)
        dtype = jnp.result_type(*jax.tree.leaves(params))
        as_number = lambda x: jnp.asarray(x, dtype)
        return NaturalGradientState(
            count=jnp.zeros((), jnp.int32),
            loss=as_number(jnp.nan),
            damping=as_number(self.damping if self.common.adaptive else 0.0),
            direction=jnp.zeros_like(flattened(params)[0]),
            residual=as_number(0.0),
            iterations=jnp.zeros((), jnp.int32),
            products=jnp.zeros((), jnp.int32),
            lengths=jnp.zeros((), jnp.int32),
            accepted=jnp.array(True),
            finite=jnp.array(True),
            gain=as_number(1.0),
        )

    def _direction(
        self, params: Tree, state: NaturalGradientState, at: Evaluated
    ) -> tuple[Trial, NaturalGradientState]:
        solver, part = self._solver(params, at.linear.outputs)
        curvature = self._curvature(params, at.examples, at.linear.outputs, state.count, part)
        whole = curvature.outputs.shape == at.linear.outputs.shape
        linear = at.linear if whole else _programs.linearised(curvature._model, params)
        damping = state.damping if self.common.adaptive else value_at(self.damping, state.count)
        damping = jnp.asarray(damping, state.damping.dtype)
        shaped = flattened(params)[1]

        def product(v: Array, begin: Array | bool = False) -> Array:
            """F v, or to begin with the gradient, so that the model's derivatives stand in the program once."""
            images = curvature._of_outputs(linear.push(shaped(v)))
            images = jnp.where(begin, at.slopes, images) if whole else images
            return flattened(linear.pull(images)[0])[0] + jnp.where(begin, at.penalised, 0.0)

        return self._solution(curvature, product, at, solver, state, damping)

    def _solution(
        self,
        curvature: Fisher,
        product: Callable[..., Array],
        at: Evaluated,
        solver: Solver,
        state: NaturalGradientState,
        damping: Array,
    ) -> tuple[Trial, NaturalGradientState]:
        """(F + λ I)⁻¹ ∇, drawn to the last direction by momentum. If that is not finite, the gradient itself."""
        (chosen, mu, limit), tolerance, past, grads = self.solving, self.tolerance, state.direction, at.grads
        whole = curvature.outputs.shape == at.linear.outputs.shape
        if solver == "kernel":  # which divides by the damping; chosen by itself, where it has no more rows than params
            damping = nan_outside(damping, damping > 0) if chosen == "kernel" else jnp.maximum(damping, LEAST)
        # SPRING: argmin ½ dᵀFd − ∇·d + ½ λ ‖d − μ d_last‖², whose system is the damped one for ∇ − μ F d_last.
        drawn = mu * product(past) if mu else 0.0
        right = None if solver == "cg" and whole and not mu else grads - drawn
        start = None if mu else past
        if solver != "cg":  # conjugate gradients measure what is left, and go on where rounding spoils it
            start = _programs.direct(curvature, grads - drawn, damping, solver).astype(grads.dtype)
            limit, tolerance = (limit, jnp.maximum(tolerance, ROUNDED)) if chosen == "auto" else (0, tolerance)
        solved = flat_conjugate_gradient(product, right, damping, None, start, tolerance, limit)
        direction, image, grads, info = solved[0] + mu * past, solved[1] + drawn, solved[2] + drawn, solved[3]
        # A curvature that is not finite shows in the solution, in its residual, or in a solver that has not moved; one
        # that rounding has spoilt in a residual beyond that of no step at all.
        moved = ~still(direction) | still(grads)
        is_finite = jnp.all(jnp.isfinite(direction))
        sound = is_finite & (info.residual <= 1.0) & moved
        direction, image = or_gradient(direction, grads, sound), jnp.where(sound, image, 0.0)
        residual = jnp.asarray(info.residual, state.residual.dtype)
        return Trial.along(grads, direction, lambda small, unit: jnp.sum(small * (image / unit))), state._replace(
            damping=damping,
            direction=jnp.where(jnp.all(jnp.isfinite(direction)), direction, 0.0),
            residual=jnp.where(jnp.isfinite(residual), residual, jnp.inf),
            iterations=info.iterations,
            products=info.products + (mu > 0),
            accepted=jnp.array(True),
            finite=sound,
            gain=jnp.ones_like(state.gain),
        )

    def _linearises(self, params: Tree, outputs: Any) -> bool:
        part = self._solver(params, outputs)[1]
        return part is None or part >= outputs.shape[0]

    def _solver(self, params: Tree, outputs: Any) -> tuple[Solver, int | None]:
        """The solver for outputs of this shape, and the examples that F is taken from, all if None."""
        columns = {"exact": outputs.shape[-1], "monte_carlo": self.common.samples, "empirical": 1}[self.common.kind]
        part, chosen = self._part(None), self.solving.solver
        examples = outputs.shape[0] if part is None else min(part, outputs.shape[0])
        rows = examples * math.prod(outputs.shape[1:-1]) * columns
        solver: Solver = _solver_for(sum(x.size for x in jax.tree.leaves(params)), rows) if chosen == "auto" else chosen
        return solver, self._part(PART if solver == "cg" else None)


def natural_gradient(
    model: Callable,
    likelihood: Likelihood | str,
    learning_rate: Schedule = 1.0,
    *,
    damping: Schedule | str = "lm",
    initial_damping: float = 0.1,
    solver: ChosenSolver | str = "auto",
    fisher: FisherKind = "exact",
    samples: int = 1,
    examples: int | str | None = "auto",
    momentum: float = 0.0,
    trust_radius: float | None = None,
    penalty: Callable[[Tree], Array] | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 10,
) -> NaturalGradient:
    """Natural gradient descent with damping, by conjugate gradients, a dense factor or the kernel form.

    Args:
        model: (params, inputs) ↦ outputs [B, *t, K], the likelihood's natural parameters.
        likelihood: of the targets given the outputs, or its name. The loss is the mean of −log p, which for "gaussian"
            is half the squared error, summed over outputs.
        learning_rate: η, a number or a schedule of the step.
        damping: "lm" for the Levenberg–Marquardt rule, which halves each step until the loss of the batch falls, takes
            none otherwise, and adapts λ from `initial_damping` on; or λ ≥ 0 (positive for "kernel"), a number or a
            schedule.
        solver: "cg", "cholesky", "kernel", or "auto": Cholesky for few parameters, the kernel form for few examples
            if its rows take little memory, else conjugate gradients, which also go on where rounding spoils these.
        fisher: "exact", "monte_carlo" (with `samples` draws per term) or "empirical".
        examples: of the batch that F is taken from, others at every step; all if None, and "auto" is 64 of them for
            conjugate gradients, all for others.
        momentum: μ in [0, 1): the solution is drawn to μ times the last one wherever the data say nothing (SPRING).
        trust_radius: bound of √(dᵀ F d), the length of a step in the Fisher metric; none if None.
        penalty: params ↦ a further term of the loss, such as weight decay.
        tolerance, max_iterations: relative residual and bound of conjugate gradients, started from the last solution.
    Raises ValueError for an option out of its range.
    """
    check_damping(damping, initial_damping, trust_radius, zero=solver != "kernel")
    chosen = one_of("solver", solver, CHOSEN_SOLVERS)
    return NaturalGradient(
        **shared(model, likelihood, learning_rate, (damping, initial_damping), trust_radius),
        common=common(fisher, samples, examples, damping, penalty),
        tolerance=real_scalar("tolerance", tolerance, "a finite number of at least 0", 0.0),
        solving=Solving(chosen, share("momentum", momentum), integer("max_iterations", max_iterations)),
    )


def _solver_for(size: int, rows: int) -> Solver:
    """The solver of a matrix of this size, of so many rows."""
    if size <= SMALL:
        return "cholesky"
    return "kernel" if rows <= min(FEW, size, ROOM // size) else "cg"
