"""Signatures of layers, as `inspect.signature`, editors and the reference show them: Flax's metaclass hides them."""

import inspect
from collections.abc import Iterable
from typing import Any


class _Signature:
    """Signature of the constructor of a class, a subclass's own; of an object the signature of its call."""

    def __get__(self, layer: Any, owner: type) -> inspect.Signature:
        if layer is not None:
            return inspect.signature(layer.__call__)
        constructor = inspect.signature(owner.__init__)
        return constructor.replace(parameters=list(constructor.parameters.values())[1:])


def signed(layers: Iterable[type]) -> None:
    """Give layers a signature."""
    for layer in layers:
        layer.__signature__ = _Signature()  # pyright: ignore[reportAttributeAccessIssue]
