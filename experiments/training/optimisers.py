"""Optimisers that train, by name, and user-defined ones.

A user-defined optimiser is a function of options, each with its own value as the default, which returns an optax
transform: `mine(learning_rate=0.1, damping=0.01)`, found as `./file.py:mine`, `package.module:mine` or by its entry
point in the group hopfield.optimisers. Parameters are named as options of optimisers are, and those that it has are the
options that it takes: `damping_rule`, `solver` and `momentum` as Python's values, the others as traced numbers. An
`update` of extra arguments gets `model_fn`, `inputs`, `targets`, `value`, `value_fn` and `key` of the batch.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import optax

from experiments.training import user_defined
from experiments.training.config import RULE, SEARCHED, Config
from experiments.training.settings import Knobs, Setting
from hopfield import outside
from hopfield.optim import diagonal_fisher, kronecker_natural_gradient, natural_gradient


@dataclass(frozen=True, eq=False)
class Optimiser:
    """Optimiser of the table.

    Attributes:
        own: the options it takes (`config.SEARCHED`, `config.RULE`), with its own value of each.
        make: of a setting and its numbers a transform of optax, or of natural gradients a function of the model.
    """

    own: dict[str, Any]
    make: Callable[[Setting, Knobs], Any]


def _natural(factory: Callable, own: dict[str, Any]) -> Optimiser:
    """Natural gradients with a longest step, and with damping that the fall of the loss adapts where none is fixed."""

    def make(setting: Setting, knobs: Knobs) -> Callable[[Callable], Any]:
        adaptive = "damping_rule" not in own or setting.damping_rule == "reduction"
        options = {"damping": "lm", "initial_damping": knobs.damping} if adaptive else {"damping": knobs.damping}
        options |= {"trust_radius": knobs.trust_radius, "fisher": "exact", "examples": None}
        if "solver" in own:
            options |= {"solver": setting.solver, "momentum": setting.momentum, "max_iterations": 20}
        return lambda model: factory(model, "categorical", knobs.learning_rate, **options)

    return Optimiser(own, make)


_BOUNDED: dict[str, Any] = {"damping": (0.1,), "trust_radius": 0.3}
# Of approximate forms nearly all steps end at the trust radius at 0.1 and beyond: higher rates do the same again.
_AVERAGED = _BOUNDED | {"learning_rate": (0.03, 0.1), "damping_rule": "fixed"}
_SOLVED = _BOUNDED | {"learning_rate": (0.1, 0.3, 1.0), "solver": "auto", "momentum": 0.0}
OPTIMISERS = {
    "adam": Optimiser({"learning_rate": (3e-3,)}, lambda setting, knobs: optax.adam(knobs.learning_rate)),
    "adamw": Optimiser(
        {"learning_rate": (2e-3,), "weight_decay": (1e-2,)},
        lambda setting, knobs: optax.adamw(knobs.learning_rate, weight_decay=knobs.weight_decay),
    ),
    "diagonal_fisher": _natural(diagonal_fisher, _AVERAGED),
    "kronecker": _natural(kronecker_natural_gradient, _AVERAGED),
    "levenberg": _natural(natural_gradient, _SOLVED),
    "natural": _natural(natural_gradient, _SOLVED | {"damping_rule": "fixed"}),
    "sgd": Optimiser(
        {"learning_rate": (3e-2,), "momentum": 0.9},
        lambda setting, knobs: optax.sgd(knobs.learning_rate, momentum=setting.momentum),
    ),
}


def find(name: str) -> "Optimiser | Own":
    """The optimiser of a name, of the table or user-defined.

    Raises:
        ValueError: there is none, or a parameter is no option or has no default that the option may have; one sentence.
    """
    if name in OPTIMISERS:
        return OPTIMISERS[name]
    function = user_defined.function("optimisers", list(OPTIMISERS), name)
    return Own(name, function, _own_values(name, function))


def own_options(name: str) -> dict[str, Any]:
    """The options that an optimiser takes, with its own value of each."""
    return find(name).own


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


TAKEN = (*SEARCHED[:-1], *RULE)
"""Options of optimisers."""
_NAMES = [name for name, value in Setting._field_defaults.items() if isinstance(value, str)]
"""Settings that are names; the others are numbers."""
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Own:
    """User-defined optimiser: the options that it takes, and its transform."""

    name: str
    function: Callable[..., Any]
    own: dict[str, Any] = field(compare=False)

    def make(self, setting: Setting, knobs: Knobs) -> optax.GradientTransformationExtraArgs:
        """The transform. What it raises or returns instead of updates and state becomes one sentence."""
        options = {name: getattr(knobs if name in Knobs._fields else setting, name) for name in self.own}
        made = self._called(self.function, **options)
        if not isinstance(made, optax.GradientTransformation):
            raise ValueError(f"optimisers must return an optax transform, got {type(made).__name__} from {self.name!r}")
        inner = optax.with_extra_args_support(made)

        def init(params: Any) -> Any:
            state = self._called(inner.init, params)
            self._called(_types, state)
            return state

        def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
            found = self._called(inner.update, updates, state, params, **extra)
            if not isinstance(found, tuple) or len(found) != 2:
                kind = type(found).__name__
                raise ValueError(f"optimisers must return updates and state, got {kind} from {self.name!r}")
            if self._called(_shapes, found[0]) != _shapes(updates):
                raise ValueError(
                    f"optimisers must return updates of the parameters' shapes, got others from {self.name!r}"
                )
            if self._called(_types, found[1]) != _types(state):
                raise ValueError(f"optimisers must keep shapes and types of their state, got others from {self.name!r}")
            return found

        return optax.GradientTransformationExtraArgs(init, update)

    def _called(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return outside.called("optimisers", self.name, function, *args, **options)


def _own_values(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    """Defaults of a function's parameters, those to choose from as (value,)."""
    parameters = outside.called("optimisers", name, inspect.signature, function).parameters.values()
    for parameter in parameters:
        _check_parameter(name, parameter)
    own = {each.name: each.default for each in parameters}
    given: dict[str, Any] = {option: [value] if option in SEARCHED else value for option, value in own.items()}
    try:
        Config(**given)
    except ValueError as error:
        raise ValueError(f"optimisers must have defaults that options may have, got {name!r}: {error}") from None
    own |= {option: float(value) for option, value in own.items() if option not in _NAMES}
    return {option: (value,) if option in SEARCHED else value for option, value in own.items()}


def _check_parameter(name: str, parameter: inspect.Parameter) -> None:
    """Check that a parameter is an option of optimisers, with a default of the option's type; else ValueError."""
    if parameter.name not in TAKEN or parameter.kind not in _NAMED:
        raise ValueError(f"optimisers must have parameters among {', '.join(TAKEN)}, got {parameter} of {name!r}")
    if parameter.default is parameter.empty:
        raise ValueError(f"optimisers must have a default of every parameter, got {parameter} of {name!r}")
    types, what = ((str,), "name") if parameter.name in _NAMES else ((int, float), "number")
    if not isinstance(parameter.default, types) or isinstance(parameter.default, bool):
        raise ValueError(f"optimisers must have a {what} as default, got {parameter} of {name!r}")


def _types(tree: Any) -> tuple[Any, list[Any]]:
    """Structure of a tree, and shape and type of every array."""
    leaves, structure = jax.tree.flatten(jax.eval_shape(lambda x: x, tree))
    return structure, [(leaf.shape, leaf.dtype) for leaf in leaves]


def _shapes(tree: Any) -> tuple[Any, list[Any]]:
    """Structure of a tree, and the shape of every array."""
    structure, types = _types(tree)
    return structure, [shape for shape, _ in types]
