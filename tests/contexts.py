"""Contexts of MLIR in which programs are lowered: one for many, where JAX lets it be set."""

import functools
from collections.abc import Callable
from typing import Any

try:
    from jax._src.interpreters import mlir as private
except ImportError:
    private = None


def one_context(mlir: Any = private) -> Callable[[], None]:
    """Let programs be lowered in one context of MLIR, but for programs within programs; returns what forgets it.

    To set one up takes 7 ms, a quarter of what lowering and compiling a small program takes. The names are JAX's own:
    where a version has them no longer, each program has its context, as users' programs do.
    """
    try:
        another, contexts = mlir.make_ir_context, mlir.ir.Context
    except AttributeError:  # of None, too
        return lambda: None
    one = functools.cache(another)

    def context() -> Any:
        try:
            within = contexts.current is not None
        except ValueError:  # what some versions raise for none
            within = False
        return another() if within else one()

    mlir.make_ir_context = context
    return one.cache_clear
