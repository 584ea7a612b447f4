"""Extrapolation: closed forms, an independent least-squares routine, and simulated coverage."""

import math

import numpy as np
import pytest
from scipy.optimize import curve_fit

from experiments.statistics.extrapolation import extrapolate, law_at, laws

SIZES = np.array([250.0, 500, 1000, 2000, 4000])


@pytest.mark.parametrize("exponent", [1 / 3, 0.5, 2 / 3, 1.0], ids=lambda exponent: f"x={exponent:.2f}")
def test_exact_power_law_is_found_by_its_own_exponent_and_by_the_free_one(exponent):
    fits = extrapolate(SIZES, 0.138 + 0.3 * SIZES**-exponent, np.full(5, 1e-3))
    own = next(fit for fit in fits if fit["exponent"] == exponent)
    free = fits[-1]
    assert [fit["free_exponent"] for fit in fits] == [False] * 4 + [True]
    assert own["load"] == pytest.approx(0.138, abs=1e-12)
    assert own["amplitude"] == pytest.approx(0.3, rel=1e-9)
    assert own["chi2"] == pytest.approx(0, abs=1e-15)
    assert free["load"] == pytest.approx(0.138, abs=1e-6)
    assert free["exponent"] == pytest.approx(exponent, abs=1e-4)
    assert [fit["dof"] for fit in fits] == [3, 3, 3, 3, 2]
    assert all(fit["chi2"] > 1e-3 for fit in fits[:-1] if fit is not own)


def test_two_sizes_give_the_line_through_them_with_its_propagated_error():
    # With x = 1 and N = 100, 200 the limit of the line is 2 a₂ − a₁, its error √(4σ₂² + σ₁²).
    (fit,) = extrapolate([100, 200], [0.2, 0.17], [0.003, 0.002], exponents=(1.0,))
    assert fit["load"] == pytest.approx(0.14, abs=1e-12)
    assert fit["amplitude"] == pytest.approx(6.0, rel=1e-9)
    assert fit["stderr"] == pytest.approx(0.005, rel=1e-9)
    assert fit["chi2"] == pytest.approx(0, abs=1e-12)
    assert fit["dof"] == 0


def test_fixed_and_free_fits_equal_a_general_least_squares_routine_where_it_is_well_conditioned():
    rng = np.random.default_rng(3)
    error = np.array([1e-5, 2e-5, 1e-5, 3e-5, 1e-5])
    load = 0.1379 + 0.5 * SIZES**-0.6 + error * rng.normal(size=5)
    fits = extrapolate(SIZES, load, error)

    def curve(size, limit, amplitude, exponent):
        return limit + amplitude * size**-exponent

    for fit in fits[:-1]:
        x = fit["exponent"]
        best, cov = curve_fit(
            lambda size, a, b, x=x: curve(size, a, b, x), SIZES, load, [0.1, 1], error, absolute_sigma=True
        )
        assert fit["load"] == pytest.approx(best[0], abs=1e-9)
        assert fit["stderr"] == pytest.approx(math.sqrt(cov[0, 0]), rel=1e-4)
        assert fit["chi2"] == pytest.approx(np.sum(((load - curve(SIZES, *best, x)) / error) ** 2), rel=1e-6)
    best, cov = curve_fit(curve, SIZES, load, [0.14, 0.5, 0.6], error, absolute_sigma=True)
    assert fits[-1]["load"] == pytest.approx(best[0], abs=1e-7)
    assert fits[-1]["exponent"] == pytest.approx(best[2], abs=1e-4)
    assert fits[-1]["stderr"] == pytest.approx(math.sqrt(cov[0, 0]), rel=0.02)
    assert fits[-1]["exponent_stderr"] == pytest.approx(math.sqrt(cov[2, 2]), rel=0.02)


def test_fixed_errors_cover_and_chi2_has_its_mean():
    rng = np.random.default_rng(8)
    error = 5e-4 * np.array([1, 1.5, 0.7, 1, 2])
    fits = [
        extrapolate(SIZES, 0.14 + 0.2 * SIZES**-0.5 + error * rng.normal(size=5), error, (0.5,), free=False)[0]
        for _ in range(1000)
    ]
    pull = np.array([(fit["load"] - 0.14) / fit["stderr"] for fit in fits])
    assert pull.std() == pytest.approx(1, abs=0.08)  # 3.5 standard errors 1/√2000
    assert np.mean([fit["chi2"] for fit in fits]) == pytest.approx(3, abs=0.3)


def test_free_error_covers_although_amplitude_and_exponent_trade_off():
    rng = np.random.default_rng(6)
    pull, ratio = [], []
    for _ in range(100):
        load = 0.14 + 0.2 * SIZES**-0.6 + 7e-4 * rng.normal(size=5)
        *fixed, free = extrapolate(SIZES, load, np.full(5, 7e-4))
        pull.append((free["load"] - 0.14) / free["stderr"])
        ratio.append(free["stderr"] / fixed[2]["stderr"])
    assert 0.55 < np.mean(np.abs(pull) < 1) <= 0.95
    assert np.median(ratio) > 1.5


def test_laws_find_the_limit_of_data_that_follow_them_and_reject_others():
    size = np.array([250, 1000, 2000, 4000, 8000, 16000])
    load = 0.14 + 2 * size ** (-2 / 3)
    load[0] += 1.0  # left out, as every size below 1000
    found = {fit["law"]: fit for fit in laws(size, load, np.full(6, 1e-5), {"true": 0.14, "other": 0.13})}
    assert len(found) == 14
    for law in ("N^-x, x = 0.667", "N^-x, x = 0.667 fitted", "two terms, x = 0.667, 1.33", "true, x = 0.667 fitted"):
        assert found[law]["load"] == pytest.approx(0.14, abs=1e-6)
        assert found[law]["chi2"] == pytest.approx(0, abs=1e-3)
        np.testing.assert_allclose(law_at(found[law], size[1:]), load[1:], atol=1e-6)
        assert law_at(found[law], np.inf) == found[law]["load"]
    assert found["N^-x, x = 0.5"]["chi2"] > 100
    assert min(fit["chi2"] for law, fit in found.items() if law.startswith("other")) > 100
    for fit in found.values():  # the loads are those of the best law already
        assert fit["apart"] == pytest.approx(fit["chi2"], rel=1e-3, abs=1e-3)
    assert laws(size[:3], load[:3], np.ones(3), {}) == []


def test_laws_grow_apart_with_the_draws():
    size = np.array([1000, 2000, 4000, 8000, 16000])
    load = 0.14 + 2 * size ** (-2 / 3)
    few, many = ({fit["law"]: fit for fit in laws(size, load, np.full(5, error), {})} for error in (2e-4, 1e-4))
    square = "N^-x, x = 0.5"
    assert many[square]["apart"] == pytest.approx(4 * few[square]["apart"], rel=1e-6)
    limit = np.polyfit(size**-0.5, load, 1)
    residual = (np.polyval(limit, size**-0.5) - load) / 1e-4
    assert many[square]["apart"] == pytest.approx(residual @ residual, rel=1e-6)
