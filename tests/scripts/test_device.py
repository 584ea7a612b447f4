"""The script for accelerators: every row is lowered for CUDA, and operations are counted as they are."""

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

NAMES = ("softmax", "softmax1", "sparsemax", "entmax:1.5", "top_k:8")
ROWS = [
    *(f"layer/{name}" for name in NAMES),
    *(f"layer/long/{name}{kind}" for kind in ("", "/bfloat16") for name in NAMES),
    *(f"long{past}{kind}" for kind in ("", "/bfloat16") for past in ("", "/causal")),
    *(
        f"by length/{length}{kind}/{name}/{dtype}"
        for length in (32, 128)
        for kind in ("", "/clusters")
        for name in ("softmax", "sparsemax", "entmax:1.5")
        for dtype in ("float32", "bfloat16")
    ),
    *("read", "asynchronous", "asynchronous/many", "spins"),
]


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "scripts")
    import device

    return device


def test_operations_are_counted_through_loops_and_branches(device):
    """A product of 3 x 4 with 4 x 5 matrices, ten times, then the cheaper branch and an exponential of 15 numbers."""

    def function(a, b):
        _, found = jax.lax.scan(lambda carry, _: (carry, a @ b), None, length=10)
        least = jax.lax.cond(a[0, 0] > 0, lambda: jnp.exp(a @ b), lambda: a @ b)
        return found, jnp.exp(least)

    a, b = jnp.ones((3, 4), jnp.float32), jnp.ones((4, 5), jnp.float32)
    found = device.count_operations(jax.make_jaxpr(function)(a, b).jaxpr)
    assert found == device.Counts(flops=11 * 2 * 3 * 4 * 5, bytes=11 * 4 * (12 + 20 + 15), exponentials=15)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_every_row_is_lowered_for_cuda(device, name, capsys):
    assert list(device.rows("small")) == ROWS
    device.main(["--size", "small", "--only", name])
    said = capsys.readouterr().out
    assert said.startswith("predicted, nothing was run")
    assert said.count("\n") >= 4  # two lines of heading


def test_rows_run_on_the_device_at_hand(device, capsys):
    device.main(["--size", "small", "--only", "read", "--measure", "--repetitions", "1"])
    assert "jax.nn" in capsys.readouterr().out
