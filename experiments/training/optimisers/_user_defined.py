"""User-defined optimisers, which other code defines.

An optimiser is a function of options, each with its own value as the default, which returns an optax transform:
`mine(learning_rate=0.1, damping=0.01)`, found as `./file.py:mine`, `package.module:mine` or by its entry point in the
group hopfield.optimisers. Parameters are named as options of optimisers are, and those that it has are the options that
it takes: `damping_rule`, `solver` and `momentum` as Python's values, the others as traced numbers. An `update` of extra
arguments gets `model_fn`, `inputs`, `targets`, `value`, `value_fn` and `key` of the batch.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import optax

from experiments.training import user_defined
from experiments.training.config import OPTIMISERS, RULE, SEARCHED, Config
from experiments.training.settings import Knobs, Setting
from hopfield import outside

TAKEN = (*SEARCHED[:-1], *RULE)
"""Options of optimisers."""
_NAMES = [name for name, value in Setting._field_defaults.items() if isinstance(value, str)]
"""Those that are names; the others are numbers."""
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Own:
    """User-defined optimiser: the options that it takes, and its transform."""

    name: str
    function: Callable[..., Any]
    OWN: dict[str, Any] = field(compare=False)

    def make(self, setting: Setting, knobs: Knobs) -> optax.GradientTransformationExtraArgs:
        """The transform. What it raises or returns in place of updates and state becomes one sentence."""
        options = {name: getattr(knobs if name in Knobs._fields else setting, name) for name in self.OWN}
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


def optimiser(name: str) -> Own:
    """User-defined optimiser by its name.

    Raises:
        ValueError: there is none, or a parameter is no option or has no default that the option may have; one sentence.
    """
    function = user_defined.function("optimisers", OPTIMISERS, name)
    return Own(name, function, _own_values(name, function))


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
