"""Methods of arrays whose types and shapes a base class checks, whatever subclasses define. No value is read."""

from collections.abc import Callable
from functools import wraps

import jax

from hopfield._arguments.arrays import boolean_array, real_array, real_vector


def check_methods(cls: type, **checks: Callable[[Callable], Callable]) -> None:
    """Give checks to the methods of these names that a class itself defines, as `of_state` makes them."""
    for name in checks.keys() & vars(cls).keys():
        setattr(cls, name, checks[name](vars(cls)[name]))


def of_scores(method: Callable) -> Callable:
    """Method of scores and a mask with checks: scores are a real vector, the mask has one truth value for each."""

    @wraps(method)
    def checked(self, z, mask=None):
        z = real_vector("scores", z)
        return method(self, z, None if mask is None else boolean_array("mask", mask, z.shape))

    return checked


def of_state(method: Callable) -> Callable:
    """Method of a state with checks: it is a real vector."""

    @wraps(method)
    def checked(self, state):
        return method(self, real_vector("state", state))

    return checked


def of_field(method: Callable) -> Callable:
    """Decorator for `Space.project`: field and state must be real vectors of equal length."""

    @wraps(method)
    def checked(self, field, state, curvature=0.0, known=None):
        state = real_vector("state", state)
        return method(self, real_vector("field", field, state), state, curvature, known)

    return checked


def of_patterns(method: Callable) -> Callable:
    """Method of a state and patterns with checks: a real vector, and rows that `width` says it can be compared with."""

    @wraps(method)
    def checked(self, state, patterns):
        patterns = real_array("patterns", patterns)
        if patterns.ndim != 2:
            raise ValueError(f"patterns must be rows [M, N], got shape {patterns.shape}")
        like = jax.ShapeDtypeStruct((self.width(patterns),), patterns.dtype)
        return method(self, real_vector("state", state, like), patterns)

    return checked
