"""Finite-size thresholds of the exponential memory, from sizes that can be enumerated to far beyond any computer.

A typical pattern among M = e^(αN) random ones is queried, clean or with flipped spins, by sampling how many others have
which overlap with it (`hopfield.large.overlap_sampling`), at any M. Two loads α = ln M / N are measured at every size:

    weight   half of the queries give their own pattern more than half of the softmax weight
    spin     a spin is wrong after one step in a quarter of the queries, half-way from memory to chance

At sizes where all patterns can be drawn and passed over they are (`method` enumerated), beside the sampled ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from experiments import contract
from experiments.bounds import Use
from experiments.contract import Cost, about

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

X_AXIS = "load"
METHODS = ("sampled", "enumerated")
MOST = 2**24
"""Patterns that are enumerated at most."""
RESOLUTION = 1e-9
"""Least error of a threshold: that of a load written with double precision and interpolated."""
CURVE = ["method", "neurons", "corruption"]


_ENUMERATED = Use("enumerated is not empty", lambda config: bool(config.enumerated))


@dataclass
class Config(contract.Config):
    """Options of the asymptotic capacity experiment."""

    neurons: list[int] = field(
        default_factory=lambda: [12, 24],
        metadata=about("numbers of neurons N, 2 to 1000", least=2, most=1000, nonempty=True),
    )
    enumerated: list[int] = field(
        default_factory=lambda: [12],
        metadata=about(
            "sizes of them at which the patterns are also drawn one by one",
            used_when=Use("each has a load of at most 2^24 patterns", lambda config: _all_enumerated(config)),
        ),
    )
    corruption: list[float] = field(
        default_factory=lambda: [0.0],
        metadata=about("fractions of flipped spins in the start, 0 to 1/2", least=0, below=0.5, nonempty=True),
    )
    beta: float = field(default=1.0, metadata=about("inverse temperature in exp(β ξ·x), above 0", above=0))
    around: list[float] = field(
        default_factory=lambda: [-0.06, -0.03, -0.01, 0.01, 0.03, 0.06],
        metadata=about(
            "loads to measure at, from the threshold of an infinite system, widened by 1 + 16/N",
            least=-0.5,
            most=0.5,
            nonempty=True,
        ),
    )
    trials: int = field(default=400, metadata=about("sampled queries at each load", least=1))
    draws: int = field(
        default=8,
        metadata=about("draws of all patterns at each load, where they are enumerated", least=1, used_when=_ENUMERATED),
    )
    probes: int = field(
        default=16, metadata=about("patterns queried in each of those draws", least=1, used_when=_ENUMERATED)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for value in self.enumerated:
            if value not in self.neurons:
                raise ValueError(f"enumerated must be some of neurons {self.neurons}, got {value}")


def _all_enumerated(config: Config) -> bool:
    found = {point["neurons"] for point in points(config) if point["method"] == "enumerated"}
    return found == set(config.enumerated)


def thresholds(beta: float, corruption: float) -> dict[str, float]:
    """Both loads for N → ∞."""
    from hopfield.theory import exponential

    return {
        "weight": float(exponential.target_weight_load(beta, corruption)),
        "spin": float(exponential.one_step_load(beta, corruption)),
    }


def cost(config: Config) -> Cost:
    """What all of it takes, from the options alone."""
    most = max(config.neurons)
    sampled = 2 * len(config.neurons) * len(config.corruption) * len(config.around)
    queries = config.probes * len(config.corruption)
    counted = (max(config.enumerated, default=0) + 1) ** 2 * queries
    passes = config.draws * len(config.enumerated) * MOST * counted / 32
    return Cost(2 * sampled, 2 * max(config.trials * (most + 1), counted), 50 * sampled * config.trials * most + passes)


def points(config: Config) -> list[dict]:
    """One point per method, size, start and load, around each of the two thresholds."""
    found = []
    for neurons in dict.fromkeys(config.neurons):
        for corruption in dict.fromkeys(config.corruption):
            centres = thresholds(config.beta, corruption).values()
            loads = {round(c + a * (1 + 16 / neurons), 6) for c in centres for a in config.around}
            for load in sorted(load for load in loads if load * neurons > np.log(2)):
                point = {"neurons": neurons, "corruption": corruption, "beta": config.beta, "load": load}
                found.append({"method": "sampled", **point})
                if neurons in config.enumerated and load * neurons <= np.log(MOST):
                    found.append({"method": "enumerated", **point})
    return found


def science(config: Config) -> dict:
    """What a point's numbers depend on besides the point."""
    return {"seed": config.seed, "trials": config.trials, "draws": config.draws, "probes": config.probes}


def measure(config: Config, points_: Sequence[dict]) -> Iterator[dict]:
    """Sampled points one by one; enumerated ones in passes that serve all loads of a size."""
    for point in points_:
        if point["method"] == "sampled":
            yield point | _sampled(config, point)
    drawn = [point for point in points_ if point["method"] == "enumerated"]
    for neurons, members in groupby(drawn, key=lambda point: point["neurons"]):
        yield from _enumerated(config, neurons, list(members))


def _sampled(config: Config, point: dict) -> dict:
    from hopfield.large import overlap_sampling

    parts = [config.seed, point["neurons"], round(point["corruption"] * 1e6), round(point["load"] * 1e6)]
    found = overlap_sampling.sample(
        np.random.default_rng(parts),
        point["neurons"],
        point["load"] * point["neurons"],
        beta=point["beta"],
        flipped=round(point["corruption"] * point["neurons"]),
        trials=config.trials,
    )
    return _row(found.log_odds, found.wrong, found.entropy)


def _enumerated(config: Config, neurons: int, points_: list[dict]) -> Iterator[dict]:
    """All patterns drawn and counted: one pass over the most of them for all loads and starts of a draw."""
    import jax

    from hopfield.large import counts
    from hopfield.patterns.sources import generated

    size = {point["load"]: round(np.exp(point["load"] * neurons)) for point in points_}
    probes = min(config.probes, max(size.values()))
    seen: dict[tuple, list] = {}
    for draw in range(config.draws):
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(config.seed), neurons), draw)
        source = generated(key, "spins", max(size.values()), neurons)
        targets = np.asarray(source.part(0, probes).rows(0, probes), np.float64)
        starts = {c: _flipped(config, targets, c, draw) for c in dict.fromkeys(p["corruption"] for p in points_)}
        for found in counts.along(source, np.concatenate(list(starts.values())), list(size.values())):
            for point in (point for point in points_ if size[point["load"]] == found.patterns):
                # Its own first patterns are queried, however many more there are at other loads.
                first, own = list(starts).index(point["corruption"]) * probes, min(probes, found.patterns)
                part = counts.Counts(*(x[first : first + own] for x in found))
                judged = _judged(part, targets[:own], point["beta"])
                seen.setdefault((point["corruption"], point["load"]), []).append(judged)
    for point in points_:
        columns = zip(*seen[point["corruption"], point["load"]], strict=True)
        log_odds, wrong, entropy = (np.stack(column) for column in columns)
        row = _row(log_odds.ravel(), wrong.ravel(), entropy.ravel())
        # Queries of one draw share their patterns: the error is one over draws.
        per_draw = np.mean(wrong, axis=1)
        yield (
            point
            | row
            | {"error_stderr": float(np.std(per_draw, ddof=min(1, len(per_draw) - 1)) / len(per_draw) ** 0.5)}
        )


def _flipped(config: Config, targets: np.ndarray, corruption: float, draw: int) -> np.ndarray:
    """Every target with a fixed number of random spins flipped, which do not depend on how many targets there are."""
    rng = np.random.default_rng([config.seed, targets.shape[1], draw, round(corruption * 1e6)])
    order = rng.permuted(np.tile(np.arange(targets.shape[1]), (config.probes, 1)), axis=1)[: len(targets)]
    return np.where(order < round(corruption * targets.shape[1]), -targets, targets)


def _judged(found: Any, targets: np.ndarray, beta: float) -> tuple[np.ndarray, ...]:
    neurons = targets.shape[1]
    weight = found.target_weight(np.sum(targets * found.queries, axis=1), beta)
    update = found.update(lambda s: np.exp(beta * (s - neurons)))
    return np.log(weight) - np.log1p(-weight), np.mean(update != targets, axis=1), found.entropy(beta)


def _row(log_odds: np.ndarray, wrong: np.ndarray, entropy: np.ndarray) -> dict:
    """Counts, quantiles and means over the queries of a point."""
    ordered, half = np.sort(log_odds), 0.5 * np.sqrt(len(log_odds))
    low, high = (ordered[int(np.clip(len(ordered) / 2 + side * half, 0, len(ordered) - 1))] for side in (-1, 1))
    return {
        "queries": len(log_odds),
        "heavy": int(np.sum(log_odds > 0)),
        "log_odds": float(np.median(log_odds)),
        "log_odds_stderr": float((high - low) / 2),
        "error": float(np.mean(wrong)),
        "error_stderr": float(np.std(wrong) / np.sqrt(len(wrong))),
        "entropy": float(np.mean(entropy)),
    }


def summarise(table: "pandas.DataFrame") -> dict:
    """Both thresholds of every curve with errors, beside exact finite-size theory and the limit."""
    from scipy.special import ndtri
    from scipy.stats import norm

    from hopfield.theory import exponential

    found = []
    for key, rows in table.groupby(CURVE, sort=False):
        curve = dict(zip(CURVE, cast(tuple, key), strict=True))
        beta = float(rows["beta"].iloc[0])
        limits = thresholds(beta, curve["corruption"])
        share = rows["heavy"] / rows["queries"]
        # In probits the share is nearly straight; its error there is that of the share over the normal density.
        inside = np.clip(share, 0.5 / rows["queries"], 1 - 0.5 / rows["queries"])
        probit = -ndtri(inside)
        spread = np.sqrt(inside * (1 - inside) / rows["queries"]) / norm.pdf(probit)
        # Where the share is a step between two loads, the median of the log-odds still passes zero smoothly.
        steep = np.sum((share > 0.05) & (share < 0.95)) < 5
        weight = (-rows["log_odds"], rows["log_odds_stderr"], 0.0) if steep else (probit, spread, 0.0)
        measured = {
            "weight": crossing(rows["load"], *weight),
            "spin": crossing(rows["load"], rows["error"], rows["error_stderr"], 0.25),
        }
        theory = {
            "weight": float(exponential.critical_load(curve["neurons"], beta, curve["corruption"])),
            "spin": _spin_theory(curve["neurons"], beta, curve["corruption"], limits["spin"]),
        }
        for criterion, (load, stderr) in measured.items():
            entry = {"load": load, "stderr": stderr, "theory": theory[criterion], "limit": limits[criterion]}
            found.append(curve | {"criterion": criterion} | entry)
    return {"thresholds": found, "scalars": _scalars(found)}


def _spin_theory(neurons: int, beta: float, corruption: float, near: float) -> float | None:
    """Load at which the exact one-step error is a quarter; None where that takes too long or does not happen."""
    from scipy.optimize import brentq

    from hopfield.theory import exponential

    def excess(load: float) -> float:
        patterns = float(round(np.exp(load * neurons)))
        return float(exponential.one_step_error(neurons, patterns, beta, corruption)) - 0.25

    low, high = near - 0.02, near + 0.08
    if neurons > 200 or low * neurons < 1 or excess(low) > 0 or excess(high) < 0:
        return None
    return float(cast(float, brentq(excess, low, high, xtol=1e-5)))


def crossing(load: Any, value: Any, stderr: Any, level: float) -> tuple[float | None, float | None]:
    """Load at which a rising quantity passes a level, from a parabola through the five points nearest to it.

    Returns:
        The load and its error, which holds what a straight line would give instead; None where no two neighbouring
        points enclose the level.
    """
    load, value, stderr = (np.asarray(x, float) for x in (load, value, stderr))
    order = [i for i in np.argsort(load) if np.isfinite(value[i])]
    load, value, stderr = load[order], value[order] - level, np.maximum(stderr[order], 1e-12)
    passed = np.flatnonzero((value[:-1] < 0) & (value[1:] >= 0))
    if not len(passed):
        return None, None
    i = int(passed[np.argmin(np.abs(value[passed]))])
    first = min(max(i - 1 - int(value[i + 1] > -value[i]), 0), max(len(load) - 5, 0))
    used = slice(first, first + 5)
    middle = load[i] - value[i] * (load[i + 1] - load[i]) / (value[i + 1] - value[i])
    found = []
    for degree in (min(2, len(load[used]) - 1), 1):
        design = np.vander(load[used] - middle, degree + 1, increasing=True) / stderr[used, None]
        best, *_ = np.linalg.lstsq(design, value[used] / stderr[used], rcond=None)
        spread = np.sqrt(np.linalg.pinv(design.T @ design)[0, 0])
        found.append((middle - best[0] / best[1], spread / abs(best[1])))
    (best, error), (straight, _) = found
    if not load[i] - (load[i + 1] - load[i]) <= best <= load[i + 1] + (load[i + 1] - load[i]):
        return None, None
    return float(best), float(np.sqrt(error**2 + (0.1 * (best - straight)) ** 2 + RESOLUTION**2))


def _scalars(found: list[dict]) -> dict[str, float]:
    scalars = {}
    for entry in found:
        if entry["load"] is not None:
            name = f"{entry['criterion']}/{entry['method']}/N={entry['neurons']}"
            name += f"/{entry['corruption']:g}" if entry["corruption"] else ""
            scalars |= {name: entry["load"], f"{name}/stderr": entry["stderr"]}
    return scalars


def plot(table: "pandas.DataFrame", summary: dict) -> "Figure":
    """Thresholds against 1/N beside their limits, and the curves that they are read from."""
    from experiments.capacity_asymptotic.figure import draw

    return draw(table, summary)
