"""The worked examples of the seed documents: right where they are right, corrected where they are wrong."""

import json
from collections.abc import Iterator

import numpy as np
import pandas
import pytest
import scipy.special
import scipy.stats

from experiments.system import files
from experiments.worked_examples import experiment as worked_examples
from experiments.worked_examples.experiment import Config
from experiments.worked_examples.printed import PRINTED
from tests.experiments.smoke import few_draws


@pytest.fixture(scope="module")
def table():
    """All rows that are not random, measured once."""
    config = Config(examples=["attention", "temperature", "jacobian"])
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


def test_a_printed_number_is_right_if_the_computed_one_rounds_to_it(table):
    """Decimal rounding by Python as the second route, and the tally: all 19 mistakes are in the temperature tables."""
    for row in table.itertuples():
        assert row.right == (round(row.value, row.decimals) == row.printed), row
    numbers = [line.split() for key, lines in PRINTED.items() if key[1] != "capacity" for line in lines.values()]
    assert len(table) == sum(map(len, numbers)) == 92
    wrong = table[~table["right"]]
    assert wrong.groupby(["document", "example"]).size().to_dict() == {
        ("guide", "temperature"): 11,
        ("notes", "temperature"): 8,
    }
    where = {(row.document, row.quantity, row.row) for row in wrong.itertuples()}
    assert ("guide", "H", "T=2") not in where
    assert {("guide", "H", "T=1"), ("notes", "p", "T=2"), ("guide", "p", "T=0.25")} <= where


@pytest.fixture(scope="module")
def claims() -> Iterator[pandas.DataFrame]:
    """The claims beside measurements of fewer draws, as a saved table gives them back."""
    with pytest.MonkeyPatch.context() as patch:
        few_draws(patch)
        config = Config(documents=["guide"], examples=["capacity"])
        rows = list(worked_examples.measure(config, worked_examples.points(config)))
        yield pandas.DataFrame(json.loads(files.encode(rows)))


@pytest.mark.physics
def test_the_exponent_depends_on_the_patterns_and_the_temperature(claims):
    """α_1(λ): 1/2 for Gaussian patterns at λ ≥ 1, here with ½ ln d on top; on the sphere .387 at λ = ½, .623 at 1."""
    found = claims[claims["quantity"] == "d ln M/dd"].set_index("row")
    for row, (exponent, bias) in {
        "gaussian λ=2 start": (0.5, 0.06),
        "sphere λ=0.5 start": (0.3871, 0.005),
        "sphere λ=1 start": (0.6226, 0.005),
    }.items():
        assert found["theory"][row] == pytest.approx(exponent, abs=1e-4)
        assert abs(found["value"][row] - exponent) < 3 * found["stderr"][row] + bias
        assert found["stderr"][row] < 0.05
    assert found["right"].to_dict() == {
        "gaussian λ=2 start": True,
        "sphere λ=0.5 start": False,
        "sphere λ=1 start": False,
    }
    sizes = claims[claims["quantity"] == "ln M/d"].set_index("row")
    for size in (8, 10, 12):
        row = f"sphere λ=1 start d={size}"
        assert sizes["value"][row] == pytest.approx(sizes["theory"][row], abs=3 * sizes["stderr"][row] + 0.005)
    assert sizes["value"]["sphere λ=1 converged d=8"] < sizes["value"]["sphere λ=1 start d=8"] - 0.05
