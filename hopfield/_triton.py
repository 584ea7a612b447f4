"""Kernels of Triton: whether they can run here, and their launch by jax-triton (the extra `kernels`)."""

import importlib.util
from functools import cache
from importlib.metadata import version
from typing import Any

from jaxtyping import Array


@cache
def installed() -> bool:
    """True if jax-triton is, beside a Triton that it can compile with: not the 3.6 that PyTorch 2.11 brings."""
    found = all(importlib.util.find_spec(name) for name in ("triton", "jax_triton"))
    return found and tuple(map(int, version("triton").split(".")[:2])) >= (3, 7)


def launch(kernel: Any, grid: tuple[int, ...], arrays: tuple, found: tuple, **options: Any) -> tuple[Array, ...]:
    """Results of a kernel, whose last pointers they are.

    Args:
        kernel: a function of Triton.
        grid: numbers of its programs.
        arrays: what its first pointers point to.
        found: shapes and types of its results.
        options: constants of the kernel, and numbers that are no arrays.
    """
    import jax_triton  # type: ignore[import-not-found]  # the extra, which brings Triton

    return jax_triton.triton_call(*arrays, kernel=kernel, out_type=found, grid=grid, **options)
