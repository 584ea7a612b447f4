"""One context of MLIR for the programs of a module of tests, or JAX's own where its private names are others."""

from types import SimpleNamespace

import pytest

from tests.contexts import one_context


@pytest.mark.parametrize("names", [{}, {"make_ir_context": object}, {"ir": SimpleNamespace(Context=object)}])
def test_a_jax_without_these_names_is_left_as_it_is(names: dict) -> None:
    one_context(None)()
    module = SimpleNamespace(**names)
    one_context(module)()
    assert vars(module) == names


def test_programs_share_a_context_until_it_is_forgotten() -> None:
    context = SimpleNamespace(current=None)
    module = SimpleNamespace(make_ir_context=object, ir=SimpleNamespace(Context=context))
    forget = one_context(module)
    first = module.make_ir_context()
    assert module.make_ir_context() is first
    context.current = first
    assert module.make_ir_context() is not first  # a program within a program
    context.current = None
    forget()
    assert module.make_ir_context() is not first
