"""The worked examples of the seed documents: right where they are right, corrected where they are wrong."""

import json

import numpy as np
import pandas
import pytest
import scipy.special
import scipy.stats

from experiments import worked_examples
from experiments.worked_examples import PRINTED, Config

TEMPERATURE_TABLE = {
    "T=0.25": ([0.9817, 0.0180, 0.0003], 0.0930),
    "T=0.5": ([0.8668, 0.1173, 0.0159], 0.4411),
    "T=1": ([0.6652, 0.2447, 0.0900], 0.8324),
    "T=2": ([0.5065, 0.3072, 0.1863], 1.0202),
    "T=inf": ([0.3333, 0.3333, 0.3333], 1.0986),
}
"""Weights and entropy in nats of the scores [2, 1, 0], corrected."""


@pytest.fixture(scope="module")
def table():
    """All rows, measured once."""
    config = Config()
    return pandas.DataFrame(worked_examples.measure(config, worked_examples.points(config)))


def values(table, document, quantity, row):
    """One line of a document, computed."""
    line = table[(table["document"] == document) & (table["quantity"] == quantity) & (table["row"] == row)]
    return line["value"].to_numpy()


def test_attention_example_is_right_in_every_document(table):
    """softmax(Q Kᵀ/√2) V by numpy; A = [[.4011 .1978 .4011], [.1978 .4011 .4011]], O = [[1.2033 .7967], …]."""
    queries, keys = np.eye(2), np.array([[1, 0], [0, 1], [1, 1]])
    scores = queries @ keys.T / np.sqrt(2)
    weights = scipy.special.softmax(scores, axis=1)
    output = weights @ [[2, 0], [0, 2], [1, 1]]
    np.testing.assert_allclose(weights[0], [0.4011, 0.1978, 0.4011], atol=5e-5)
    np.testing.assert_allclose(output, [[1.2033, 0.7967], [0.7967, 1.2033]], atol=5e-5)
    for i in range(2):
        np.testing.assert_allclose(values(table, "guide", "S", f"query {i + 1}"), scores[i], atol=1e-6)
        for document in ("guide", "notes", "draft"):
            np.testing.assert_allclose(values(table, document, "A", f"query {i + 1}"), weights[i], atol=1e-6)
            np.testing.assert_allclose(values(table, document, "O", f"query {i + 1}"), output[i], atol=1e-6)
    np.testing.assert_allclose(values(table, "draft", "Z", "query 1"), np.sum(np.exp(scores[0])), rtol=1e-6)
    assert table[table["example"] == "attention"]["right"].all()


@pytest.mark.parametrize("document", ["guide", "notes"])
def test_temperature_table_is_corrected(table, document):
    for row, (weights, entropy) in TEMPERATURE_TABLE.items():
        if ("p", row) not in PRINTED[document, "temperature"]:
            continue
        found = values(table, document, "p", row)
        np.testing.assert_allclose(found, weights, atol=5.1e-5)
        np.testing.assert_allclose(found, scipy.special.softmax([2 / float(row[2:]), 1 / float(row[2:]), 0]), atol=1e-6)
        np.testing.assert_allclose(values(table, document, "H", row), entropy, atol=5.1e-5)
        np.testing.assert_allclose(values(table, document, "H", row), scipy.stats.entropy(found), atol=1e-6)


def test_softmax_jacobian_is_right(table):
    a = scipy.special.softmax([1.0, 2.0])
    np.testing.assert_allclose(values(table, "guide", "a", ""), a, atol=1e-6)
    for i in range(2):
        row = a[i] * (np.eye(2)[i] - a)
        np.testing.assert_allclose(values(table, "guide", "J", f"row {i + 1}"), row, atol=1e-6)
        assert np.sum(row) == pytest.approx(0, abs=1e-15)
    assert table[table["example"] == "jacobian"]["right"].all()


def test_a_printed_number_is_right_if_the_computed_one_rounds_to_it(table):
    """Decimal rounding by Python as the second route, and the tally: all 19 mistakes are in the temperature tables."""
    for row in table.itertuples():
        assert row.right == (round(row.value, row.decimals) == row.printed), row
    assert len(table) == sum(len(line.split()) for lines in PRINTED.values() for line in lines.values()) == 92
    wrong = table[~table["right"]]
    assert wrong.groupby(["document", "example"]).size().to_dict() == {
        ("guide", "temperature"): 11,
        ("notes", "temperature"): 8,
    }
    where = {(row.document, row.quantity, row.row) for row in wrong.itertuples()}
    assert ("guide", "H", "T=2") not in where
    assert {("guide", "H", "T=1"), ("notes", "p", "T=2"), ("guide", "p", "T=0.25")} <= where


def test_the_command_prints_saves_and_draws_the_examples(command, tmp_path):
    done = command("conf=worked_examples", "output=out")
    assert done.code == 0, done.err
    assert "temperature (guide) p T=0.25: 0.9817 0.0180 0.0003  printed 0.997 0.003 0.000  wrong" in done.out
    assert "attention (draft) A query 1: 0.4011 0.1978 0.4011  printed 0.40 0.20 0.40  right" in done.out
    assert "numbers_wrong: 19" in done.out
    saved = pandas.read_csv(tmp_path / "out" / "table.csv")
    assert list(saved.columns[-2:]) == ["value", "right"]
    assert len(saved) == 92
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert len(summary["corrections"]) == summary["scalars"]["numbers_wrong"] == 19
    assert {"document": "notes", "example": "temperature", "right": 8, "printed": 16} in summary["examples"]
    for suffix in ("svg", "png", "pdf"):
        assert (tmp_path / "out" / f"figure.{suffix}").stat().st_size > 5000


@pytest.mark.parametrize(
    ("options", "panels"),
    [({"documents": ["draft"]}, 1), ({"examples": ["temperature"]}, 2), ({"examples": ["jacobian", "temperature"]}, 3)],
    ids=["one document", "one example", "two examples"],
)
def test_any_choice_of_examples_can_be_drawn(table, options, panels):
    config = Config(**options)
    rows = table[table["document"].isin(config.documents) & table["example"].isin(config.examples)]
    assert len(rows) == len(worked_examples.points(config))
    figure = worked_examples.plot(rows, worked_examples.summarise(rows))
    assert sum(ax.axison for ax in figure.axes) == panels
    letters = [ax.get_title(loc="left")[0] for ax in figure.axes if ax.axison]
    assert letters == list("abcd"[:panels])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"documents": []}, r"^documents must not be empty, got \[\]$"),
        ({"examples": ["attention", "entropy"]}, "^examples must be one of attention, temperature, jacobian, got 'ent"),
        ({"documents": ["paper"]}, "^documents must be one of guide, notes, draft, got 'paper'$"),
        ({"documents": ["draft"], "examples": ["jacobian"]}, "^examples must be printed in one of draft, got"),
    ],
)
def test_impossible_choices_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Config(**options)
