"""Training runs: the same curve after any kill, any layer, metric and optimiser, and an honest comparison."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest
from flax import nnx
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from experiments import plot, processes, tasks, training
from experiments.training import Config, points
from experiments.training_models import Batch, Classifier
from experiments.training_run import Length, auc, curve
from experiments.training_settings import METRICS, OPTIMISERS, Knobs, Setting

pytestmark = pytest.mark.usefixtures("as_run")
SMALL: dict[str, Any] = {"trials": 1, "epochs": 2, "width": 8, "baselines": False, "size": 40, "learning_rate": [1e-2]}
SETTING = Setting("lookup", "diagonal", "softmax", "adam", 8, 2, 4, 1, 1, 32)
KNOBS = Knobs(1e-2, 1e-2, 0.1, 0.0)
COMMAND = [sys.executable, "-m", "experiments.run", "conf=training", "tasks=[wine]", "layers=[lookup]", "trials=1"]
WORDS = ["epochs=60", "patience=200", "save_every=3", "width=16", "members=1", "optimisers=[natural]"]


def command(directory):
    """The command, in a group of its own, in a process that is given back at once."""
    words = [*WORDS, f"output={directory}", "learning_rate=[0.03]", "damping=[0.1]", "noise=[0.1]", "baselines=false"]
    silent: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    return subprocess.Popen([*COMMAND, *words], env=os.environ | {"WANDB_MODE": "disabled"}, **silent)


def epochs_on_disk(directory):
    """Rows in the ledger: those that can be lost least."""
    return sum(path.read_bytes().count(b'"row":') for path in directory.glob("ledger/*.jsonl"))


def test_a_run_killed_again_and_again_ends_with_the_same_curve(tmp_path):
    assert command(tmp_path / "whole").wait() == 0
    # Killed before the first checkpoint, between two, and late; whatever it was doing then.
    for more in (1, 9, 22):
        process, before = command(tmp_path / "killed"), epochs_on_disk(tmp_path / "killed")
        while process.poll() is None and epochs_on_disk(tmp_path / "killed") < before + more:
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "killed" / "table.csv").exists()
    checkpoints = tmp_path / "killed" / "checkpoints"
    half = processes.temporary(next(checkpoints.glob("*.msgpack"))).name.replace(f"-{os.getpid()}-", f"-{process.pid}-")
    (checkpoints / half).write_bytes(b"half")
    assert command(tmp_path / "killed").wait() == 0
    whole, killed = (pandas.read_csv(tmp_path / name / "table.csv") for name in ("whole", "killed"))
    pandas.testing.assert_frame_equal(whole, killed, check_exact=True)
    assert len(whole) == 61
    assert len(list(checkpoints.iterdir())) == 1  # what a killed process left half written is gone


@pytest.mark.parametrize("epoch", range(5))
def test_a_run_goes_on_from_any_checkpoint_to_the_same_numbers(tmp_path, epoch):
    data = tasks.split("wine", 0, 10)

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


@pytest.mark.parametrize(
    ("layer", "metric", "optimiser", "task"),
    [
        *(("lookup", "diagonal", name, "wine") for name in OPTIMISERS),
        *(("pooling", metric, "adam", "latch") for metric in METRICS[2:]),
        ("memory", "low_rank", "adamw", "wine"),
        *((layer, "none", "adam", "recall") for layer in ("association", "encoder", "decoder", "energy")),
    ],
    ids=str,
)
def test_any_combination_lowers_the_loss_and_reports_its_heads(layer, metric, optimiser, task, tmp_path):
    kind: dict[str, Any] = {"layers": [layer], "metrics": [metric], "optimisers": [optimiser], "tasks": [task]}
    damping = 1.0 if optimiser in ("kronecker", "natural", "diagonal_fisher") else 1e-2
    more: dict[str, Any] = {"epochs": 6, "damping": [damping], "batch": 16, "members": 2, "output": str(tmp_path)}
    options: dict[str, Any] = SMALL | kind | more
    config = Config(**options)
    rows = list(training.measure(config, points(config)))
    assert [row["epoch"] for row in rows] == list(range(7))
    for row in rows:
        values = [row[f"{name}_{head}"] for name in ("entropy", "effective", "beta") for head in range(4)]
        assert np.isfinite([*values, row["loss"], row["condition"], row["diversity"]]).all()
        assert row["effective_3"] >= np.exp(row["entropy_3"]) * (1 - 1e-5)  # Jensen
    assert rows[-1]["train_loss"] < rows[1]["train_loss"]
    if optimiser in ("natural", "levenberg"):
        assert np.isfinite(rows[-1]["optimiser_residual"])


def test_members_answer_with_the_mean_of_their_probabilities(tmp_path):
    data = tasks.split("wine", 0, 10)
    every = Length(0, 1, 1, False)
    (row,) = curve(SETTING._replace(members=3), KNOBS, data, 5, tmp_path / "a", every)
    held = data.validation
    batch = Batch(jnp.asarray(held.inputs), jnp.full(len(held.targets), -1), jnp.ones((len(held.targets), 8)))
    keys = jax.random.split(jax.random.split(jax.random.key(5))[0], 3)
    models = [Classifier(SETTING, data.train, 3, nnx.Rngs(key)) for key in keys]
    p = np.mean([jax.nn.softmax(model(batch)) for model in models], axis=0)
    assert row["loss"] == pytest.approx(-np.log(p[np.arange(len(p)), held.targets]).mean(), rel=1e-5)
    assert row["accuracy"] == np.mean(p.argmax(axis=1) == held.targets)
    seen = models[2].observe(batch)
    assert row["entropy_5"] == pytest.approx(float(seen["entropy"][1]), rel=1e-5)


def test_a_stored_example_is_never_read_by_itself_in_training():
    data = tasks.split("wine", 0, 10)
    model = Classifier(SETTING._replace(layer="memory"), data.train, 3, nnx.Rngs(0))
    shown = jnp.asarray(data.train.inputs[:4])
    keep = jnp.ones((4, shown.shape[-1]))
    alone, all_of_them = (Batch(shown, place, keep) for place in (jnp.arange(4), jnp.full(4, -1)))
    weights = [model._inspected(model._embedded(batch), batch).weights[0] for batch in (alone, all_of_them)]
    own = [w[:, np.arange(4), np.arange(4)] for w in weights]
    assert np.all(own[0] == 0.0)
    assert np.all(own[1] == weights[1].max(axis=-1))  # the first key projection is that of the queries
    np.testing.assert_allclose(weights[0].sum(axis=-1), 1.0, rtol=1e-5)


def test_area_under_the_curve_is_the_share_of_pairs_in_order_ties_counted_half():
    rng = np.random.default_rng(0)
    scores, targets = rng.integers(0, 5, (60, 2)).astype(float), rng.integers(0, 2, 60)
    lead = scores[:, 1] - scores[:, 0]
    gap = lead[targets == 1][:, None] - lead[targets == 0][None]
    assert auc(scores, targets) == pytest.approx(np.mean((gap > 0) + 0.5 * (gap == 0)), abs=1e-12)
    assert np.isnan(auc(scores, np.zeros(60, int)))


def test_training_stops_early_and_keeps_the_best_epoch(tmp_path):
    options: dict[str, Any] = SMALL | {"epochs": 30, "learning_rate": [0.3], "patience": 1, "output": str(tmp_path)}
    config = Config(**options)
    rows = list(training.measure(config, points(config)))
    losses = [row["loss"] for row in rows if not row["stopped"]]
    assert len(losses) < 31
    assert rows[-1]["stopped"]
    assert rows[-1]["best_epoch"] == int(np.argmin(losses)) == len(losses) - 2
    assert rows[-1]["test_accuracy"] == rows[rows[-1]["best_epoch"]]["test_accuracy"]


def made_table():
    """Three trials of two rates, of which the second is better on validation and worse on test, and a baseline."""
    rows = []
    for trial, (ours, svm) in enumerate([(0.9, 0.95), (0.8, 0.82), (0.7, 0.74)]):
        shared = {"task": "wine", "trial": trial, "damping": 0.1, "noise": 0.0, "metric": "none", "stopped": False}
        shared |= {"separation": "softmax", "optimiser": "adam", "test_auc": np.nan, "condition": 2.0}
        runs = (("lookup", 0.1, 0.5, 1.0), ("lookup", 0.2, 0.4, ours), ("svm", 0.0, np.nan, svm))
        for layer, rate, loss, value in runs:
            for epoch in range(1 if layer == "svm" else 3):
                row = shared | {"layer": layer, "learning_rate": rate, "best_loss": loss, "test_accuracy": value}
                rows.append(row | {"epoch": epoch, "loss": loss, "effective_0": 2.0, "beta_0": 1.0})
    return pandas.DataFrame(rows)


def test_the_rate_is_chosen_by_validation_and_the_comparison_is_paired_by_split():
    found = training.summarise(made_table())
    (entry,) = found["paired"]
    assert entry["lead"] == pytest.approx(-0.11 / 3)
    t, p = map(float, ttest_1samp([-0.05, -0.02, -0.04], 0.0))  # pyright: ignore[reportArgumentType]
    assert entry["p_independent"] == pytest.approx(p)
    # The variance of the mean of three leads grows from 1/3 to 1/3 + (test samples)/(training samples): twice as much.
    assert entry["p"] == pytest.approx(2 * student.sf(abs(t) / np.sqrt(2), 2))
    assert entry["lead_stderr"] == pytest.approx(np.std([-0.05, -0.02, -0.04], ddof=1) * np.sqrt(2 / 3))
    assert found["scalars"]["test_accuracy/wine/lookup/softmax/adam"] == pytest.approx(0.8)
    assert json.dumps(found)


def test_the_figure_shows_curves_and_results():
    table = made_table()
    with plot.style():
        axes = training.plot(table, training.summarise(table)).axes
    assert [ax.get_xlabel() for ax in axes] == ["test accuracy", *["epoch"] * 4]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["lookup, wine", "svm, wine"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tasks": ["iris"]}, "tasks must be one of digits"),
        ({"layers": ["dense"]}, "layers must be one of lookup"),
        ({"layers": ["association"]}, "layers must not be association where inputs are single vectors"),
        ({"layers": ["memory"], "tasks": ["latch"]}, "layers must not be memory where inputs are several vectors"),
        (
            {"layers": ["energy"], "tasks": ["latch"], "metrics": ["full"]},
            r"metrics must be \[none\] for the layer",
        ),
        ({"optimisers": ["rprop"]}, "optimisers must be one of adam"),
        ({"metrics": []}, "metrics must not be empty"),
        ({"heads": 3}, "heads must divide the width of 32, got 3"),
        ({"noise": [-1.0]}, "noise must be at least 0"),
        ({"learning_rate": [0.0]}, "learning_rate must be positive"),
        ({"dropout": 1.0}, r"dropout must lie in \[0, 1\), got 1"),
        ({"schedule": "linear"}, "schedule must be one of constant, cosine, got 'linear'"),
        ({"trials": 0}, "trials must be at least 1, got 0"),
        ({"seed": 2**32 - 1}, r"seed must leave room for 2 trials below 2\^32, got 4294967295"),
        ({"separations": ["hardmax"]}, "separation"),
    ],
    ids=str,
)
def test_a_bad_option_ends_in_one_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Config(**options)


def test_rules_without_a_damping_are_not_run_again_at_every_value_of_it():
    config = Config(optimisers=["adam", "adamw"], damping=[0.1, 0.2], trials=1, epochs=1, baselines=False)
    assert [(point["optimiser"], point["damping"]) for point in points(config) if point["epoch"] == 0] == [
        ("adam", 0.1),
        ("adamw", 0.1),
        ("adamw", 0.2),
    ]
