"""Contents of what was loaded: one hash in every process, and another for any edit of what a function reaches."""

import copy
import functools
import importlib
import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

from hopfield import _content
from hopfield._content import contents_of
from tests.source_code import ROOT

SCALE: Any = 2.0


def hash_of(value: Any) -> str:
    return contents_of({"f": value}).hash


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
    before = hash_of(reads)
    assert hash_of(reads) == before
    monkeypatch.setitem(globals(), "SCALE", value)
    assert hash_of(reads) != before


def test_equal_contents_have_one_hash() -> None:
    assert hash_of(closed(1)) == hash_of(closed(1)) != hash_of(closed(2))
    assert hash_of(Model(1.0).build) == hash_of(Model(1.0).build) != hash_of(Model(2.0).build)


def test_an_object_that_was_used_and_copied_has_the_hash_of_a_new_one() -> None:
    class Used:
        @functools.cached_property
        def kept(self) -> float:
            return 3.0

    new = hash_of(Used())
    used = Used()
    assert used.kept == 3.0
    assert hash_of(copy.copy(used)) == new


def test_a_class_of_which_an_object_was_copied_has_the_hash_of_before() -> None:
    class Copied:
        pass

    before = hash_of(Copied)
    copy.copy(Copied())
    assert hash_of(Copied) == before


def test_code_means_the_same_whatever_its_words_and_layout() -> None:
    code = 'def f(x):\n    """x^2."""\n    return x**2\n'
    same = "# 2\n\ndef f(x):\n    '''The square of a number.'''\n    # so\n    return (x ** 2)\n"
    assert found(code) == found(same) != found(code.replace("**2", "**3"))


HELPERS = """
beta = 2.0
table = {}
for n in range(3):
    table[n] = n**2
try:
    def tried(x): return x + 31
except ImportError:
    pass
def decorate(f):
    def wrapped(x): return f(x) * TIMES
    return wrapped
TIMES = 1.0
"""
CODE = """
import functools, threading
import helpers
from helpers import beta, decorate, table, tried
GLOBAL = 1.0
if GLOBAL:
    def inside(x): return x + 5
class Base:
    factor = 3.0
    def scale(self, x): return self.factor * x * GLOBAL
class Kind(Base):
    __slots__ = ("held",)
    def __init__(self): self.held = 7.0
KIND = Kind()
KIND.later = 11.0
@decorate
def decorated(x): return x
@functools.lru_cache
def cached(x): return x + 13
def given(x, default=17.0, *, named=19.0): return x
def f(x):
    inner = lambda y: (lambda z: z + 23)(y)
    def late():
        import helpers as again
        return again.LATE
    return inner(x) + KIND.scale(x) + decorated(x) + cached(x) + given(x) + helpers.TIMES + inside(x) + table[1]
f.b = 29.0
"""
EDITS = [
    ("beta = 2.0", "beta = 3.0"),  # all of a module that is read as a module
    ("n**2", "n**3"),
    ("x + 31", "x + 32"),
    ("f(x) * TIMES", "f(x) + TIMES"),
    ("TIMES = 1.0", "TIMES = 2.0"),
    ("GLOBAL = 1.0", "GLOBAL = 2.0"),
    ("x + 5", "x - 5"),
    ("factor = 3.0", "factor = 3.5"),
    ("self.factor * x", "self.factor + x"),
    ("held = 7.0", "held = 7.5"),
    ("later = 11.0", "later = 11.5"),
    ("def decorated(x): return x", "def decorated(x): return -x"),
    ("x + 13", "x + 14"),
    ("default=17.0", "default=18.0"),
    ("named=19.0", "named=20.0"),
    ("z + 23", "z + 24"),
    ("f.b = 29.0", "f.b = 30.0"),
]


def found(code: str, helpers: str = HELPERS) -> str:
    """Hash of `f` in code that has no file, as it is typed into an interpreter."""
    beside, module = types.ModuleType("helpers"), types.ModuleType("typed")
    before = {name: sys.modules.get(name) for name in ("helpers", "typed")}
    sys.modules |= {"helpers": beside, "typed": module}
    try:
        exec(helpers, vars(beside))
        exec(code, vars(module))
        return hash_of(vars(module)["f"])
    finally:
        for name, value in before.items():
            sys.modules.pop(name) if value is None else sys.modules.update({name: value})


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_no_edit_of_what_a_function_reaches_goes_unnoticed(old: str, new: str) -> None:
    assert (old in CODE) != (old in HELPERS)
    assert found(CODE.replace(old, new), HELPERS.replace(old, new)) != found(CODE)


def test_a_function_of_exec_without_a_module_is_read() -> None:
    def typed(text: str) -> str:
        values: dict[str, Any] = {}
        exec(text, values)
        return hash_of(values["f"])

    code = "SCALE = 2.0\nclass A:\n    def m(self): return SCALE\ndef f(x): return A().m()"
    assert typed(code) == typed(code) != typed(code.replace("2.0", "3.0"))
    assert typed(code) != typed(code.replace("return SCALE", "return -SCALE"))


def test_a_module_counts_as_it_was_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "edited_later.py"
    file.write_text("def f(x): return 2.0 * x\n", encoding="utf-8")
    module = importlib.import_module("edited_later")
    before = hash_of(module.f)
    file.write_text("def f(x): return 3.0 * x\n", encoding="utf-8")
    assert hash_of(module.f) == before
    assert hash_of(importlib.reload(module).f) != before


UNSTABLE = """
import threading
import numpy as np
from hopfield import outside
LOCK, ANY, RANDOM = threading.Lock(), object(), np.random.default_rng()
NAMES = {"b", "a", ("c", 1), frozenset("xyz")}
LINES = (line for line in "ab")
NESTED = []
for _ in range(5000):
    NESTED = [NESTED]
class Slots:
    __slots__ = ("one",)
    def __init__(self): self.one = {1.0}
SLOTS = Slots()
def f(x): return (lambda y: (lambda z: (z, LOCK, ANY, RANDOM, NAMES, LINES, SLOTS, NESTED))(y))(x)
found = outside.contents_of({"f": f})
print(found.hash)
print(*found.unsure, sep="\\n")
"""


@pytest.mark.process
def test_hashes_are_the_same_in_every_process_and_what_has_no_value_is_said(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(UNSTABLE, encoding="utf-8")
    outputs = []
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        line = [sys.executable, "script.py"]
        outputs.append(subprocess.check_output(line, cwd=tmp_path, env=environment, text=True))
    assert outputs[0] == outputs[1]
    _, *said = outputs[0].splitlines()
    assert all(line.endswith(", so that a change of it is not noticed") for line in said)
    kinds = ["LINES is a generator", "LOCK is a lock", "NESTED is nested more than 100 times", "RANDOM is a Generator"]
    assert sorted(line.partition(", ")[0] for line in said) == kinds


def test_code_that_is_found_by_a_computed_name_is_said() -> None:
    def f(name: str) -> Any:
        import importlib

        return importlib.import_module(name)

    assert "reads code by names that it computes" in contents_of({"f": f}).unsure[0]
