"""Kernels of Triton: with which versions they are tried."""

import importlib.util

import pytest

from hopfield import _triton


@pytest.mark.parametrize(("found", "taken"), [("3.6.0", False), ("3.7.1", True), ("4.0.0", True)])
def test_a_triton_that_jax_triton_cannot_compile_with_is_left_alone(found, taken, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(_triton, "version", lambda name: found)
    assert _triton.installed.__wrapped__() is taken
