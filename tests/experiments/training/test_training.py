"""Training runs: the same curve after any kill, any layer, metric and optimiser, and an honest comparison."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest
from flax import nnx

from experiments.training import experiment, layers, tasks
from experiments.training.config import LAYERS, METRICS, OPTIMISERS, Config
from experiments.training.experiment import points
from experiments.training.layer import Layer
from experiments.training.measurement import Length, curve
from experiments.training.model import Batch, Classifier
from experiments.training.optimisers import own_options
from experiments.training.rows import with_divergence
from experiments.training.settings import Knobs, Setting
from tests.experiments.estimates import value

pytestmark = pytest.mark.usefixtures("as_run")
SMALL: dict[str, Any] = {"seeds": 1, "epochs": 6, "width": 8, "quantity": 4, "size": 40, "batch_size": 16, "members": 2}
SMALL |= {"metrics": ["diagonal"], "baselines": False, "patience": 6}
SETTING = Setting("lookup", "diagonal", "softmax", "adam", 8, 2, 4, 1, 2, 16)
"""Setting of SMALL: what is compiled for one test serves all others."""
KNOBS = Knobs(1e-2, 0.0, 0.0, 0.0, 0.1, 0.0)
BOUNDED = [name for name in OPTIMISERS if "trust_radius" in own_options(name)]


@pytest.mark.slow
@pytest.mark.parametrize("epoch", range(5))
def test_a_run_goes_on_from_any_checkpoint_to_the_same_numbers(tmp_path, epoch):
    data = tasks.load_split("wine", 0, 10)

    def run(path, limit):
        rows = []
        for row in curve(SETTING, KNOBS, data, 3, path, Length(6, 10, 2, True)):
            rows.append(row)
            if row["epoch"] == limit:
                break
        return rows

    whole = run(tmp_path / "whole.msgpack", 6)
    for limit in (epoch, 6):
        found, same = (pandas.DataFrame(rows) for rows in (run(tmp_path / "cut.msgpack", limit), whole[: limit + 1]))
        pandas.testing.assert_frame_equal(found, same, check_exact=True)
    assert len({row["train_loss"] for row in whole[1:]}) == 6


def measured(directory, **options):
    """Rows of a configuration, SMALL where nothing else is said."""
    given: dict[str, Any] = SMALL | options | {"output": str(directory)}
    config = Config(**given)
    return list(experiment.measure(config, points(config)))


SLOW = ("natural", "kronecker", "diagonal_fisher")
RECALLING = ("association", "encoder", "decoder", "energy")


def sometimes(*words: str, often: bool) -> Any:
    """A combination that is tried always, or by `make check` alone."""
    return pytest.param(*words, marks=() if often else pytest.mark.exhaustive)


@pytest.mark.parametrize(
    ("layer", "metric", "optimiser", "task"),
    [
        *(sometimes("lookup", "diagonal", name, "wine", often=name not in SLOW) for name in OPTIMISERS),
        *(sometimes("pooling", metric, "adam", "latch", often=metric == METRICS[2]) for metric in METRICS[2:]),
        ("memory", "low_rank", "adamw", "wine"),
        *(sometimes(layer, "none", "adam", "recall", often=layer == "association") for layer in RECALLING),
    ],
    ids=str,
)
def test_any_combination_lowers_the_loss_at_all_its_own_rates_and_reports_its_heads(
    layer, metric, optimiser, task, tmp_path
):
    rates = [] if optimiser in BOUNDED else [1e-2]
    # Its damping falls until a Cholesky factor in single precision fails, and the spectrum in its place takes long.
    more = {"solver": "cg"} if optimiser == "levenberg" else {}
    kind: dict[str, Any] = {"layers": [layer], "metrics": [metric], "optimisers": [optimiser], "tasks": [task]}
    found = measured(tmp_path, **kind, **more, learning_rate=rates)
    assert len(found) == 7 * len(rates or own_options(optimiser)["learning_rate"])
    for rows in (found[i : i + 7] for i in range(0, len(found), 7)):
        assert [row["epoch"] for row in rows] == list(range(7))
        assert not any(row["diverged"] for row in rows)
        for row in rows:
            values = [row[f"{name}_{head}"] for name in ("entropy", "effective", "beta") for head in range(4)]
            assert np.isfinite([*values, row["loss"], row["condition"], row["diversity"]]).all()
            assert row["effective_3"] >= np.exp(row["entropy_3"]) * (1 - 1e-5)  # Jensen
        assert rows[-1]["train_loss"] < rows[1]["train_loss"]
        if optimiser in BOUNDED:
            assert np.isfinite(rows[-1]["optimiser_damping"])
            assert rows[-1]["optimiser_finite"]


def test_a_run_that_diverged_is_not_chosen_and_alone_leaves_no_result(tmp_path):
    rows = measured(tmp_path, optimisers=["sgd"], learning_rate=[1e9, 1e-2])
    # Even if validation never saw it better than before it diverged.
    for row in rows[:7]:
        row["best_loss"] = 0.0
    table: Any = pandas.DataFrame(rows)
    found = experiment.summarise(table)
    (entry,) = found.more["results"]
    assert value(found, "test accuracy") == rows[-1]["test_accuracy"]
    assert (entry["diverged"], entry["diverged_runs"], entry["runs"]) == (0, 1, 2)
    found = experiment.summarise(table[table["learning_rate"] > 1])
    assert np.isnan(value(found, "test accuracy"))
    assert value(found, "diverged", optimiser="sgd") == "1 of 1 runs, no result in 1 of 1 seeds"


@pytest.mark.parametrize("bad", [np.nan, np.inf, 10.5], ids=str)
@pytest.mark.parametrize("which", ["loss", "train_loss"])
def test_losses_that_are_not_finite_or_ten_times_the_start_are_a_divergence(which, bad):
    start = {"loss": 1.0, "train_loss": np.nan, "test_accuracy": 0.5}
    fine = {"loss": 9.9, "train_loss": 9.9, "test_accuracy": 0.5}
    assert not with_divergence(start, [])["diverged"]
    assert with_divergence(fine, [start])["test_accuracy"] == 0.5
    assert with_divergence(fine | {which: bad}, [start])["diverged"]
    assert np.isnan(with_divergence(fine | {which: bad}, [start])["test_accuracy"])
    assert with_divergence(start | {"loss": np.nan}, [])["diverged"]


@pytest.mark.slow
def test_members_answer_with_the_mean_of_their_probabilities(tmp_path):
    data = tasks.load_split("wine", 0, 10)
    every = Length(0, 1, 1, False)
    (row,) = curve(SETTING, KNOBS, data, 5, tmp_path / "a", every)
    held = data.validation
    batch = Batch(jnp.asarray(held.inputs), jnp.full(len(held.targets), -1), jnp.ones((len(held.targets), 8)))
    keys = jax.random.split(jax.random.split(jax.random.key(5))[0], 2)
    models = [Classifier(SETTING, data.train, 3, nnx.Rngs(key)) for key in keys]
    p = np.mean([jax.nn.softmax(model(batch)) for model in models], axis=0)
    assert row["loss"] == pytest.approx(-np.log(p[np.arange(len(p)), held.targets]).mean(), rel=1e-5)
    assert row["accuracy"] == np.mean(p.argmax(axis=1) == held.targets)
    seen = models[1].observe(batch)
    assert row["entropy_3"] == pytest.approx(float(seen["entropy"][1]), rel=1e-5)


def test_a_stored_example_is_never_read_by_itself_in_training():
    data = tasks.load_split("wine", 0, 10)
    model = Classifier(SETTING._replace(layer="memory"), data.train, 3, nnx.Rngs(0))
    shown = jnp.asarray(data.train.inputs[:4])
    keep = jnp.ones((4, shown.shape[-1]))
    alone, all_of_them = (Batch(shown, place, keep) for place in (jnp.arange(4), jnp.full(4, -1)))
    weights = [model.inspect(batch).weights[0] for batch in (alone, all_of_them)]
    own = [w[:, np.arange(4), np.arange(4)] for w in weights]
    assert np.all(own[0] == 0.0)
    assert np.all(own[1] == weights[1].max(axis=-1))  # the first key projection is that of the queries
    np.testing.assert_allclose(weights[0].sum(axis=-1), 1.0, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_keeps_its_contract(name):
    layer = layers.find(name)
    assert isinstance(layer, Layer)
    assert layer.inputs in ("one", "several", "any")
    examples, vectors, width = 6, 1 if layer.inputs == "one" else 3, SETTING.width if layer.embeds else 5
    metric = "diagonal" if layer.learns_metric else "none"
    data = tasks.Part(np.zeros((examples, vectors, 5), np.float32), np.arange(examples) % 2)
    setting = SETTING._replace(layer=name, metric=metric)
    module = layer.build(setting, data, 2, nnx.Rngs(0))
    others = jnp.ones((1, 1, 4, examples), bool)
    x = jnp.ones((4, vectors, width)) if layer.embeds else jnp.ones((1, 4, width))
    assert layer.read(module, x, others).shape == (4, layer.features(setting) if layer.embeds else 2)
    weights = layer.inspect(module, x, others).weights
    assert weights.shape[-1] == layer.stored(setting.quantity, examples, vectors) + (name == "energy")  # itself, masked
    assert np.all(np.asarray(layer.association(module).beta()) > 0)
