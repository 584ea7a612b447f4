"""Optimisers that train: one file each, found by its name.

OWN: dict[str, Any]            the options it takes (`config.SEARCHED`, `config.RULE`), with its own value of each
make(setting, knobs) -> rule   with those numbers: a transform of optax, or of natural gradients a function of the model

User-defined optimisers: see `_user_defined`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import optax

from experiments.system import parts
from experiments.training.config import OPTIMISERS
from experiments.training.optimisers import _user_defined
from experiments.training.settings import Knobs, Setting


def find(name: str) -> Any:
    """The optimiser of a name: a file of this folder, or user-defined."""
    return parts.find(__name__, name) if name in OPTIMISERS else _user_defined.optimiser(name)


def own_options(name: str) -> dict[str, Any]:
    """The options that an optimiser takes, with its own value of each."""
    return find(name).OWN


class Rule(NamedTuple):
    """An optimiser of a model: init(params) -> state, step(params, state, inputs, targets, key) -> (… , loss)."""

    init: Callable
    step: Callable


def rule(setting: Setting, knobs: Knobs, model: Callable, loss: Callable) -> Rule:
    """The optimiser of a setting, with its numbers, for a model (params, inputs) ↦ outputs and its mean loss."""
    made = find(setting.optimiser).make(setting, knobs)
    if isinstance(made, optax.GradientTransformation):
        return _descent(optax.with_extra_args_support(made), model, loss)
    natural = made(model)

    def step(params: Any, state: Any, inputs: Any, targets: Any, key: Any) -> tuple:
        params, state = natural.step(params, state, inputs, targets, key=key)
        return params, state, state.loss

    return Rule(natural.init, step)


def _descent(tx: optax.GradientTransformationExtraArgs, model: Callable, loss: Callable) -> Rule:
    """A transform of optax, which is told of the batch what it may ask for."""

    def step(params: Any, state: Any, inputs: Any, targets: Any, key: Any) -> tuple:
        of = lambda params: loss(model(params, inputs), targets)
        value, slopes = jax.value_and_grad(of)(params)
        told = {"inputs": inputs, "targets": targets, "key": key, "value": value, "value_fn": of}
        change, state = tx.update(slopes, state, params, model_fn=model, **told)
        return optax.apply_updates(params, change), state, value

    return Rule(tx.init, step)
