"""Setting of one training run: what its programs are compiled for, and its numbers."""

from typing import Any, NamedTuple


class Setting(NamedTuple):
    """Structure of a training run: what its programs are compiled for."""

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


def without_rule(setting: Setting) -> Setting:
    """The setting's model: the same for every optimiser."""
    return setting._replace(optimiser="", **Setting._field_defaults)
