"""Precedence of options: common values over those of one part, over the smoke scale that the options declare."""

from dataclasses import fields
from typing import Any


def in_full(declared: type, *layers: Any) -> Any:
    """Options of a dataclass, each from the first layer that gives it, else at smoke scale.

    Args:
        declared: a dataclass of options that are null where they are not given, with defaults of `contract.Smoke`.
        layers: objects with attributes of these names.
    """
    smoke = {entry.name: entry.metadata["smoke"] for entry in fields(declared)}
    given = {name: [value for each in layers if (value := getattr(each, name)) is not None] for name in smoke}
    return declared(**smoke | {name: values[0] for name, values in given.items() if values})
