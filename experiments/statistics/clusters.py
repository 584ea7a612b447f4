"""Means and error bars of clustered trials.

Trials that share stored patterns are not independent. `cluster` names the disorder sample of every row, and every
error here is an error over disorder samples; numbering the rows instead (`cluster=range(n)`) gives the naive one.
Errors are half the 68 % interval of Student's t (`student`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from experiments.statistics.columns import LARGEST, Array, check_length, magnitude, numbers, single
from experiments.statistics.student import ONE, freedom, half_interval

PROPORTIONS = ("mean", "stderr", "low", "high", "trials", "clusters")
MEANS = ("mean", "stderr", "low", "high", "clusters")
"""Columns of the tables of `by_group` and `means_by_group`, beside their keys."""


SUCCESSES, TRIALS = "successes of shares", "trials of shares"


class Mean(NamedTuple):
    """A mean and its error over `clusters` disorder samples (NaN for a single one)."""

    mean: float
    stderr: float
    clusters: int


def standard_error(values: ArrayLike, coverage: float = ONE) -> float:
    """The error t s/√n of the mean of independent values [n], one for each disorder sample. NaN for a single one.

    With a `coverage` of 0.95 it is half the 95 % interval of Student's t.
    """
    value = numbers("values", values)
    check_length(values=value)
    if value.size > 1 and _equal(value):
        return 0.0
    unit = magnitude(value)
    spread = (value / unit).std(ddof=1) / np.sqrt(value.size) if value.size > 1 else math.nan
    return unit * half_interval(float(spread), value.size - 1, coverage)


def jackknife(left_out: ArrayLike) -> float:
    """The error t √((G−1)/G · Σ_g (x_g − mean)²) of an estimate, from those without each of G disorder samples [G].

    NaN for a single one, and where there is no estimate without one of them.

    Source: Efron 1982, The Jackknife (its deletion of groups).
    """
    estimates = numbers("left_out", left_out)
    check_length(left_out=estimates)
    return half_interval(math.sqrt((estimates.size - 1) * np.var(estimates)), estimates.size - 1)


def clustered_mean(values: ArrayLike, cluster: ArrayLike, weights: ArrayLike | None = None) -> Mean:
    """Weighted mean and its error over clusters. Weights = trials and values = successes/trials give a proportion.

        mean = Σ w v / Σ w,   stderr² = t² G/(G−1) · Σ_g (Σ_{i∈g} w_i (v_i − mean))² / (Σ w)²,   G clusters

    With one row per cluster and equal weights this is t s/√G, Student's t with G − 1 degrees of freedom; of clusters of
    unequal weight the effective number stands for G there.

    Args:
        values: [R] measured values; rows of weight 0 are ignored.
        cluster: [R] label of the disorder sample of every row.
        weights: [R] weights ≥ 0, such as trials; equal by default.

    Returns:
        The mean, its standard error (NaN for a single cluster) and the number of clusters.

    Raises:
        ValueError: columns of different length, a row without a label, weights that are negative or not finite,
            nothing of positive weight.

    Source: Cochran 1977, Sampling Techniques §6 (ratio estimator of cluster totals).
    """
    value, label = numbers("values", values), labels(cluster)
    weight = np.ones_like(value) if weights is None else numbers("weights", weights)
    check_length(values=value, cluster=label, weights=weight)
    if not ((weight >= 0).all() and 0 < weight.max(initial=0.0) < np.inf):
        raise ValueError("weights must be finite and not negative, and must be positive in at least one row")
    used = weight > 0
    value, label = value[used], label[used]
    weight = np.ldexp(weight[used], -int(np.frexp(weight.max())[1]))  # their squares neither vanish nor overflow
    mean = np.sum(weight * value) / weight.sum()
    groups, group = np.unique(label, return_inverse=True)
    if groups.size == 1:
        return Mean(float(mean), math.nan, 1)
    if _equal(value):
        return Mean(float(mean), 0.0, groups.size)
    residual = np.bincount(group, weight * (value - mean))
    correction, unit = groups.size / (groups.size - 1), magnitude(residual)
    stderr = math.sqrt(correction * np.sum((residual / unit) ** 2)) / weight.sum()
    return Mean(float(mean), unit * half_interval(stderr, freedom(np.bincount(group, weight))), groups.size)


def _equal(values: Array) -> bool:
    """True if values are one finite number, whose deviations from their mean would be its rounding."""
    return bool(np.isfinite(values[0]) and (values == values[0]).all())


def labels(cluster: ArrayLike) -> Array:
    """Labels of the disorder samples. Raises ValueError for missing labels, which would form one sample."""
    array = np.asarray(cluster)
    if pd.isna(array).any():
        raise ValueError("cluster must label every row, got NaN")
    if array.dtype == object and len({isinstance(each, str) for each in array.ravel()}) > 1:
        raise ValueError("cluster must hold labels of one kind, got text and numbers")
    return array


def curves(table: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Curves of a table in its order: of each the columns whose values its rows share, and the rows.

    Raises:
        ValueError: no names, or a column that the table lacks.
    """
    names = _columns(table, names, [])
    for key, rows in table.groupby(names, sort=False):
        yield dict(zip(names, cast(tuple, key), strict=True)), rows


def wilson(successes: ArrayLike, trials: ArrayLike, z: float = 1.0) -> tuple[Array, Array]:
    """The score interval of a proportion, which keeps a length at 0 and 1 where the standard error vanishes.

        (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n),   p = successes/n

    Args:
        successes: number or array of successes, 0 ≤ successes ≤ trials; fractions are allowed.
        trials: number or array of independent trials n ≥ 0, finite; without trials the interval is [0, 1].
        z: half-width in standard deviations, > 0 and at most 1e100; 1 is the 68 % interval.

    Returns:
        Lower and upper ends.

    Raises:
        ValueError: counts out of range, z not positive.

    Source: Wilson 1927.
    """
    s, n = numbers("successes", successes), numbers("trials", trials)
    try:
        s, n = np.broadcast_arrays(s, n)
    except ValueError:
        raise ValueError(f"successes must broadcast against trials, got shapes {s.shape}, {n.shape}") from None
    if not ((s >= 0) & (s <= n) & (n < np.inf)).all():
        raise ValueError("successes must lie between 0 and trials, which must be finite")
    z = single("z", z, f"positive and at most {LARGEST:g}", 0.0)
    # Multiplied through by n, so that no trials need no special case. At s = 0 and s = n one end is exact.
    half = z * np.sqrt(s * ((n - s) / np.where(n > 0, n, 1)) + z**2 / 4)
    low, high = (s + z**2 / 2 - half) / (n + z**2), (s + z**2 / 2 + half) / (n + z**2)
    return np.where(s == 0, 0.0, low), np.where(s == n, 1.0, high)


def by_group(table: pd.DataFrame, keys: str | Sequence[str], successes: str, trials: str, cluster: str) -> pd.DataFrame:
    """Proportions with error bars, one row for every combination of `keys` in a tidy table.

    `stderr` is the clustered one; `low` and `high` are the Wilson interval (z = 1) of the effective number of trials,
    which is trials over the design effect (clustered over binomial variance, between 1 and trials per cluster). A
    group at exactly 0 or 1 has no variance to measure it by and takes the effect of all groups together.

    Args:
        table: rows of counts.
        keys: columns that define the groups, in the order of the result; missing values form a group.
        successes: name of the column of successes.
        trials: name of the column of trials; groups without trials are left out.
        cluster: name of the column that labels the disorder samples.

    Returns:
        The keys, then `mean`, `stderr` (NaN for a single cluster), `low`, `high`, `trials`, `clusters`.

    Raises:
        ValueError: a column that the table lacks, counts out of range.
    """
    names = _columns(table, keys, [successes, trials, cluster], PROPORTIONS)
    share_of, out_of = numbers(successes, table[successes]), numbers(trials, table[trials])
    if not ((share_of >= 0) & (share_of <= out_of) & (out_of < np.inf)).all():
        raise ValueError(f"{successes} must lie between 0 and {trials} in every row, and {trials} must be finite")
    rows = []
    for key, group in table[table[trials] > 0].groupby(names, dropna=False, observed=True):
        n = numbers(trials, group[trials])
        share = clustered_mean(numbers(successes, group[successes]) / n, np.asarray(group[cluster]), n)
        rows.append(
            [*(key if isinstance(key, tuple) else (key,)), *share[:2], math.nan, math.nan, n.sum(), share.clusters]
        )
    result = pd.DataFrame(rows, columns=[*names, *PROPORTIONS])
    mean, n, clusters = (result[name].to_numpy(float) for name in ("mean", "trials", "clusters"))
    variance, binomial = n**2 * result["stderr"].to_numpy(float) ** 2, n * mean * (1 - mean)
    measured = (binomial > 0) & np.isfinite(variance)
    pooled = variance[measured].sum() / binomial[measured].sum() if measured.any() else np.inf
    effect = np.divide(variance, binomial, out=np.full_like(mean, pooled), where=measured)
    effective = n / np.clip(effect, 1, n / clusters)
    result["low"], result["high"] = wilson(mean * effective, effective)
    return result


def shares_by_group(
    table: pd.DataFrame, keys: str | Sequence[str], share: str, trials: Any, cluster: str
) -> pd.DataFrame:
    """Table of `by_group` from a column of shares.

    Where all draws agree on 0 or 1 its interval keeps a length, which that of `means_by_group` does not.

    Args:
        table: rows of shares; rows without one (NaN) are left out.
        keys, cluster: as for `by_group`.
        share: name of the column of shares, 0 to 1.
        trials: number, or column, of the trials behind each share.
    """
    counts = table.assign(**{"of trials": trials}).dropna(subset=[share])
    return by_group(
        counts.assign(**{"of them": counts[share] * counts["of trials"]}), keys, "of them", "of trials", cluster
    )


def means_by_group(
    table: pd.DataFrame, keys: str | Sequence[str], values: str, cluster: str, weights: str | None = None
) -> pd.DataFrame:
    """Means of a measured column with clustered errors, one row for every combination of `keys` in a tidy table.

    Args:
        table: rows of measurements; rows without a value (NaN) or with weight 0 are left out.
        keys: columns that define the groups, in the order of the result; missing values form a group.
        values: name of the column to average.
        cluster: name of the column that labels the disorder samples.
        weights: name of the column of weights, such as trials; equal weights by default.

    Returns:
        The keys, then `mean`, `stderr` (NaN for a single cluster), `low`, `high` (mean ∓ stderr), `clusters`.

    Raises:
        ValueError: a column that the table lacks, negative weights.
    """
    names = _columns(table, keys, [values, cluster] + ([weights] if weights else []), MEANS)
    used = table[values].notna() if weights is None else table[values].notna() & (table[weights] != 0)
    rows = []
    for key, group in table[used].groupby(names, dropna=False, observed=True):
        weight = numbers(weights, group[weights]) if weights else None
        mean, stderr, clusters = clustered_mean(numbers(values, group[values]), np.asarray(group[cluster]), weight)
        rows.append(
            [*(key if isinstance(key, tuple) else (key,)), mean, stderr, mean - stderr, mean + stderr, clusters]
        )
    return pd.DataFrame(rows, columns=[*names, *MEANS])


def _columns(
    table: pd.DataFrame, keys: str | Sequence[str], others: Sequence[str], made: Sequence[str] = ()
) -> list[str]:
    """The keys as a list, after checking that the table has every column."""
    names = [keys] if isinstance(keys, str) else list(keys) if isinstance(keys, Iterable) else []
    if not all(isinstance(name, str) for name in [*names, *others]) or not (names or keys in ([], ())):
        raise ValueError(f"keys must be names of columns, got {keys!r:.60}")
    if not names:
        raise ValueError("keys must name at least one column, got none")
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table must be a DataFrame, got {type(table).__name__}")
    if len(set(names)) < len(names) or set(names) & set(made):
        raise ValueError(
            f"keys must be different and none of {', '.join(made) or 'themselves'}, got {', '.join(names)}"
        )
    missing = [name for name in [*names, *others] if name not in table.columns]
    if missing:
        raise ValueError(f"table must have the columns {', '.join(missing)}, got {', '.join(map(str, table.columns))}")
    return names
