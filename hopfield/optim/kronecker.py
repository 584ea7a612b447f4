"""Natural gradients with an approximate Fisher information averaged over steps: Kronecker factors, and the diagonal."""

from collections.abc import Callable
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from hopfield._arrays import Tree
from hopfield._numerics import accumulation_dtype, wide
from hopfield.fisher import Likelihood, as_likelihood, fisher
from hopfield.fisher.operator import FisherKind
from hopfield.fisher.solvers import selected
from hopfield.optim import _safeguards
from hopfield.optim._safeguards import accept_or_reject, finite, or_gradient, share, shrink_to_radius
from hopfield.optim._transform import Call, Schedule, check_kind, check_rate, transform, value_at


class ApproximateState(NamedTuple):
    """State of an approximate natural gradient: the averaged curvature, and the outcome of the last step."""

    count: Array
    averaged: Array
    """Curvatures in the average: those that were finite."""
    average: Tree
    """In float32 at least, whose sums small changes still move."""
    norm: Array
    """Of the last direction."""
    damping: Array
    accepted: Array
    """Whether the last step was taken; rejected steps are zero."""
    finite: Array
    """Whether its curvature and solution were; if not the step followed the gradient."""
    gain: Array
    """Fall of the loss over the fall that the quadratic model predicted; 1 where it was not asked for."""


class Options(NamedTuple):
    """Options of an approximate natural gradient, of whatever form."""

    learning_rate: Schedule
    likelihood: Likelihood | str
    damping: float | str
    initial_damping: float
    decay: float
    kind: FisherKind
    samples: int
    trust_radius: float | None


def kronecker_natural_gradient(
    learning_rate: Schedule,
    *,
    likelihood: Likelihood | str,
    damping: float | str = 1e-3,
    initial_damping: float = 1.0,
    decay: float = 0.95,
    fisher: FisherKind = "exact",
    samples: int = 1,
    trust_radius: float | None = None,
) -> optax.GradientTransformationExtraArgs:
    """θ ← θ − η (F̂ + λ I)⁻¹ ∇ with F̂ a Kronecker product per matrix of parameters, averaged over steps.

    An approximation: blocks of different arrays are decoupled and each is taken to factor
    (`hopfield.fisher.structured.kronecker`). The damped inverse is exact for that F̂. Trust radius and reduction
    ratio measure its steps with the Fisher information itself, of the examples of the step.

    Args:
        learning_rate: η, a number or a schedule of the step.
        likelihood: of the targets given the model's outputs.
        damping: λ > 0, or "lm" for the Levenberg–Marquardt rule, which tries each step, takes it only if the loss
            falls, and adapts λ from `initial_damping` on.
        decay: weight of the past in the average of the factors, in [0, 1), corrected for its start.
        fisher, samples: kind of the rows, as for `hopfield.fisher.operator`.
        trust_radius: bound of √(dᵀ F d), the length of a step in the Fisher metric; none if None.

    Returns:
        A transform whose `update` needs `params` and `model_fn`, and takes `inputs`, `targets`, `weights`, `key`,
        `value`, `value_fn` and `accumulated`, as that of `hopfield.optim.natural_gradient`.

    Source: Martens & Grosse 2015; Ren & Goldfarb 2021.
    """
    form = lambda curvature: curvature.kronecker(factored_damping=False).blocks

    def solve(curvature, average, grads, damping):
        blocks = curvature.kronecker(factored_damping=False).replace(blocks=average)
        return blocks.solve(grads, damping)

    options = Options(
        learning_rate,
        likelihood,
        damping,
        initial_damping,
        decay=decay,
        kind=fisher,
        samples=samples,
        trust_radius=trust_radius,
    )
    return _averaging_transform(form, solve, options)


def diagonal_fisher(
    learning_rate: Schedule,
    *,
    likelihood: Likelihood | str,
    damping: float | str = 1e-3,
    initial_damping: float = 1.0,
    decay: float = 0.95,
    fisher: FisherKind = "exact",
    samples: int = 1,
    trust_radius: float | None = None,
) -> optax.GradientTransformationExtraArgs:
    """θ ← θ − η ∇ / (diag F + λ), the diagonal averaged over steps: an approximation that decouples all parameters.

    Arguments and `update` as of `kronecker_natural_gradient`.
    """

    def solve(curvature, average, grads, damping):
        return jax.tree.map(lambda g, d: g / (d + damping), grads, average)

    options = Options(
        learning_rate,
        likelihood,
        damping,
        initial_damping,
        decay=decay,
        kind=fisher,
        samples=samples,
        trust_radius=trust_radius,
    )
    return _averaging_transform(lambda curvature: curvature.diagonal(), solve, options)


def _averaging_transform(form: Callable, solve: Callable, options: Options) -> optax.GradientTransformationExtraArgs:
    """The transform of a form of the curvature, curvature ↦ arrays, and of its solve."""
    check_rate(options.learning_rate)
    _safeguards.check(options.damping, options.initial_damping, options.trust_radius, zero=False)
    share("decay", options.decay)
    check_kind(options.kind, options.samples)
    chosen = as_likelihood(options.likelihood)
    adaptive = isinstance(options.damping, str)

    def init(params: Tree) -> ApproximateState:
        # The shapes of the average follow from the parameters alone: those of a model with one output.
        probe = jax.eval_shape(lambda p: form(fisher(_one_output, p, likelihood="gaussian")), params)
        empty = jax.tree.map(lambda x: jnp.zeros(x.shape, accumulation_dtype(x.dtype)), probe)
        dtype = jnp.result_type(*jax.tree.leaves(params))
        number = lambda x: jnp.asarray(x, dtype)
        none, yes = jnp.zeros((), jnp.int32), jnp.array(True)
        start = number(options.initial_damping if adaptive else options.damping)
        return ApproximateState(none, none, empty, number(0.0), start, yes, yes, number(1.0))

    def step(updates: Tree, state: ApproximateState, params: Tree, call: Call) -> tuple[Tree, ApproximateState]:
        curvature = call.fisher(params, chosen, options.kind, options.samples)
        state, average = _update_average(state, form(curvature), options.decay)
        damping = state.damping if adaptive else options.damping
        direction = solve(curvature, average, updates, damping)
        sound = state.finite & finite(direction)
        direction = or_gradient(direction, updates, sound)
        rate = value_at(options.learning_rate, state.count)
        moved = jax.tree.map(lambda d, p: (-rate * d).astype(p.dtype), direction, params)
        moved = shrink_to_radius(curvature, moved, options.trust_radius)
        state = state._replace(
            count=cast(Array, optax.safe_increment(state.count)),
            norm=optax.tree.norm(direction).astype(state.norm.dtype),
            finite=sound,
        )
        return accept_or_reject(curvature, updates, moved, state, params, call) if adaptive else (moved, state)

    return transform(init, step, judges=adaptive)


def _update_average(state: ApproximateState, now: Tree, decay: float) -> tuple[ApproximateState, Tree]:
    """The state with a curvature in its average if that is finite, and `finite`; and the average without its bias."""
    sound = finite(now)
    average = jax.tree.map(lambda a, x: (decay * a + (1 - decay) * wide(x)).astype(a.dtype), state.average, now)
    average = selected(sound, average, state.average)  # what is not finite would stay in it for good
    start = 1 - decay ** (state.averaged + 1.0)
    state = state._replace(average=average, averaged=state.averaged + sound.astype(jnp.int32), finite=sound)
    return state, jax.tree.map(lambda a, x: (a / start).astype(x.dtype), average, now)


def _one_output(params: Tree) -> Array:
    return sum((jnp.sum(x) for x in jax.tree.leaves(params)), jnp.zeros(())).reshape(1, 1)
