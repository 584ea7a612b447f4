"""Extrapolation of critical loads to infinite size, with a fixed or a free exponent."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from experiments.statistics.columns import Array, columns, flag, magnitude

Fit = dict[str, Any]
DECADES = 100


def extrapolate(
    neurons: ArrayLike,
    load: ArrayLike,
    stderr: ArrayLike,
    exponents: Sequence[float] = (1 / 3, 1 / 2, 2 / 3, 1.0),
    *,
    free: bool = True,
    bounds: tuple[float, float] = (0.1, 3.0),
) -> list[Fit]:
    """The load of an infinite network, by weighted least squares for fixed exponents and with the exponent free.

        load(N) = load_inf + amplitude·N^(−x),   χ² = Σ ((load − fit) / stderr)²

    Errors are not rescaled by χ²/dof: read them with it. For the free fit they are half the width of the interval
    on which the profile χ² lies within 1 of its minimum; that is the covariance's error where the fit is well
    conditioned, and stays honest where amplitude and exponent trade off. The free exponent is confined to `bounds`;
    one that ends there, or an interval that fills them, says that the data do not determine it.

    Args:
        neurons: [S] sizes N > 0.
        load: [S] critical loads; sizes where load or stderr is not finite are left out.
        stderr: [S] their standard errors, > 0.
        exponents: fixed exponents x > 0, each reported in this order.
        free: whether to fit x as well, reported last.
        bounds: the range of a free x.

    Returns:
        One dict per fit with `exponent`, `exponent_stderr` (0 when fixed), `free_exponent`, `load`, `stderr`,
        `amplitude`, `chi2`, `dof`. A fixed exponent needs two sizes (then dof = 0 and nothing is tested), a free one
        four; fits with fewer are absent from the list.

    Raises:
        ValueError: columns of different length, sizes, errors or exponents that are not positive.
    """
    size, value, error = _sizes(neurons, load, stderr)
    free = flag("free", free)
    (powers,), (ends,) = columns(exponents=exponents), columns(bounds=bounds)
    if not ((powers > 0) & (powers < np.inf)).all():
        raise ValueError(f"exponents must be positive and finite, got {powers.tolist()}")
    if not (ends.size == 2 and 0 < ends[0] < ends[1] < np.inf):
        raise ValueError(f"bounds must be two numbers, 0 < low < high, got {ends.tolist()}")
    decades = np.log10(size) * max(powers.max(initial=0.0), ends[1])
    if (np.abs(decades) > DECADES).any():
        raise ValueError(
            f"exponents must leave N^(−x) from 1e-{DECADES} to 1e{DECADES}, got {powers.tolist()}, {bounds}"
        )
    distinct = np.unique(size).size
    fits = [_fixed_fit(size, value, error, float(x)) for x in powers] if distinct >= 2 else []
    return [*fits, _free_fit(size, value, error, ends)] if free and distinct >= 4 else fits


def best_fit(fits: Sequence[Fit]) -> Fit | None:
    """Fit of `extrapolate` with dof > 0 and least χ² + 2·parameters (Akaike 1974), if any."""
    tested = [fit for fit in fits if fit["dof"] > 0]
    return min(tested, key=lambda fit: fit["chi2"] - 2 * fit["dof"], default=None)


SUMS = ((1 / 3, 2 / 3), (1 / 2, 1.0), (2 / 3, 4 / 3))
"""Pairs of exponents of laws with two terms."""
LEAST = 1000
"""Size below which what counts as success decides the load."""


def laws(
    neurons: ArrayLike, load: ArrayLike, stderr: ArrayLike, limits: Mapping[str, float], least: int = LEAST
) -> list[Fit]:
    """Limits under different laws of the approach, from the same sizes: how far the limit depends on what is supposed.

        one power, x = 1/2, 2/3 or free;   two terms, of the exponents of `SUMS`;   a limit that theory gives, with x
        free or with two terms

    Args:
        neurons, load, stderr: as in `extrapolate`.
        limits: loads of theory by name.
        least: size from which on the sizes are used.

    Returns:
        One dict per law with `law`, `load`, `stderr` (0 if it is given), `chi2`, `dof`, `terms`, the exponent and
        amplitude of every power that it adds, for `law_at`, and `apart`, its χ² if the loads obeyed the best law
        (`best_fit`), which grows with the draws: 9/apart times as many tell the two apart by three errors. None for
        fewer than four sizes.
    """
    size, value, error = _sizes(neurons, load, stderr)
    size, value, error = (column[size >= least] for column in (size, value, error))
    if np.unique(size).size < 4:
        return []
    fits = _laws(size, value, error, limits)
    expected = _laws(size, law_at(best_fit(fits) or fits[0], size), error, limits)
    return [fit | {"apart": other["chi2"]} for fit, other in zip(fits, expected, strict=True)]


def _laws(size: Array, value: Array, error: Array, limits: Mapping[str, float]) -> list[Fit]:
    fits = [_one_power(fit) for fit in extrapolate(size, value, error, (1 / 2, 2 / 3))]
    fits += [_sum_of(pair, size, value, error) for pair in SUMS]
    for given in limits.items():
        fits += [_through(*given, size, value, error), *(_sum_of(pair, size, value, error, given) for pair in SUMS)]
    return fits


def law_at(law: Fit, neurons: ArrayLike) -> Array:
    """Loads of a law of `laws` at sizes; infinity is one."""
    size = np.asarray(neurons, float)
    return law["load"] + sum((amplitude * size**-x for x, amplitude in law["terms"]), np.zeros_like(size))


def _law(law: str, load: Any, stderr: Any, chi2: Any, dof: int, terms: Iterable[tuple[float, Any]]) -> Fit:
    several = [[float(x), float(amplitude)] for x, amplitude in terms]
    return {"law": law, "load": float(load), "stderr": float(stderr), "chi2": float(chi2), "dof": dof, "terms": several}


def _one_power(fit: Fit) -> Fit:
    name = f"N^-x, x = {fit['exponent']:.3g}" + (" fitted" if fit["free_exponent"] else "")
    numbers = (fit[key] for key in ("load", "stderr", "chi2", "dof"))
    return _law(name, *numbers, terms=[(fit["exponent"], fit["amplitude"])])


def _sum_of(
    pair: tuple[float, float], size: Array, value: Array, error: Array, given: tuple[str, float] | None = None
) -> Fit:
    """Two powers of given exponents, and a limit that is fitted, or given by name."""
    name, limit = given or ("two terms", 0.0)
    powers = pair if given else (*pair, 0.0)
    design = np.stack([size**-x for x in powers], axis=1) / error[:, None]
    residual = (value - limit) / error
    best = np.linalg.lstsq(design, residual, rcond=None)[0]
    chi2 = np.sum((design @ best - residual) ** 2)
    stderr = 0.0 if given else np.sqrt(np.linalg.inv(design.T @ design)[2, 2])
    law = f"{name}, x = " + ", ".join(f"{x:.3g}" for x in pair)
    terms = zip(pair, best[:2], strict=True)
    return _law(law, limit if given else best[2], stderr, chi2, size.size - len(powers), terms)


def _through(name: str, limit: float, size: Array, value: Array, error: Array) -> Fit:
    """One power with the exponent free that ends at a given limit."""
    residual = (value - limit) / error

    def amplitude_of(x: float) -> float:
        powers = size**-x / error
        return float(powers @ residual / (powers @ powers))

    def chi2_of(x: float) -> float:
        return float(np.sum((residual - amplitude_of(x) * size**-x / error) ** 2))

    best: Any = minimize_scalar(chi2_of, bounds=(0.1, 3.0), method="bounded")
    law = f"{name}, x = {best.x:.3g} fitted"
    return _law(law, limit, 0.0, best.fun, size.size - 2, [(best.x, amplitude_of(best.x))])


def _sizes(neurons: ArrayLike, load: ArrayLike, stderr: ArrayLike) -> tuple[Array, Array, Array]:
    """Validated columns without the sizes that have no estimate."""
    size, value, error = columns(neurons=neurons, load=load, stderr=stderr)
    if not ((size > 0).all() and np.isfinite(size).all()):
        raise ValueError(f"neurons must be positive and finite, got {size.tolist()}")
    used = np.isfinite(value) & np.isfinite(error)
    if (error[used] <= 0).any():
        raise ValueError(f"stderr must be positive, got {error[used].min()}")
    return size[used], value[used], error[used]


def _lines(size: Array, value: Array, error: Array, exponents: Array) -> tuple[Array, Array, Array, Array]:
    """Limit, its error, amplitude and χ² of the weighted straight line in N^(−x), for every exponent x."""
    unit = magnitude(error)  # whose square vanishes no more than it overflows
    error, value = error / unit, value / unit
    weight = 1 / error**2
    abscissa = size ** -exponents[:, None]
    centre = np.sum(weight * abscissa, axis=1, keepdims=True) / weight.sum()
    mean = np.sum(weight * value) / weight.sum()
    offset = abscissa - centre
    spread = np.sum(weight * offset**2, axis=1)
    amplitude = np.sum(weight * offset * (value - mean), axis=1) / spread
    limit = mean - amplitude * centre[:, 0]
    limit_error = np.sqrt(1 / weight.sum() + centre[:, 0] ** 2 / spread)
    chi2 = np.sum(weight * (value - mean - amplitude[:, None] * offset) ** 2, axis=1)
    return unit * limit, unit * limit_error, unit * amplitude, chi2


def _fixed_fit(size: Array, value: Array, error: Array, exponent: float) -> Fit:
    limit, limit_error, amplitude, chi2 = (
        float(column[0]) for column in _lines(size, value, error, np.array([exponent]))
    )
    return {
        "exponent": exponent,
        "exponent_stderr": 0.0,
        "free_exponent": False,
        "load": limit,
        "stderr": limit_error,
        "amplitude": amplitude,
        "chi2": chi2 if size.size > 2 else 0.0,  # two points lie on the line: residuals are rounding
        "dof": size.size - 2,
    }


def _free_fit(size: Array, value: Array, error: Array, bounds: Array) -> Fit:
    """Exponent of least χ². Errors come from the profile, which for a given x is a parabola in the limit."""
    grid = np.geomspace(bounds[0], bounds[1], 1001)
    step = grid[1] / grid[0]

    def interval_around(exponents: Array) -> tuple[float, float]:
        """These exponents and one step of the grid on either side."""
        return max(exponents.min() / step, bounds[0]), min(exponents.max() * step, bounds[1])

    def chi2_of(x: float) -> float:
        return float(_lines(size, value, error, np.array([x]))[3][0])

    chi2 = _lines(size, value, error, grid)[3]
    coarse = interval_around(grid[[np.argmin(chi2)]])
    found: Any = minimize_scalar(chi2_of, bounds=coarse, method="bounded", options={"xatol": 1e-10})
    exponent = found.x
    fit = _fixed_fit(size, value, error, float(exponent))
    plausible = np.append(grid[chi2 <= fit["chi2"] + 1], exponent)
    grid = np.append(np.linspace(*interval_around(plausible), 4001), exponent)
    limit, limit_error, _, chi2 = _lines(size, value, error, grid)
    inside = chi2 <= fit["chi2"] + 1
    reach = limit_error[inside] * np.sqrt(fit["chi2"] + 1 - chi2[inside])
    stderr = (np.max(limit[inside] + reach) - np.min(limit[inside] - reach)) / 2
    return fit | {
        "exponent_stderr": float(np.ptp(grid[inside])) / 2,
        "free_exponent": True,
        "stderr": float(stderr),
        "dof": size.size - 3,
    }
