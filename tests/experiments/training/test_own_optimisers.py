"""User-defined optimisers: they train with their own options, go on as they began, a mistake is one sentence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import contract
from experiments.training import experiment
from experiments.training.config import Config

pytestmark = pytest.mark.usefixtures("as_run")
CODE = """
from typing import Any, NamedTuple
import jax
import jax.numpy as jnp
import optax

class Kept(NamedTuple):
    residual: Any
    iterations: Any
    damping: Any

def mine(learning_rate=0.05, *, momentum=0): return optax.sgd(learning_rate, momentum)
def drawn(learning_rate=0.05): return optax.noisy_sgd(learning_rate, eta=1e-4, key=0)
def bounded(damping=0.5, trust_radius=2, solver="cg"): return optax.sgd(damping * trust_radius)
def keeping():
    def update(updates, state, params=None, *, value, model_fn, **extra):
        return jax.tree.map(lambda g: -0.05 * value * g, updates), state
    return optax.GradientTransformationExtraArgs(lambda params: Kept(params, jnp.ones(3), jnp.asarray(0.5)), update)
"""
SMALL: dict[str, Any] = {"epochs": 3, "seeds": 1, "width": 4, "baselines": False, "save_every": 1, "members": 2}


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)


def config_with(name: str, **options: Any) -> Config:
    return Config(optimisers=[name], **SMALL | options)


def rows_of(config: Config, epochs: int | None = None) -> list[dict]:
    """Rows of the first epochs, or of all, as they are measured."""
    contract.check(experiment, config)
    rows = []
    for row in experiment.measure(config, experiment.points(config)):
        rows.append(row)
        if row["epoch"] == epochs:
            break
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mine", "drawn", "keeping"])
def test_an_optimiser_of_ones_own_lowers_the_loss_and_goes_on_from_a_checkpoint(name: str, tmp_path: Path) -> None:
    spec = f"./mine.py:{name}"
    whole = rows_of(config_with(spec, output=str(tmp_path / "whole")))
    rows_of(config_with(spec, output=str(tmp_path / "cut")), 1)
    cut = rows_of(config_with(spec, output=str(tmp_path / "cut")))
    assert [row["epoch"] for row in whole] == [0, 1, 2, 3]
    assert {row["optimiser"] for row in whole} == {spec}
    assert whole[-1]["loss"] < whole[0]["loss"]
    np.testing.assert_array_equal([row["loss"] for row in cut], [row["loss"] for row in whole])
    # Of its state numbers are told, of these names, and no trees or vectors.
    np.testing.assert_array_equal(whole[-1]["optimiser_damping"], 0.5 if name == "keeping" else np.nan)
    assert np.isnan([whole[-1]["optimiser_residual"], whole[-1]["optimiser_iterations"]]).all()


@pytest.mark.slow
def test_an_option_that_is_given_is_the_one_it_trains_with(tmp_path: Path) -> None:
    def losses(name: str, **options: Any) -> list[float]:
        config = config_with(name, **options, output=str(tmp_path / str(options)))
        return [row["loss"] for row in rows_of(config)]

    for options in ({"learning_rate": [0.02]}, {"learning_rate": [0.02], "momentum": 0.5}):
        assert losses("./mine.py:mine", **options) == losses("sgd", **{"momentum": 0.0} | options)
