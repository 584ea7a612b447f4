"""Arguments of `update`, the same for every natural gradient, and the checks of them.

updates, state = optimiser.update(grads, state, params, model_fn=model_fn, inputs=inputs)
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from hopfield._arguments import flag, integer, one_of, real_scalar
from hopfield._arrays import Tree
from hopfield.fisher import FISHER_KINDS, Fisher, Likelihood, fisher
from hopfield.fisher.operator import FisherKind
from hopfield.optim._multi_steps import in_multi_steps

Schedule = float | Array | Callable[[Array], Array]
PARTIAL = (
    "params must be whole for the natural gradient: optax.masked and optax.multi_transform hand over a part of them, "
    "from which the model cannot be run; split off what is trained before, as with nnx.Optimizer(model, tx, wrt=...)"
)
ACCUMULATED = (
    "accumulated must be True inside optax.MultiSteps, got False: it hands over the mean gradient of all mini-steps, "
    "but model_fn, inputs, targets, weights, value and value_fn of the last; give those of all examples at every "
    "mini-step, with accumulated=True"
)


class Call(NamedTuple):
    """Arguments of `update` besides gradients and parameters, of the examples that the gradient is the mean over."""

    model_fn: Callable
    inputs: Tree
    targets: Array | None
    weights: Array | None
    key: Array | None
    value: Array | None
    value_fn: Callable | None

    def fisher(self, params: Tree, likelihood: Likelihood, kind: FisherKind, samples: int) -> Fisher:
        """Fisher information of the given examples."""
        examples: Any = {"inputs": self.inputs, "targets": self.targets, "weights": self.weights, "key": self.key}
        return fisher(self.model_fn, params, likelihood=likelihood, kind=kind, samples=samples, **examples)


class Step(Protocol):
    """One step of an optimiser: (gradient, state, params, call) ↦ (updates, state)."""

    def __call__(self, updates: Tree, state: Any, params: Tree, call: Call, /) -> tuple[Tree, Any]: ...


def transform(
    init: Callable[[Tree], Any], step: Step, *, judges: bool = False
) -> optax.GradientTransformationExtraArgs:
    """An optax transform with the arguments of a natural gradient.

    Args:
        init: params ↦ state.
        step: called once everything it needs is there.
        judges: whether it tries its steps, and so needs `value` and `value_fn`.
    """

    def checked_init(params: Tree) -> Any:
        _check_whole(params)
        check_params(params)
        return init(params)

    def update(
        updates: Tree,
        state: Any,
        params: Tree | None = None,
        *,
        model_fn: Callable | None = None,
        inputs: Tree | None = None,
        targets: Array | None = None,
        weights: Array | None = None,
        key: Array | None = None,
        value: Array | None = None,
        value_fn: Callable | None = None,
        accumulated: bool = False,
        **extra: Any,
    ) -> tuple[Tree, Any]:
        del extra  # other transforms of a chain may need more
        if params is None:
            raise ValueError("params must be given to update: the Fisher information is that of the model at them")
        _check_whole((params, updates))
        check_params(params, updates)
        if model_fn is None:
            raise ValueError("model_fn must be given to update: params ↦ outputs of the examples the gradient is of")
        call = Call(model_fn, inputs, targets, weights, key, value, value_fn)
        return step(updates, state, params, _checked_call(call, judges, flag("accumulated", accumulated)))

    return optax.GradientTransformationExtraArgs(checked_init, cast(Any, update))


def _checked_call(call: Call, judges: bool, accumulated: bool) -> Call:
    if judges and (call.value is None or call.value_fn is None):
        raise ValueError("value and value_fn must be given to update for damping='lm', which tries every step")
    if not accumulated and in_multi_steps():
        raise ValueError(ACCUMULATED)
    return call


def value_at(schedule: Any, count: Array) -> Any:
    """The value of a number or schedule at a step."""
    return schedule(count) if callable(schedule) else schedule


def check_kind(kind: Any, samples: int) -> None:
    """Check that a kind of Fisher information is known and `samples` a positive integer. ValueError otherwise."""
    one_of("fisher", kind, FISHER_KINDS)
    integer("samples", samples)


def check_rate(rate: Any) -> None:
    """Check that a learning rate is a finite number or a schedule. ValueError otherwise."""
    if not callable(rate):
        real_scalar("learning_rate", rate, "a finite number or a schedule")


def check_params(params: Tree, updates: Tree | None = None) -> None:
    """Check that parameters are real arrays and updates, if given, have their shapes. ValueError otherwise."""
    leaves = jax.tree.leaves(params)
    for leaf in leaves:
        if not jnp.issubdtype(jnp.result_type(leaf), jnp.floating) or jnp.size(leaf) == 0:
            got = f"{jnp.result_type(leaf)} of shape {jnp.shape(leaf)}"
            raise ValueError(f"params must be non-empty arrays of real numbers, got {got}")
    if not leaves:
        raise ValueError(f"params must have at least one array, got {params}")
    if updates is not None:
        shapes, wanted = jax.tree.map(jnp.shape, updates), jax.tree.map(jnp.shape, params)
        if shapes != wanted:
            raise ValueError(f"updates must have the structure and shapes of params, {wanted}, got {shapes}")


def _check_whole(trees: Tree) -> None:
    def is_masked(leaf: Any) -> bool:
        return isinstance(leaf, optax.MaskedNode)

    if any(map(is_masked, jax.tree.leaves(trees, is_leaf=is_masked))):
        raise ValueError(PARTIAL)
