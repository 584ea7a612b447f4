"""Steps of natural gradients: loss, gradient and curvature of a batch, formed from the model and the likelihood."""

import abc
import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from flax import struct
from jax.typing import ArrayLike
from jaxtyping import Array, PRNGKeyArray

from hopfield._arguments import integer, one_of, shown
from hopfield._arrays import Tree
from hopfield._numerics import is_traced
from hopfield._pytrees import Node
from hopfield.fisher import FISHER_KINDS, Fisher, Likelihood, as_likelihood
from hopfield.fisher._conjugate_gradients import flattened
from hopfield.fisher._programs import Linear, linearised
from hopfield.fisher.building import Examples, at_outputs, check_outputs, shares_of
from hopfield.fisher.operator import FisherKind
from hopfield.optim._rates import check_params, check_rate, value_at
from hopfield.optim._safeguards import Trial, tried, within_radius

NOT_FINITE = (
    "the curvature or the solution of a step is not finite, so that it follows the gradient; more damping or other "
    "parameters, inputs and targets help (state.finite tells each time; this is said once)"
)


PART = 64
"""Examples that a curvature is taken from where "auto" takes a part."""


class Evaluated(NamedTuple):
    """A batch at the parameters: its loss, there and as a function, its gradient, and the model linearised."""

    examples: Examples
    linear: Linear
    loss: Callable[[Tree], Array]
    value: Array
    grads: Array
    """As one vector [P]."""
    slopes: Array
    """Gradient of the loss in the outputs."""
    penalised: Array | float
    """Gradient of the penalty."""


class Common(NamedTuple):
    """Options of every form that a program is compiled for."""

    kind: FisherKind
    samples: int
    examples: int | str | None
    """Number of examples of the batch for the curvature; None for all, "auto" for the number best for its form."""
    adaptive: bool
    """True if λ adapts to the outcome of trial steps."""
    penalty: Callable[[Tree], Array] | None


class NaturalOptimiser(Node, abc.ABC):
    """A natural gradient of a model: `init` makes its state, `step` takes a step on a batch of inputs and targets.

    Built by `natural_gradient`, `kronecker_natural_gradient` and `diagonal_fisher`. Its numbers are leaves of a pytree.

    Example:
        >>> from hopfield.optim import natural_gradient
        >>> x, y = jnp.array([[1.0], [2.0]]), jnp.array([[2.0], [4.0]])
        >>> optimiser = natural_gradient(lambda w, x: x @ w, "gaussian")
        >>> w, state = jnp.zeros((1, 1)), optimiser.init(jnp.zeros((1, 1)))
        >>> for _ in range(20):
        ...     w, state = optimiser.step(w, state, x, y)
        >>> w.round(3).item()
        2.0
    """

    learning_rate: Any
    damping: Any
    """λ, or a schedule of λ; the first λ if λ adapts."""
    trust_radius: Any
    likelihood: Likelihood
    model: Callable = struct.field(pytree_node=False)
    common: Common = struct.field(pytree_node=False)

    @abc.abstractmethod
    def init(self, params: Tree) -> Any:
        """State of the first step, a pytree of arrays."""

    def step(
        self,
        params: Tree,
        state: Any,
        inputs: Tree,
        targets: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        key: PRNGKeyArray | None = None,
    ) -> tuple[Tree, Any]:
        """Parameters and state after one step on a batch. It is compiled, and warns once `state.finite` turns false.

        Args:
            params: pytree of floating-point arrays, such as a dict or an `nnx.State`.
            state: of `init` or of the last step.
            inputs: arrays with the leading axis B; None for a model of the parameters alone.
            targets: [B, *t] classes or [B, *t, K] numbers, as the likelihood has them.
            weights: [B, *t] or its leading axes, ≥ 0: sample weights, or a mask of tokens.
            key: of the draws of fisher="monte_carlo"; None for one that follows from the number of the step.
        Raises ValueError for arrays whose shapes do not fit. In a `jit` around it nothing warns.
        """
        check_params(params)
        after, state = _compiled(self, params, state, Examples(inputs, jnp.asarray(targets), cast(Any, weights), key))
        if not is_traced(state.finite) and not jnp.all(state.finite):
            warnings.warn(NOT_FINITE, stacklevel=2)
        return after, state

    @abc.abstractmethod
    def _direction(self, params: Tree, state: Any, at: Evaluated) -> tuple[Trial, Any]:
        """The quadratic model along the direction of the step, and the state with an account of the direction."""

    def _stepped(self, params: Tree, state: Any, batch: Examples) -> tuple[Tree, Any]:
        if batch.key is None:
            batch = batch._replace(key=jax.random.fold_in(jax.random.key(0), state.count))
        evaluated = self._evaluated(params, batch)
        trial, state = self._direction(params, state, evaluated)
        here, shaped = flattened(params)
        rate = value_at(self.learning_rate, state.count)
        step, state = self._settled(state, evaluated, trial, rate, lambda step: shaped(here + step))
        count = cast(Array, optax.safe_increment(state.count))
        return shaped(here + step), state._replace(count=count, loss=jnp.asarray(evaluated.value, state.loss.dtype))

    def _evaluated(self, params: Tree, batch: Examples) -> Evaluated:
        """Loss and gradient of a batch, of a model that is linearised once for the gradient and all products."""
        model = _of_params(self.model, batch.inputs)
        shape = jax.eval_shape(model, params)
        check_outputs(shape)
        linear = linearised(model, params) if self._linearises(params, shape) else _transposed(model, params)
        self.likelihood.check(linear.outputs, cast(Array, batch.targets))
        batch = batch._replace(shares=shares_of(batch.shares, linear.outputs))
        used, penalty = batch.shares > 0, self.common.penalty

        def loss(outputs: Array, params: Tree) -> Array:
            terms = self.likelihood.log_probability(outputs, cast(Array, batch.targets))
            value = -jnp.sum(jnp.where(used, batch.shares * terms, 0.0))  # targets of no weight may be anything
            return value if penalty is None else value + penalty(params)

        score = self.likelihood.score(linear.outputs, cast(Array, batch.targets))
        slopes = jnp.where(used[..., None], -batch.shares[..., None] * score, 0.0)
        slopes = slopes.astype(linear.outputs.dtype)
        penalised = 0.0 if penalty is None else flattened(jax.grad(penalty)(params))[0]
        grads = flattened(linear.pull(slopes)[0])[0] + penalised
        value = loss(linear.outputs, params)
        return Evaluated(batch, linear, lambda params: loss(model(params), params), value, grads, slopes, penalised)

    def _settled(self, state: Any, at: Evaluated, trial: Trial, rate: Any, after: Callable) -> tuple[Array, Any]:
        """The step along a direction, within the trust radius; if the loss is measured, of the best length."""
        if not self._measures():
            return -rate * trial.direction, state
        length = within_radius(trial, rate * self._best_length(trial, state), self.trust_radius)
        if not self.common.adaptive:
            return -length * trial.direction, state
        return tried(trial, length, at.value, lambda step: at.loss(after(step)), state)

    def _best_length(self, trial: Trial, state: Any) -> Any:
        """Multiple of the direction that a learning rate of one goes: 1 for a solution."""
        return 1.0

    def _measures(self) -> bool:
        """True if steps are measured with the Fisher information, which takes forward derivatives."""
        return self.common.adaptive or self.trust_radius is not None

    def _linearises(self, params: Tree, outputs: Any) -> bool:
        """True if forward derivatives of all examples with these outputs are taken."""
        return self._measures()

    def _part(self, usual: int | None) -> int | None:
        """Examples that the curvature is taken from, where no number is given the usual one of its form."""
        return usual if self.common.examples == "auto" else cast(int | None, self.common.examples)

    def _curvature(self, params: Tree, batch: Examples, outputs: Array, count: Array, part: int | None) -> Fisher:
        """The Fisher information of a part of the examples: other ones at every step."""
        common, size = self.common, outputs.shape[0]
        if part is not None and part < size:
            starts = size - part + 1
            stride = next(n for n in range(part, 0, -1) if math.gcd(n, starts) == 1)  # which comes to every start
            first = count * stride % starts
            cut = lambda x: jax.lax.dynamic_slice_in_dim(jnp.asarray(x), first, part)
            outputs, inputs, targets = cut(outputs), jax.tree.map(cut, batch.inputs), cut(batch.targets)
            batch = Examples(inputs, targets, shares_of(cut(batch.shares), outputs), batch.key)
        outputs = jax.lax.stop_gradient(outputs)
        return at_outputs(self.model, params, outputs, batch, self.likelihood, common.kind, common.samples)


def _of_params(model: Callable, inputs: Tree) -> Callable[[Tree], Array]:
    """The model of the parameters alone; traced once, however often a step's program evaluates it."""
    traced = jax.jit(model)
    return lambda params: traced(params) if inputs is None else traced(params, inputs)


def _transposed(model: Callable[[Tree], Array], params: Tree) -> Linear:
    """A model with products with the transpose of its Jacobian alone, which any derivative gives."""
    outputs, pull = jax.vjp(model, params)
    return Linear(outputs, lambda v: jax.jvp(model, (params,), (v,))[1], pull)


@jax.jit
def _compiled(optimiser: NaturalOptimiser, params: Tree, state: Any, batch: Examples) -> tuple[Tree, Any]:
    return optimiser._stepped(params, state, batch)


def common(kind: str, samples: int, examples: int | str | None, damping: Any, penalty: Callable | None) -> Common:
    """Options of every form, checked."""
    one_of("fisher", kind, FISHER_KINDS)
    if penalty is not None and not callable(penalty):
        raise ValueError(f"penalty must be a function of params, got {shown(penalty)}")
    drawn = examples if examples in (None, "auto") else integer("examples", examples)
    return Common(cast(FisherKind, kind), integer("samples", samples), drawn, isinstance(damping, str), penalty)


def shared(model: Callable, likelihood: Likelihood | str, learning_rate: Any, dampings: tuple, radius: Any) -> dict:
    """Fields of every form, checked. `dampings`: the chosen damping, and the first one if damping adapts."""
    if not callable(model):
        raise ValueError(f"model must be a function of params and inputs, got {shown(model)}")
    check_rate(learning_rate)
    return {
        "model": model,
        "likelihood": as_likelihood(likelihood),
        "learning_rate": _as_leaf(learning_rate),
        "damping": _as_leaf(dampings[isinstance(dampings[0], str)]),
        "trust_radius": radius,
    }


def _as_leaf(schedule: Any) -> Any:
    """A number as it is, or a schedule as a pytree."""
    return jax.tree_util.Partial(schedule) if callable(schedule) else schedule
