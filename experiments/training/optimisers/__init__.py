"""Optimisers that train: one file each, found by its name.

OWN: dict[str, Any]                the options it takes (`config.SEARCHED`, `config.RULE`), with its own value of each
make(setting, knobs) -> transform  of optax, with those numbers
"""

from functools import cache
from typing import Any

import optax

from experiments.shared import plugins
from experiments.training.settings import Knobs, Setting


@cache
def own_options(name: str) -> dict[str, Any]:
    """The options that an optimiser takes, with its own value of each."""
    return plugins.find(__name__, name).OWN


def transform(setting: Setting, knobs: Knobs) -> Any:
    """The optax transform of a setting, with its numbers."""
    return optax.with_extra_args_support(plugins.find(__name__, setting.optimiser).make(setting, knobs))
