"""Exponential memories: thresholds against the sums they come from, finite sizes against enumeration and simulation."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from hopfield.theory import exponential


def binomial_law(neurons: int) -> tuple[np.ndarray, np.ndarray]:
    positive = np.arange(neurons + 1)
    log_count = gammaln(neurons + 1) - gammaln(positive + 1) - gammaln(neurons - positive + 1)
    return 2.0 * positive - neurons, np.exp(log_count - neurons * np.log(2))


def exact_sums(values: np.ndarray, law: np.ndarray, terms: int) -> tuple[np.ndarray, np.ndarray]:
    """All sums of `terms` values, with their probabilities."""
    total, probability = np.zeros(1), np.ones(1)
    for _ in range(terms):
        total, probability = np.add.outer(total, values).ravel(), np.multiply.outer(probability, law).ravel()
    return total, probability


SMALL = [(12, 3, 0.3, 0), (12, 3, 1.0, 3), (12, 4, 1.0, 3), (8, 3, 0.1, 2), (10, 4, 0.5, 4), (14, 5, 0.2, 0)]
SMALL += [(7, 2, 2.0, 3), (7, 3, 2.0, 3), (9, 4, 3.0, 2), (40, 3, 2.0, 8)]  # other patterns far above the own one


@pytest.mark.parametrize(("neurons", "patterns", "beta", "flipped"), SMALL)
def test_few_patterns_equal_complete_enumeration(neurons, patterns, beta, flipped):
    overlaps, law = binomial_law(neurons)
    total, probability = exact_sums(np.exp(beta * (overlaps - neurons + 2 * flipped)), law, patterns - 1)
    arguments = neurons, patterns, beta, flipped / neurons
    assert exponential.target_weight(*arguments) == pytest.approx(np.sum(probability / (1 + total)), rel=1e-9)
    win = np.sum(probability[total < 1])
    assert exponential.target_weight_probability(*arguments) == pytest.approx(win, abs=1e-5)

    overlaps, law = binomial_law(neurons - 1)
    error = 0.0
    for own, share in (
        (neurons - 2 * flipped - 1, 1 - flipped / neurons),
        (neurons - 2 * flipped + 1, flipped / neurons),
    ):
        terms = np.exp(beta * (overlaps - own))
        total, probability = exact_sums(np.concatenate([terms, -terms]), np.tile(law / 2, 2), patterns - 1)
        tie = np.abs(total + 1) < 1e-12
        error += share * (np.sum(probability[(total < -1) & ~tie]) + np.sum(probability[tie]) / 2)
    assert exponential.one_step_error(*arguments) == pytest.approx(error, abs=min(1e-5, 0.02 * error + 1e-12))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("neurons", "patterns", "beta", "flipped"),
    [
        (12, 900, 1.0, 0),
        (16, 3000, 0.5, 0),
        (16, 60, 1.0, 3),
        (20, 500, 1.0, 3),
        (18, 2500, 0.7, 1),
        (14, 6000, 2.0, 0),
    ],
)
def test_many_patterns_equal_simulation(neurons, patterns, beta, flipped):
    rng = np.random.default_rng(17)
    samples = 1000
    rows = np.empty((samples, 3))
    for sample in range(samples):
        xi = rng.choice(np.array([-1.0, 1.0]), size=(patterns, neurons))
        x = xi[0] * np.where(np.arange(neurons) < flipped, -1, 1)
        scores = xi @ x
        weight = 1 / np.sum(np.exp(beta * (scores - scores[0])))
        field = np.sum(xi * np.exp(beta * (scores[:, None] - xi * x - neurons)), axis=0)
        rows[sample] = weight, weight > 0.5, np.mean(np.where(field == 0, x, np.sign(field)) != xi[0])
    arguments = neurons, patterns, beta, flipped / neurons
    expected = np.array(
        [
            exponential.target_weight(*arguments),
            exponential.target_weight_probability(*arguments),
            exponential.one_step_error(*arguments),
        ]
    )
    deviation = np.maximum(rows.std(axis=0), np.sqrt(expected * (1 - expected) / neurons) * [0, 1, 0])
    assert np.all(np.abs(rows.mean(axis=0) - expected) < 3.5 * deviation / np.sqrt(samples) + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("power", [1, 2], ids=["target_weight", "one_step"])
@pytest.mark.parametrize(("beta", "corruption"), [(1.0, 0.0), (0.4, 0.0), (0.5, 0.2), (1.0, 0.05), (2.0, 0.2)])
def test_typical_loads_balance_signal_and_a_typical_sum(power, beta, corruption):
    """The sum over overlaps that a typical sample contains: M P(s) >= 1, the random-energy model's freezing."""
    neurons = 6000
    overlaps, _ = binomial_law(neurons)
    positive = (overlaps + neurons) / 2
    log_law = gammaln(neurons + 1) - gammaln(positive + 1) - gammaln(neurons - positive + 1) - neurons * np.log(2)

    def excess(load: float) -> float:
        present = load * neurons + log_law >= 0
        noise = logsumexp((load * neurons + log_law + power * beta * overlaps)[present])
        return noise - power * beta * neurons * (1 - 2 * corruption)

    loads = np.linspace(0.001, np.log(2), 4000)
    balance = loads[np.argmax(np.array([excess(load) for load in loads]) > 0)]
    function = exponential.target_weight_load if power == 1 else exponential.one_step_load
    expected = function(beta, corruption)
    assert balance == pytest.approx(expected, abs=3e-3)


def test_published_thresholds():
    assert exponential.all_patterns_load() == pytest.approx(np.log(2) / 2, rel=1e-15)
    assert exponential.one_step_load(1.0) == pytest.approx(2 - np.log(np.cosh(2)), rel=1e-14)
    assert exponential.target_weight_load(1.0) == pytest.approx(1 - np.log(np.cosh(1)), rel=1e-14)
    rho = np.array([0.05, 0.1, 0.3])
    rate = np.log(2) + rho * np.log(rho) + (1 - rho) * np.log(1 - rho)  # ln 2 − H(ρ)
    np.testing.assert_allclose(exponential.rate(1 - 2 * rho), rate, rtol=1e-13)
    np.testing.assert_allclose(exponential.all_patterns_load(rho), rate / 2, rtol=1e-13)
    np.testing.assert_allclose(exponential.one_step_load(1.0, rho), rate, rtol=1e-13)
    assert exponential.target_weight_load(1e3) == pytest.approx(np.log(2), rel=1e-12)
