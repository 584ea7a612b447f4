"""What one training run is, and the optimisers by name."""

from typing import Any, NamedTuple

LAYERS = ("lookup", "memory", "pooling", "association", "encoder", "decoder", "energy")
VECTORS = ("memory",)
"""Layers for inputs that are single vectors."""
SEQUENCES = ("association", "encoder", "decoder", "energy")
"""Layers for inputs of several vectors."""
METRICS = ("none", "diagonal", "low_rank", "definite", "full", "projected")
BOUNDED = {"damping": (0.1,), "trust_radius": 0.3}
# Of approximate forms nearly all steps end at the trust radius at 0.1 and beyond: higher rates do the same again.
AVERAGED = BOUNDED | {"learning_rate": (0.03, 0.1), "damping_rule": "fixed"}
SOLVED = BOUNDED | {"learning_rate": (0.1, 0.3, 1.0), "solver": "auto", "momentum": 0.0}
OWN: dict[str, dict[str, Any]] = {
    "adam": {"learning_rate": (3e-3,)},
    "adamw": {"learning_rate": (2e-3,), "weight_decay": (1e-2,)},
    "sgd": {"learning_rate": (3e-2,), "momentum": 0.9},
    "natural": SOLVED | {"damping_rule": "fixed"},
    "levenberg": SOLVED,
    "kronecker": AVERAGED,
    "diagonal_fisher": AVERAGED,
}
"""The options that each optimiser takes, with its own value of each."""
OPTIMISERS = tuple(OWN)
DAMPING_RULES = ("fixed", "reduction")
SOLVERS = ("auto", "cg", "cholesky", "kernel")


KIND = ("task", "layer", "metric", "separation", "optimiser")
SEARCHED = ("learning_rate", "damping", "weight_decay", "noise")
RULE = ("damping_rule", "trust_radius", "solver", "momentum")
"""Options of optimisers that a run has one value of."""
RUN = (*KIND, *SEARCHED, "trial")
"""What tells two runs apart: kinds of run, numbers that each trial chooses among, and the trial."""
BASELINES = ("svm", "forest")
"""What stands in place of a layer for scikit-learn's models."""


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
    batch: int
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
    import optax

    from hopfield import optim

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
