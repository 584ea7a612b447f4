"""User-defined tasks and layers: a file of labelled vectors is learned, every mistake in it is one sentence."""

from pathlib import Path

import numpy as np
import pytest

from experiments import contract
from experiments.training import experiment, tasks
from experiments.training.config import Config

RNG = np.random.default_rng(0)
LAYER = '''"""A user-defined layer: the association, added to its inputs."""

from flax import nnx


class Added(nnx.Module):
    """x + attention(x)."""

    def __init__(self, attention, *, rngs):
        self.inner = attention

    def __call__(self, x):
        return x + self.inner(x)


def added(attention, *, rngs):
    return Added(attention, rngs=rngs)


number = 3
'''


def saved(path: Path, shape: tuple[int, ...] = (40, 3), **changed) -> str:
    inputs = RNG.normal(size=shape)
    targets = np.arange(len(inputs)) % 2
    arrays = {"inputs": inputs + targets.reshape(-1, *(1,) * (inputs.ndim - 1)), "targets": 3 * targets} | changed
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return str(path)


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(LAYER)


WRONG = {
    "arrays inputs and targets, got inputs in": {"targets": None},
    "inputs that are numbers": {"inputs": np.zeros(40)},
    "one class for each of the 40 inputs": {"targets": np.zeros(39, int)},
    "finite numbers, got others in row 7": {"inputs": np.where(np.arange(40) == 7, np.nan, 1.0)[:, None]},
    "finite numbers, got others in row 0": {"inputs": np.full((40, 1), 1e300)},
    "whole numbers as targets, got 0.5": {"targets": np.full(40, 0.5)},
    "two classes at least, got 1": {"targets": np.zeros(40, int)},
    "5 examples of every class, got 1 of 1": {"targets": np.eye(40, dtype=int)[3]},
    "without pickled data": {"targets": np.array([None] * 40)},
}


@pytest.mark.parametrize("sentence", WRONG)
def test_a_mistake_in_a_file_of_labelled_vectors_is_one_sentence(sentence: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "mine.npz", **WRONG[sentence])
    with pytest.raises(ValueError, match=f"^tasks must [^\n]*{sentence}[^\n]*$"):
        contract.check(experiment, Config(tasks=[path]))


def test_a_table_holds_the_class_in_its_last_column() -> None:
    inputs, targets = RNG.normal(size=(30, 2)), np.arange(30) % 3
    np.savetxt("mine.csv", np.column_stack([inputs, targets]), delimiter=",", header="a,b,class", comments="")
    data = tasks.load_split("mine.csv", 0, 10)
    assert data.classes == 3
    assert [len(part.targets) for part in (data.train, data.validation, data.test)] == [18, 6, 6]
    np.testing.assert_allclose(data.train.inputs.mean(axis=(0, 1)), 0, atol=1e-6)
    np.testing.assert_allclose(data.train.inputs.std(axis=(0, 1)), 1, atol=1e-6)


@pytest.mark.slow
def test_a_layer_and_a_task_of_ones_own_are_trained(tmp_path: Path) -> None:
    config = Config(
        tasks=[saved(tmp_path / "mine.npz", (40, 2, 3))], layers=["./mine.py:added"], learning_rate=[0.03], width=4,
        heads=1, epochs=2, seeds=1, output=str(tmp_path),
    )  # fmt: skip
    contract.check(experiment, config)
    rows = list(experiment.measure(config, experiment.points(config)))
    assert [row["epoch"] for row in rows] == [0, 1, 2]
    assert rows[-1]["loss"] < rows[0]["loss"]
    assert 1 <= rows[-1]["effective_0"] <= 2


BAD = """
import sys
import jax.numpy as jnp
from flax import nnx
def nokeyword(attention): return attention
def leaves(attention, *, rngs): sys.exit(0)
def nothing(attention, *, rngs): pass
def pooled(attention, *, rngs): return lambda x: attention(x).mean(axis=-2)
def wider(attention, *, rngs): return lambda x: jnp.concatenate([x, x], axis=-1)
def fails(attention, *, rngs): return lambda x: x @ jnp.ones((17, 4))
def pair(attention, *, rngs): return lambda x: (x, x)
def branches(attention, *, rngs): return lambda x: x if x.sum() > 0 else -x
def normed(attention, *, rngs): return nnx.BatchNorm(4, rngs=rngs)
"""


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nokeyword", "be code that runs, got TypeError"),
        ("leaves", "be code that runs, got SystemExit"),
        ("nothing", "be code that runs, got TypeError"),
        ("pooled", r"return \[B, T', W\] of inputs \[24, 2, 4\], got \[24, 4\]"),
        ("wider", r"return \[B, T', W\] of inputs \[24, 2, 4\], got \[24, 2, 8\]"),
        ("fails", "be code that runs, got TypeError"),
        ("pair", r"return \[B, T', W\] .*, got tuple"),
        ("branches", "be code that runs, got TracerBoolConversionError"),
        ("normed", "be code that runs, got "),
    ],
)
def test_a_layer_that_cannot_be_trained_is_refused_before_the_start(name: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    config = Config(tasks=[saved(tmp_path / "mine.npz", (40, 2, 3))], layers=[f"./bad.py:{name}"], width=4, heads=1)
    with pytest.raises(ValueError, match=f"^layers must {sentence}") as error:
        contract.check(experiment, config)
    assert "\n" not in str(error.value)
