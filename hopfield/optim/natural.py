"""Natural gradient descent, θ ← θ − η (F + λ I)⁻¹ ∇, as an optax transform.

    optimiser = natural_gradient(1.0, likelihood="categorical", damping=1e-3)
    updates, state = optimiser.update(grads, state, params, model_fn=model_fn, inputs=inputs)

The gradient is that of the mean negative log-likelihood, with or without other terms; F is the Fisher information of
the same examples and weights (`hopfield.fisher.operator`).

A batch too large for one gradient: take the mean over its parts and call `update` once, or let `optax.MultiSteps` do
so. It hands on the mean gradient, but the other arguments of the last mini-step alone, and is therefore refused unless
they are of all examples and are said to be:

    optimiser = optax.MultiSteps(natural_gradient(...), 4, accumulator_dtype=grads_of_part.dtype)
    optimiser.update(grads_of_part, state, params, model_fn=model_fn, inputs=inputs_of_all, accumulated=True)

It solves at every mini-step and keeps the last solution, so that the first way is the cheaper one. In `optax.chain` and
`nnx.Optimizer` it stands as `optax.GradientTransformationExtraArgs(optimiser.init, optimiser.update)`: they give other
arguments only to what is declared to take them.

Source: Amari 1998; Martens 2010 and 2020 for damping, its Levenberg–Marquardt rule and conjugate gradients;
Goldshlager, Abrahamsen & Lin 2024 (SPRING) for momentum.
"""

from functools import partial
from typing import Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from hopfield._arguments import integer, one_of, real_scalar
from hopfield._arrays import Tree
from hopfield._numerics import nan_outside
from hopfield.fisher import Fisher, Likelihood, as_likelihood
from hopfield.fisher.operator import FisherKind, Solver
from hopfield.fisher.solvers import axpy, selected
from hopfield.optim import _safeguards
from hopfield.optim._safeguards import (
    LEAST,
    accept_or_reject,
    finite,
    or_gradient,
    refine_solution,
    share,
    shrink_to_radius,
    still,
)
from hopfield.optim._transform import Call, Schedule, check_kind, check_rate, transform, value_at

SMALL = 1500
"""Parameters up to which "auto" forms the whole matrix."""
FEW = 2000
"""Rows up to which "auto" takes the kernel form, where they are fewer than parameters."""
ROOM = 2**26
"""Entries of those rows up to which it does: 256 MB in single precision."""

ChosenSolver = Literal["auto", Solver]
CHOSEN_SOLVERS: tuple[ChosenSolver, ...] = get_args(ChosenSolver)


class NaturalGradientState(NamedTuple):
    """State of `natural_gradient`: the input of its next step, and the outcome of the last one.

    Example:
        >>> from hopfield.optim import natural_gradient
        >>> natural_gradient(0.1, likelihood="categorical").init(jnp.zeros(3)).count.item()
        0
    """

    count: Array
    damping: Array
    direction: Tree
    """The last solution: a warm start, and the momentum's past."""
    residual: Array
    iterations: Array
    accepted: Array
    """Whether the last step was taken; rejected steps are zero."""
    finite: Array
    """Whether the solution was, and left less than no step does; if not the step followed the gradient."""
    gain: Array
    """Fall of the loss over the fall that the quadratic model predicted; 1 where it was not asked for."""


class Options(NamedTuple):
    """Options of `natural_gradient` that are not traced."""

    likelihood: Likelihood
    damping: Schedule | str
    initial_damping: float
    solver: ChosenSolver
    kind: FisherKind
    samples: int
    momentum: float
    trust_radius: float | None
    tolerance: float
    max_iterations: int

    @property
    def adaptive(self) -> bool:
        """Whether λ adapts to the outcome of trial steps."""
        return isinstance(self.damping, str)


def natural_gradient(
    learning_rate: Schedule,
    *,
    likelihood: Likelihood | str,
    damping: Schedule | str = 1e-3,
    initial_damping: float = 1.0,
    solver: ChosenSolver | str = "auto",
    fisher: FisherKind = "exact",
    samples: int = 1,
    momentum: float = 0.0,
    trust_radius: float | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 100,
) -> optax.GradientTransformationExtraArgs:
    """Natural gradient descent with damping, by conjugate gradients, a dense factor or the kernel form.

    Args:
        learning_rate: η, a number or a schedule of the step.
        likelihood: of the targets given the model's outputs.
        damping: λ ≥ 0 (positive for "kernel"), a number, a schedule of the step, or "lm" for the Levenberg–Marquardt
            rule, which tries each step, takes it only if the loss falls, and adapts λ from `initial_damping` on.
        solver: "cg", "cholesky", "kernel", or "auto": Cholesky for few parameters, the kernel form for few examples
            if its rows take little memory, else conjugate gradients, which also go on where rounding spoils these.
        fisher: "exact", "monte_carlo" (with `samples` draws per term) or "empirical".
        momentum: μ in [0, 1): the solution is drawn to μ times the last one wherever the data say nothing (SPRING).
        trust_radius: bound of √(dᵀ F d), the length of a step in the Fisher metric; none if None.
        tolerance, max_iterations: relative residual and bound of conjugate gradients, started from the last solution.
    Returns:
        A transform whose `update` needs `params` and `model_fn`, and takes `inputs`, `targets`, `weights` and `key` as
        `fisher` does; "lm" also needs `value`, the loss at params, and `value_fn`, params ↦ loss. All are of the
        examples that the gradient is the mean over, which inside `optax.MultiSteps` `accumulated=True` has to state.
    Raises:
        ValueError: an option out of its range; in `update`, something missing, masked parameters, or `optax.MultiSteps`
            without `accumulated`.
    """
    check_rate(learning_rate)
    options = Options(
        likelihood=as_likelihood(likelihood),
        damping=damping,
        initial_damping=initial_damping,
        solver=one_of("solver", solver, CHOSEN_SOLVERS),
        kind=fisher,
        samples=samples,
        momentum=momentum,
        trust_radius=trust_radius,
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    _check(options)
    return transform(partial(_begin, options), partial(_step, learning_rate, options), judges=options.adaptive)


def _begin(options: Options, params: Tree) -> NaturalGradientState:
    dtype = jnp.result_type(*jax.tree.leaves(params))
    as_number = lambda x: jnp.asarray(x, dtype)
    return NaturalGradientState(
        count=jnp.zeros((), jnp.int32),
        damping=as_number(options.initial_damping if options.adaptive else 0.0),
        direction=jax.tree.map(jnp.zeros_like, params),
        residual=as_number(0.0),
        iterations=jnp.zeros((), jnp.int32),
        accepted=jnp.array(True),
        finite=jnp.array(True),
        gain=as_number(1.0),
    )


def _step(
    learning_rate: Schedule, options: Options, updates: Tree, state: NaturalGradientState, params: Tree, call: Call
) -> tuple[Tree, NaturalGradientState]:
    rate = value_at(learning_rate, state.count)
    curvature = call.fisher(params, options.likelihood, options.kind, options.samples)
    lam = state.damping if options.adaptive else value_at(options.damping, state.count)
    lam = jnp.asarray(lam, state.damping.dtype)
    moved, state = _direction(curvature, updates, state, lam, options)
    moved = jax.tree.map(lambda d: (-rate * d).astype(d.dtype), moved)
    moved = shrink_to_radius(curvature, moved, options.trust_radius)
    if options.adaptive:
        moved, state = accept_or_reject(curvature, updates, moved, state, params, call)
    return moved, state._replace(count=optax.safe_increment(state.count))


def _direction(
    curvature: Fisher, grads: Tree, state: NaturalGradientState, damping: Array, options: Options
) -> tuple[Tree, NaturalGradientState]:
    """(F + λ I)⁻¹ ∇, drawn to the last direction by momentum. If that is not finite, the gradient itself."""
    mu, past = options.momentum, state.direction
    # SPRING: argmin ½ dᵀFd − ∇·d + ½ λ ‖d − μ d_last‖², whose system is the damped one for ∇ − μ F d_last.
    right = axpy(-mu, curvature @ past, grads) if mu else grads
    start = None if mu else past
    solver: Solver = options.solver if options.solver != "auto" else _solver_for(curvature)
    if solver == "kernel":  # which divides by the damping; chosen by itself, where it has no more rows than parameters
        damping = nan_outside(damping, damping > 0) if options.solver == "kernel" else jnp.maximum(damping, LEAST)
    direction, info = curvature.solve(
        right,
        damping,
        solver=solver,
        x0=start if solver == "cg" else None,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
    )
    if options.solver == "auto" and solver != "cg":
        direction, info = refine_solution(
            curvature, right, damping, direction, info, options.tolerance, options.max_iterations
        )
    direction = axpy(mu, past, direction) if mu else direction
    # A curvature that is not finite shows in the solution, in its residual, or in a solver that has not moved; one that
    # rounding has spoilt in a residual beyond that of no step at all.
    moved = ~still(direction) | still(grads)
    sound = finite(direction) & (info.residual <= 1.0) & moved
    direction = or_gradient(direction, grads, sound)
    residual = jnp.asarray(info.residual, state.residual.dtype)
    return direction, state._replace(
        damping=damping,
        direction=selected(finite(direction), direction, jax.tree.map(jnp.zeros_like, past)),
        residual=jnp.where(jnp.isfinite(residual), residual, jnp.inf),
        iterations=info.iterations,
        accepted=jnp.array(True),
        finite=sound,
        gain=jnp.ones_like(state.gain),
    )


def _solver_for(curvature: Fisher) -> Solver:
    size = sum(x.size for x in jax.tree.leaves(curvature.params))
    columns = curvature.outputs.shape[-1] if curvature.factor is None else curvature.factor.shape[-1]
    rows = curvature.weights.size * columns
    if size <= SMALL:
        return "cholesky"
    return "kernel" if rows <= min(FEW, size, ROOM // size) else "cg"


def _check(options: Options) -> None:
    """Check that options lie in their ranges. ValueError otherwise."""
    _safeguards.check(options.damping, options.initial_damping, options.trust_radius, zero=options.solver != "kernel")
    check_kind(options.kind, options.samples)
    share("momentum", options.momentum)
    real_scalar("tolerance", options.tolerance, "a finite number of at least 0", 0.0)
    integer("max_iterations", options.max_iterations)
