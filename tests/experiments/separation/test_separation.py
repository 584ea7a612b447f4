"""Comparison of separations: every read-out against plain numpy, the Bayesian limit, and its contract."""

import math
from collections.abc import Callable

import numpy as np
import pandas
import pytest

from experiments.separation import measurement
from experiments.separation.config import BOUND
from experiments.separation.experiment import summarise
from experiments.shared import pattern_sets
from experiments.statistics.clusters import standard_error
from tests.experiments.estimates import value

NOISE = measurement.Task("digits", 30, 40, 20, "noise", 0.3)
SAMPLES = tuple(range(measurement.TOGETHER))


def read(similarity: str, separation: str, task: measurement.Task = NOISE, sharpness: float = 30.0) -> dict:
    reader = measurement.Reader(similarity, separation, False, 10)
    draws = measurement.draws(task, 0, SAMPLES)
    units = measurement.scale("digits", similarity)
    return measurement.read(reader, task, draws, SAMPLES, units, [sharpness] * len(SAMPLES), 0.05)


def softmax(z: np.ndarray) -> np.ndarray:
    p = np.exp(z - z.max())
    return p / p.sum()


def power(n: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda z: np.maximum(z, 0) ** n / np.sum(np.maximum(z, 0) ** n)


def cosine(x: np.ndarray, images: np.ndarray) -> np.ndarray:
    return images @ x / np.linalg.norm(images, axis=1) / np.linalg.norm(x)


def square(x: np.ndarray, images: np.ndarray) -> np.ndarray:
    return -0.5 * ((images - x) ** 2).sum(axis=1)


def absolute(x: np.ndarray, images: np.ndarray) -> np.ndarray:
    return -np.abs(images - x).sum(axis=1)


ROUTES = {
    "dot/softmax": (lambda x, images: images @ x, softmax),
    "cosine/rectified:2": (cosine, power(1)),
    "correlation/softmax": (lambda x, images: np.array([np.corrcoef(x, image)[0, 1] for image in images]), softmax),
    "euclidean/max": (square, lambda z: np.eye(len(z))[z.argmax()]),
    "manhattan/softmax": (absolute, softmax),
    "euclidean/rectified:4": (lambda x, images: -1.0 / square(x, images), power(3)),
    "manhattan/rectified:11": (lambda x, images: -1.0 / absolute(x, images), power(10)),
    "euclidean/epanechnikov": (square, lambda z: (z > -1) / max(1, (z > -1).sum())),
}


@pytest.mark.parametrize("pair", ROUTES)
def test_answers_and_judgements_equal_plain_numpy(pair: str) -> None:
    compare, weigh = ROUTES[pair]
    similarity, separation = pair.split("/")
    found = read(similarity, separation, sharpness=2.0 if "epanechnikov" in pair else 30.0)
    draws = measurement.draws(NOISE, 0, SAMPLES)
    units = measurement.scale("digits", similarity)
    images = np.asarray(pattern_sets.pixels("digits"), float)
    everyone = ((images[:, None, :] - images[None, ::7, :]) ** 2).sum(axis=2)
    assert units.distance == pytest.approx(everyone[everyone > 0].mean(), rel=0.02)
    beta = (2.0 if "epanechnikov" in pair else 30.0) / units.gap
    for sample in (0, 5):
        stored, queries = np.asarray(draws.stored[sample], float)[:30], np.asarray(draws.queries[sample], float)
        counts, errors = np.zeros(3, int), []
        for i, query in enumerate(queries):
            scores = compare(query, stored)
            answer = weigh(beta * scores) @ stored
            distance = ((stored - answer) ** 2).sum(axis=1)
            identified, close = distance.argmin() == i, distance[i] <= 0.05 * units.distance
            counts += identified, close, identified and close
            errors.append(distance[i] / units.distance)
        assert [int(found[name][sample]) for name in ("identified", "close", "retrieved")] == counts.tolist()
        # reciprocals stop growing at a thousandth of the mean distance, which moves weights by about a per cent
        assert found["error"][sample] == pytest.approx(np.mean(errors), rel=2e-2 if "rectified" in pair else 2e-4)


def test_softmax_of_squared_distances_at_beta_one_over_the_variance_is_the_posterior_mean() -> None:
    # p(ξ | x) ∝ exp(−‖x − ξ‖²/2σ²), and scores are −½‖x − ξ‖²; the posterior mean has the least expected error.
    units = measurement.scale("digits", "euclidean")
    limit = read(*BOUND)
    exact = units.gap / NOISE.amount**2
    np.testing.assert_allclose(read("euclidean", "softmax", sharpness=exact)["error"], limit["error"], rtol=1e-4)
    for factor in (0.5, 2.0):
        assert read("euclidean", "softmax", sharpness=factor * exact)["error"].mean() > 1.02 * limit["error"].mean()
    np.testing.assert_array_equal(read("euclidean", "max")["identified"], limit["identified"])


def test_what_is_hidden_costs_nothing_when_it_is_known_and_much_when_it_is_not() -> None:
    hidden = measurement.Task("digits", 30, 40, 20, "lower", 0.5)
    limit, found = read(*BOUND, hidden), read("euclidean", "max", hidden)
    assert limit["retrieved"].tolist() == [20] * len(SAMPLES)
    assert found["retrieved"].mean() < 15
    clean = measurement.Task("digits", 30, 40, 20, "flip", 0.0)
    assert read("euclidean", "max", clean)["retrieved"].tolist() == [20] * len(SAMPLES)


def test_the_summary_ranks_pairs_and_measures_leads_draw_by_draw() -> None:
    # Draws differ by 0.4, pairs by 0.1 in every draw: the lead has an error of zero, the shares one of 0.2.
    rows = []
    for sample, common in enumerate((2, 6)):
        for similarity, separation, extra in (("dot", "max", 1), ("dot", "softmax", 0), ("cosine", "max", 2)):
            point = {"ensemble": "digits", "patterns": 10, "corruption": "noise:0.4", "dynamics": "single"}
            point |= {"similarity": similarity, "separation": separation, "sample": sample, "queries": 10}
            counts = dict.fromkeys(("retrieved", "identified", "close"), common + extra)
            rows.append(point | counts | {"error": 0.5, "sharpness_retrieved": 1.0, "sharpness_error": math.nan})
    found = summarise(pandas.DataFrame(rows))
    (best,) = found.more["best"]
    assert (best["similarity"], best["separation"], best["next_similarity"]) == ("cosine", "max", "dot/max")
    assert best["retrieved"] == pytest.approx(0.6)
    assert best["retrieved_stderr"] == pytest.approx(standard_error([0.4, 0.8]))
    assert best["similarity_lead"] == pytest.approx(0.1)
    assert found.of("behind the first")["value"].tolist() == pytest.approx([0.0, 0.1, 0.2])
    assert found.of("behind the first")["stderr"].tolist() == pytest.approx([0.0] * 3, abs=1e-12)
    assert best["similarity_lead_stderr"] == pytest.approx(0.0, abs=1e-12)
    assert "separation_lead" not in best
    assert found.of("behind the first")["similarity"].tolist() == ["cosine", "dot", "dot"]
    assert value(found, "retrieved", part="max") == pytest.approx(0.6)
    assert value(found, "retrieved", part="softmax") == pytest.approx(0.4)
    assert set(found.of("share retrieved")["value"]) == {0.5, 0.4, 0.6000000000000001}
