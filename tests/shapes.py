"""Shapes of signatures: what jaxtyping's hook asks of every call in the library that has come to its result.

    pytest --jaxtyping-packages=hopfield.memory,hopfield.couplings,tests.shapes.checked tests/hopfield/test_memory.py

The library takes lists, numbers and numpy arrays wherever it takes arrays, and refuses a wrong shape in words of its
own. So arguments are judged together with the result, after the call, and by their shapes alone; a result by its type
of number too.
"""

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Union, get_args, get_origin

from jaxtyping import AbstractArray, Shaped


def checked(function: Callable) -> Callable:
    """`function` with its arguments and result held to their annotations; jaxtyping calls it for a stub of each.

    Of the two stubs one stands for the call to come and is left alone; the other returns the result it is given.
    """
    signature = inspect.signature(function)
    said = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    said = {name: annotation for name, annotation in said.items() if _tells(annotation)}
    result = signature.return_annotation
    if result is Any or function.__name__ == "__init__" or not (said or _tells(result)):
        return function  # a pytree is rebuilt by its __init__ around leaves of other shapes, or none

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        given: Mapping[str, Any] = signature.bind(*args, **kwargs).arguments
        for name, annotation in said.items():
            if name in given and not _fits(given[name], annotation, exact=False):
                refuse(f"{name} must be {annotation}, got {given[name]}")
        if not _fits(found, result, exact=True):
            refuse(f"the result must be {result}, got {found}")
        return found

    return call


def refuse(sentence: str) -> None:
    raise TypeError(sentence)


def _is_array(annotation: Any) -> bool:
    return inspect.isclass(annotation) and issubclass(annotation, AbstractArray)


def _tells(annotation: Any) -> bool:
    """True if an annotation says anything of a shape."""
    return _is_array(annotation) or any(_tells(part) for part in get_args(annotation))


def _fits(value: Any, annotation: Any, exact: bool) -> bool:
    """True if `value` has the shape that is said, and if `exact` the type of number; what is no array always has."""
    if _is_array(annotation):
        kind = annotation.dtype if exact else Shaped
        return not hasattr(value, "shape") or isinstance(value, kind[Any, annotation.dim_str])
    parts = get_args(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        others = [part for part in parts if not _is_array(part) and inspect.isclass(part) and isinstance(value, part)]
        return bool(others) or any(_fits(value, part, exact) for part in parts if _tells(part))
    if get_origin(annotation) is tuple and isinstance(value, tuple) and len(parts) == len(value):
        return all(_fits(one, part, exact) for one, part in zip(value, parts, strict=True))
    return True
