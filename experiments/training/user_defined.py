"""User-defined functions by name, as layers and optimisers are given."""

from collections.abc import Callable, Sequence
from typing import Any

from experiments.bounds import check_code, suggestion
from hopfield import outside


def function(option: str, known: Sequence[str], name: str) -> Callable[..., Any]:
    """Function of a name: `./file.py:name`, `package.module:name` or an entry point in the group hopfield.<option>.

    Args:
        option: "layers" or "optimisers".
        known: names of the parts in the folder of that name.
        name: what was written.

    Raises:
        ValueError: there is none, in one sentence that begins with the option.
    """
    check_code(option, name)
    outer = outside.find(option, name)
    if outer is None or outer.parameter is not None or not callable(outer.value):
        near = suggestion(name, known)
        where = f"./file.py:name, package.module:name or an entry point of hopfield.{option}"
        raise ValueError(f"{option} must be any of {', '.join(known)}, or a function as {where}, got {name!r}{near}")
    return outer.value
