"""Precedence of options: a common value beats the value of one part, which beats the smoke scale of the options."""

from dataclasses import fields
from typing import Any, TypeVar

Full = TypeVar("Full")


def full_options(full: type[Full], declared: type, *layers: Any) -> Full:
    """Options of a dataclass, each from the first layer that gives it, else at smoke scale.

    Args:
        full: a dataclass with the same fields; no field that has a value at smoke scale need be null.
        declared: a dataclass of options that are null where they are not given, with defaults of `contract.Smoke`.
        layers: objects with attributes of these names.
    """
    smoke = {entry.name: entry.metadata["smoke"] for entry in fields(declared)}
    given = {name: [value for each in layers if (value := getattr(each, name)) is not None] for name in smoke}
    return full(**smoke | {name: values[0] for name, values in given.items() if values})
