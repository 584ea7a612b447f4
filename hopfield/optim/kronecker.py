"""Natural gradients with an approximate Fisher information averaged over steps: Kronecker factors, and the diagonal."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array

from hopfield._arrays import Tree
from hopfield._numerics import safe_norm
from hopfield.fisher import Fisher, Likelihood
from hopfield.fisher import fisher as fisher_of
from hopfield.fisher._conjugate_gradients import flattened
from hopfield.fisher._programs import quadratic_by
from hopfield.fisher.building import at_outputs
from hopfield.fisher.operator import FisherKind
from hopfield.fisher.structured import Heads
from hopfield.optim._rates import Schedule, check_params
from hopfield.optim._safeguards import Trial, check_damping, or_gradient, share
from hopfield.optim._steps import PART, Evaluated, NaturalOptimiser, common, shared


class ApproximateState(NamedTuple):
    """State of an approximate natural gradient: the averaged curvature, and the outcome of the last step."""

    count: Array
    loss: Array
    """Loss of the batch where the last step began."""
    averaged: Array
    """Number of finite curvatures in the average."""
    average: Array
    """As one vector, in float32 at least, whose sums small changes still move."""
    norm: Array
    """Norm of the last direction."""
    lengths: Array
    """Number of lengths tried for the last step, a loss of the batch each."""
    damping: Array
    accepted: Array
    """True if the last step was taken; rejected steps are zero."""
    finite: Array
    """True if curvature and solution of the last step were finite; else the step followed the gradient."""
    gain: Array
    """Fall of the loss over the fall that the quadratic model predicted; 1 if not asked for."""


class Averaged(NaturalOptimiser):
    """Natural gradient by a form of F that is averaged over steps. Build with `kronecker_natural_gradient`."""

    decay: Any
    diagonal: bool = struct.field(pytree_node=False)
    heads: Heads | None = struct.field(pytree_node=False)

    def init(self, params: Tree) -> ApproximateState:
        check_params(params)
        # The shapes of the average follow from the parameters alone: those of a model with one output.
        form = lambda p: flattened(self._form(fisher_of(_one_output, p, likelihood="gaussian")))[0]
        probe = jax.eval_shape(form, params)
        empty = jnp.zeros(probe.shape, probe.dtype)
        dtype = jnp.result_type(*jax.tree.leaves(params))
        number = lambda x: jnp.asarray(x, dtype)
        none, yes = jnp.zeros((), jnp.int32), jnp.array(True)
        start = number(self.damping)
        return ApproximateState(none, number(jnp.nan), none, empty, number(0.0), none, start, yes, yes, number(1.0))

    def _form(self, curvature: Fisher) -> Tree:
        return curvature.diagonal() if self.diagonal else self._blocks(curvature).blocks

    def _blocks(self, curvature: Fisher) -> Any:
        return curvature.kronecker(self.heads, factored_damping=False)

    def _direction(self, params: Tree, state: ApproximateState, at: Evaluated) -> tuple[Trial, ApproximateState]:
        curvature = self._curvature(params, at.examples, at.linear.outputs, state.count, self._part(PART))
        now, formed = flattened(self._form(curvature))
        state, average = _update_average(state, now, self.decay)
        average = formed(average)
        damping = state.damping if self.common.adaptive else self.damping
        shaped = flattened(params)[1]
        grads = shaped(at.grads)
        if self.diagonal:
            solved = jax.tree.map(lambda g, d: g / (d + damping), grads, average)
        else:
            solved = self._blocks(curvature).replace(blocks=average).solve(grads, damping)
        direction = flattened(solved)[0].astype(at.grads.dtype)  # of data that may be wider
        sound = state.finite & jnp.all(jnp.isfinite(direction))
        direction = or_gradient(direction, at.grads, sound)
        exact = at_outputs(self.model, params, at.linear.outputs, at.examples, self.likelihood, "exact", 1)
        measure = quadratic_by(exact, at.linear)
        quadratic = lambda small, _: measure(shaped(small)) if self._measures() else 0.0
        norm = safe_norm(direction).astype(state.norm.dtype)
        return Trial.along(at.grads, direction, quadratic), state._replace(norm=norm, finite=sound)

    def _best_length(self, trial: Trial, state: ApproximateState) -> Any:
        """Length at which the quadratic model with F itself is least, where steps are tried at all."""
        if not self.common.adaptive:
            return 1.0
        level = trial.size * (trial.bend + state.damping * trial.square)
        return trial.slope / jnp.where(level > 0, level, 1.0)


def kronecker_natural_gradient(
    model: Callable,
    likelihood: Likelihood | str,
    learning_rate: Schedule = 1.0,
    *,
    damping: float | str = "lm",
    initial_damping: float = 0.1,
    decay: float = 0.95,
    fisher: FisherKind = "monte_carlo",
    samples: int = 1,
    examples: int | str | None = "auto",
    heads: Heads | None = None,
    trust_radius: float | None = None,
    penalty: Callable[[Tree], Array] | None = None,
) -> Averaged:
    """θ ← θ − η (F̂ + λ I)⁻¹ ∇ with F̂ a Kronecker product per matrix of parameters, averaged over steps.

    An approximation: blocks of different arrays are decoupled and each is taken to factor
    (`hopfield.fisher.structured.kronecker`). The damped inverse is exact for that F̂. Trust radius, length of the step
    and reduction ratio are measured with the Fisher information itself, of all examples of the step.

    Args:
        model, likelihood, learning_rate, initial_damping, trust_radius, penalty: as in `natural_gradient`.
        damping: "lm" as in `natural_gradient`: a rate of one goes to the least value of the quadratic model along the
            direction; or a number λ > 0: a rate of one goes the whole direction.
        decay: weight of the past in the average of the factors, in [0, 1), corrected for its start.
        fisher, samples, examples: kind, number and examples of the rows that the factors are made of: one draw of each
            of 64 examples of the batch, others at every step; all if None.
        heads: axes of an array along which blocks are separate, as for `Fisher.kronecker`.

    Source: Martens & Grosse 2015; Ren & Goldfarb 2021.
    """
    check_damping(damping, initial_damping, trust_radius, zero=False)
    return Averaged(
        **shared(model, likelihood, learning_rate, (damping, initial_damping), trust_radius),
        common=common(fisher, samples, examples, damping, penalty),
        decay=share("decay", decay),
        diagonal=False,
        heads=heads,
    )


def diagonal_fisher(
    model: Callable,
    likelihood: Likelihood | str,
    learning_rate: Schedule = 1.0,
    *,
    damping: float | str = "lm",
    initial_damping: float = 0.1,
    decay: float = 0.95,
    fisher: FisherKind = "monte_carlo",
    samples: int = 1,
    examples: int | str | None = "auto",
    trust_radius: float | None = None,
    penalty: Callable[[Tree], Array] | None = None,
) -> Averaged:
    """θ ← θ − η ∇ / (diag F + λ), the diagonal averaged over steps: an approximation that decouples all parameters.

    Arguments: as in `kronecker_natural_gradient`.
    """
    check_damping(damping, initial_damping, trust_radius, zero=False)
    return Averaged(
        **shared(model, likelihood, learning_rate, (damping, initial_damping), trust_radius),
        common=common(fisher, samples, examples, damping, penalty),
        decay=share("decay", decay),
        diagonal=True,
        heads=None,
    )


def _update_average(state: ApproximateState, now: Array, decay: float) -> tuple[ApproximateState, Array]:
    """The state with a curvature in its average if that is finite, and `finite`; and the average without its bias."""
    sound = jnp.all(jnp.isfinite(now))
    average = (decay * state.average + (1 - decay) * now).astype(state.average.dtype)
    average = jnp.where(sound, average, state.average)  # what is not finite would stay in it for good
    start = 1 - decay ** (state.averaged + 1.0)
    state = state._replace(average=average, averaged=state.averaged + sound.astype(jnp.int32), finite=sound)
    return state, average / start


def _one_output(params: Tree) -> Array:
    return sum((jnp.sum(x) for x in jax.tree.leaves(params)), jnp.zeros(())).reshape(1, 1)
