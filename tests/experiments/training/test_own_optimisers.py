"""User-defined optimisers: they train with their own options, go on as they began, a mistake is one sentence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import contract
from experiments.training import experiment
from experiments.training.config import Config
from experiments.training.optimisers import own_options
from hopfield import outside
from tests.experiments.plugged import install_package

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


def test_it_takes_the_options_that_are_its_parameters_with_its_own_values() -> None:
    assert own_options("./mine.py:mine") == {"learning_rate": (0.05,), "momentum": 0.0}
    assert own_options("./mine.py:bounded") == {"damping": (0.5,), "trust_radius": 2.0, "solver": "cg"}
    assert own_options("./mine.py:keeping") == {}
    names = ("learning_rate", "damping", "weight_decay")
    for name, options, numbers in [
        ("mine", {}, [(0.05, 0.0, 0.0)]),
        ("mine", {"learning_rate": [0.1, 0.2]}, [(0.1, 0.0, 0.0), (0.2, 0.0, 0.0)]),
        ("bounded", {"damping": [0.1]}, [(0.0, 0.1, 0.0)]),
    ]:
        config = config_with(f"./mine.py:{name}", **options)
        contract.check(experiment, config)
        found = [tuple(point[each] for each in names) for point in experiment.points(config) if point["epoch"] == 0]
        assert found == numbers


@pytest.mark.slow
def test_an_option_that_is_given_is_the_one_it_trains_with(tmp_path: Path) -> None:
    def losses(name: str, **options: Any) -> list[float]:
        config = config_with(name, **options, output=str(tmp_path / str(options)))
        return [row["loss"] for row in rows_of(config)]

    for options in ({"learning_rate": [0.02]}, {"learning_rate": [0.02], "momentum": 0.5}):
        assert losses("./mine.py:mine", **options) == losses("sgd", **{"momentum": 0.0} | options)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("mine", {"damping": [0.1]}, r"damping must be left out unless .* \(./mine.py:mine has no parameter damping\)"),
        ("keeping", {"learning_rate": [0.1]}, "learning_rate must be left out unless "),
        ("keeping", {"schedule": "cosine"}, "schedule must be constant unless one of optimisers takes learning_rate"),
        ("bounded", {"momentum": 0.5}, "momentum must be left out unless "),
    ],
)
def test_an_option_that_is_no_parameter_is_refused(name: str, options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        contract.check(experiment, config_with(f"./mine.py:{name}", **options))
    contract.check(experiment, Config(optimisers=[f"./mine.py:{name}", "natural"], damping=[0.1], **SMALL))


BAD = """
import sys
import jax
import jax.numpy as jnp
import optax
from optax import GradientTransformation as transform
number = 3
def unknown(learning_rate=0.1, beta=0.9): return optax.adam(learning_rate, beta)
def noise(noise=0.1): return optax.sgd(0.1)
def every(**options): return optax.sgd(0.1)
def placed(learning_rate=0.1, /): return optax.sgd(learning_rate)
def needs(learning_rate): return optax.sgd(learning_rate)
def word(learning_rate="fast"): return optax.sgd(0.1)
def several(learning_rate=(0.1, 0.2)): return optax.sgd(0.1)
def empty(trust_radius=None): return optax.sgd(0.1)
def negative(learning_rate=-0.1): return optax.sgd(learning_rate)
def solver(solver="lu"): return optax.sgd(0.1)
def nothing(learning_rate=0.1): pass
def pair(): return optax.sgd(0.1).init, optax.sgd(0.1).update
def leaves(): sys.exit(0)
def fails(learning_rate=0.1): return optax.sgd(learning_rate + "a")
def branches(learning_rate=0.1): return optax.sgd(0.1 if learning_rate > 0 else 1.0)
def initial(): return transform(lambda p: p.no_such_thing, lambda u, s, p=None: (u, s))
def text(): return transform(lambda p: "text", lambda u, s, p=None: (u, s))
def alone(): return transform(lambda p: 0, lambda u, s, p=None: u)
def halved(): return transform(lambda p: 0, lambda u, s, p=None: (jax.tree.map(lambda x: x[..., 0], u), s))
def grows(): return transform(lambda p: jnp.zeros(1), lambda u, s, p=None: (u, jnp.zeros(2)))
"""


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("number", "be any of adam, .* or an entry point of hopfield.optimisers, got './bad.py:number'"),
        ("gone", "be defined where they are said to be, got './bad.py:gone'"),
        ("unknown", "have parameters among learning_rate, damping, .*, got beta=0.9 of './bad.py:unknown'"),
        ("noise", "have parameters among .*, got noise=0.1 of "),
        ("every", r"have parameters among .*, got \*\*options of "),
        ("placed", "have parameters among .*, got learning_rate=0.1 of "),
        ("needs", "have a default of every parameter, got learning_rate of './bad.py:needs'"),
        ("word", "have a number as default, got learning_rate='fast' of "),
        ("several", r"have a number as default, got learning_rate=\(0.1, 0.2\) of "),
        ("empty", "have a number as default, got trust_radius=None of "),
        ("negative", "have defaults that options may have, got .*: learning_rate must be positive, got -0.1"),
        ("solver", "have defaults that options may have, got .*: solver must be one of auto, "),
        ("nothing", "return an optax transform, got NoneType from './bad.py:nothing'"),
        ("pair", "return an optax transform, got tuple from"),
        ("leaves", "be code that runs, got SystemExit"),
        ("fails", "be code that runs, got TypeError"),
        ("branches", "be code that runs, got TracerBoolConversionError"),
        ("initial", "be code that runs, got AttributeError"),
        ("text", "be code that runs, got TypeError"),
        ("alone", "return updates and state, got State from"),
        ("halved", "return updates of the parameters' shapes, got others from"),
        ("grows", "keep shapes and types of their state, got others from"),
    ],
)
def test_an_optimiser_that_cannot_train_is_refused_before_the_start(name: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    with pytest.raises(ValueError, match=f"^optimisers must {sentence}") as error:
        contract.check(experiment, config_with(f"./bad.py:{name}"))
    assert "\n" not in str(error.value)


def test_a_file_that_is_missing_or_raises_is_refused(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text("1 / 0")
    with pytest.raises(ValueError, match=r"^./gone.py must be a readable Python file, got: "):
        contract.check(experiment, config_with("./gone.py:mine"))
    with pytest.raises(ValueError, match=r"^./raises.py:mine must be code that runs, got ZeroDivisionError"):
        contract.check(experiment, config_with("./raises.py:mine"))


@pytest.mark.parametrize("spec", ["pack.code:mine", "plugged"])
def test_modules_and_entry_points_are_found(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_package(tmp_path, CODE, "[hopfield.optimisers]\nplugged = pack.code:mine\n", monkeypatch)
    assert own_options(spec) == {"learning_rate": (0.05,), "momentum": 0.0}
    assert outside.sources(spec) == [tmp_path / "pack/code.py"]  # what provenance hashes
    contract.check(experiment, config_with(spec))
