"""Optimisers that train: one file each, found by its name.

OWN: dict[str, Any]                the options it takes (`config.SEARCHED`, `config.RULE`), with its own value of each
make(setting, knobs) -> transform  of optax, with those numbers

User-defined optimisers: see `_user_defined`.
"""

from typing import Any

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


def transform(setting: Setting, knobs: Knobs) -> optax.GradientTransformationExtraArgs:
    """The optax transform of a setting, with its numbers."""
    return optax.with_extra_args_support(find(setting.optimiser).make(setting, knobs))
