"""Triton's interpreter without PyTorch, whose tensors it takes, in the place of a GPU. To be imported before Triton."""

import os

import jax
import numpy as np

from hopfield import _triton

os.environ["TRITON_INTERPRET"] = "1"  # read as Triton is imported


class Held:
    """A numpy array in the form in which the interpreter takes tensors."""

    def __init__(self, array):
        self.array, self.dtype = array, array.dtype

    data_ptr = property(lambda self: lambda: self.array.ctypes.data)
    untyped_storage = cpu = lambda self: self
    size = stride = storage_offset = set_ = copy_ = lambda self, *given: None
    new_empty = lambda self, size, device: Held(self.array)


def launch(kernel, grid, arrays, found, **options):
    """Results as of `_triton.launch`, by the interpreter; what a kernel leaves unwritten is NaN, or 2²⁰."""

    def call(*arrays):
        unwritten = lambda x: np.nan if np.issubdtype(x.dtype, np.floating) else 2**20
        results = [np.full(x.shape, unwritten(x), x.dtype) for x in found]
        held = [Held(np.ascontiguousarray(x)) for x in (*arrays, *results)]
        with np.errstate(over="ignore"):  # of random bits, whose sums wrap
            kernel[grid](*held, **options)
        return tuple(x.array for x in held[len(arrays) :])

    return jax.pure_callback(call, found, *arrays)


def take_for_gpu(monkeypatch):
    """Names of kernels, a list that grows as the interpreter runs them in the place of a GPU."""
    launched = []

    def named(kernel, *arguments, **options):
        launched.append(kernel.__name__)
        return launch(kernel, *arguments, **options)

    monkeypatch.setattr(_triton, "launch", named)
    monkeypatch.setattr(_triton, "installed", lambda: True)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    jax.clear_caches()
    return launched
