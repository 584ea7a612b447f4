"""Hashes of functions: the same for the same contents, another for any value that a function reads."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest

from hopfield import _content
from hopfield._content import digest

SCALE: Any = 2.0


def helper(x: Any) -> Any:
    return SCALE * x


def reads(x: Any) -> Any:
    return [helper(part) for part in x]


def closed(value: Any) -> Callable:
    return lambda x: x + value


class Model:
    def __init__(self, beta: float) -> None:
        self.beta = beta

    def build(self, patterns: Any) -> Any:
        return self.beta * patterns


@pytest.mark.parametrize("value", [3.0, "2.0", (2.0,), {"a": 2.0}, jnp.ones(2), {1, 2}, None, _content])
def test_a_value_that_a_function_behind_a_function_reads_counts(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(reads)
    assert digest(reads) == before
    monkeypatch.setitem(globals(), "SCALE", value)
    assert digest(reads) != before


def test_equal_contents_have_one_hash() -> None:
    assert digest(closed(1)) == digest(closed(1))
    assert digest(Model(1.0).build) == digest(Model(1.0).build)
