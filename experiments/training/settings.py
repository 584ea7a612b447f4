"""Setting of one training run: what its programs are compiled for, its numbers, and its optimiser."""

from typing import Any, NamedTuple

import optax

from hopfield import optim


class Setting(NamedTuple):
    """Whatever of a training run its programs are compiled for."""

    layer: str
    metric: str
    separation: str
    optimiser: str
    width: int
    heads: int
    quantity: int
    update_steps: int
    members: int
    batch_size: int
    damping_rule: str = "fixed"
    solver: str = "auto"
    momentum: float = 0.0


class Knobs(NamedTuple):
    """Numbers of a training run that its programs take as arguments."""

    learning_rate: Any
    damping: Any
    weight_decay: Any
    trust_radius: Any
    noise: Any
    dropout: Any


def stored(layer: str, quantity: int, examples: int, vectors: int) -> int:
    """Patterns that a layer compares each of its queries with.

    Args:
        quantity: option of that name.
        examples, vectors: of the training set, and of each example.
    """
    if layer in ("lookup", "memory"):
        return quantity if layer == "lookup" else examples
    return vectors - (layer in ("association", "decoder", "energy"))  # the others of its own set


def without_rule(setting: Setting) -> Setting:
    """The setting's model: the same for every optimiser."""
    return setting._replace(optimiser="", **Setting._field_defaults)


def optimiser(setting: Setting, knobs: Knobs) -> Any:
    """The optax transform of a setting, with its numbers."""
    name, rate = setting.optimiser, knobs.learning_rate
    adaptive = name == "levenberg" or setting.damping_rule == "reduction"
    natural: dict[str, Any] = {"likelihood": "categorical", "trust_radius": knobs.trust_radius}
    natural |= {"damping": "lm", "initial_damping": knobs.damping} if adaptive else {"damping": knobs.damping}
    solved = {"solver": setting.solver, "momentum": setting.momentum, "max_iterations": 20}
    rules = {
        "adam": lambda: optax.adam(rate),
        "adamw": lambda: optax.adamw(rate, weight_decay=knobs.weight_decay),
        "sgd": lambda: optax.sgd(rate, momentum=setting.momentum),
        "natural": lambda: optim.natural_gradient(rate, **natural, **solved),
        "levenberg": lambda: optim.natural_gradient(rate, **natural, **solved),
        "kronecker": lambda: optim.kronecker_natural_gradient(rate, **natural),
        "diagonal_fisher": lambda: optim.diagonal_fisher(rate, **natural),
    }
    return optax.with_extra_args_support(rules[name]())
