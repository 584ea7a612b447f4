"""What one training run is, and the optimisers by name."""

from typing import Any, NamedTuple

LAYERS = ("lookup", "memory", "pooling", "association", "encoder", "decoder", "energy")
VECTORS = ("memory",)
"""Layers for inputs that are single vectors."""
SEQUENCES = ("association", "encoder", "decoder", "energy")
"""Layers for inputs of several vectors."""
METRICS = ("none", "diagonal", "low_rank", "definite", "full", "projected")
OPTIMISERS = ("adam", "adamw", "sgd", "natural", "levenberg", "kronecker", "diagonal_fisher")
DAMPED = ("adamw", "natural", "kronecker", "diagonal_fisher")
"""Optimisers with a damping or decay to set."""


KIND = ("task", "layer", "metric", "separation", "optimiser")
SEARCHED = ("learning_rate", "damping", "noise")
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


class Knobs(NamedTuple):
    """Numbers of a training run that its programs take as arguments."""

    learning_rate: Any
    damping: Any
    noise: Any
    dropout: Any


def optimiser(name: str, learning_rate: Any, damping: Any) -> Any:
    """The optax transform of a name of `OPTIMISERS`; `damping` is that of the natural ones, the decay of "adamw"."""
    import optax

    from hopfield import optim

    natural = {"likelihood": "categorical", "damping": damping}
    rules = {
        "adam": lambda: optax.adam(learning_rate),
        "adamw": lambda: optax.adamw(learning_rate, weight_decay=damping),
        "sgd": lambda: optax.sgd(learning_rate, momentum=0.9),
        "natural": lambda: optim.natural_gradient(learning_rate, max_iterations=20, **natural),
        "levenberg": lambda: optim.natural_gradient(
            learning_rate, max_iterations=20, likelihood="categorical", damping="lm"
        ),
        "kronecker": lambda: optim.kronecker_natural_gradient(learning_rate, **natural),
        "diagonal_fisher": lambda: optim.diagonal_fisher(learning_rate, **natural),
    }
    return optax.with_extra_args_support(rules[name]())
