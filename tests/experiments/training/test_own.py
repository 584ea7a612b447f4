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
