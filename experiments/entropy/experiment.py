"""Entropy along retrievals: what the weights over the stored patterns do while a query is retrieved, at every β.

The weights p of a state x are a statistical ensemble over the patterns, of energies E_μ = −s_μ at temperature T = 1/β.
Every retrieval is followed step by step:

    entropy           H = −Σ p ln p, and effective_number e^H
    thermal_entropy   the separation's own S = Ω(p): H for softmax, Tsallis' entropy for the sparse memories
    mean_energy       ⟨E⟩ = −Σ p s
    free_energy       Φ = −F(β s)/β = ⟨E⟩ − T S, checked at every step (`residual`)
    energy            E(x) = ½‖x‖² + Φ, which no update raises: `descent` is the least E(t) − E(t+1) − ½‖Δx‖² so far
    overlap           ξ·x/‖ξ‖² with the pattern queried, and target_weight, the part it has in the read-out
    step_size         ‖x(t+1) − x(t)‖
    rise              largest growth of H in one step so far; `rising`: share of retrievals where H rises above
                      `least_rise`, `rising_at_all`: above rounding; `rising_retrieved`, `rising_another`
                      and `rising_none` part the share by where more than half of the weight is by then

each as median, `_low` and `_high` over queries. At the start, where the query does not depend on β, H against β is the
entropy of one and the same query at every temperature; there `slope` is −dΦ/dT by finite differences, equal to S.
Patterns have norm 1. β is counted in units of the converged critical β of as many random patterns on the sphere, of
annealed theory, as are the lines drawn beside the sphere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from experiments import contract
from experiments.bounds import decided_by
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.entropy import measurement
from experiments.entropy.results import panels, summarise
from experiments.shared import corruptions, kappa_theory, parallel, retrievals
from experiments.statistics.clusters import clustered_mean
from hopfield import Memory
from hopfield.memories import find
from hopfield.spaces import Spins

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

ROUNDING = 1e-9
"""A growth of the entropy below this, in nats, is no growth."""


@dataclass
class Config(contract.Config):
    """Options of the entropy experiment."""

    memories: list[str] = option(
        ["modern"],
        "memories with normalised weights on real states: modern, sparse:1.5, sparse",
        meaning="memory",
        nonempty=True,
        axis=True,
    )
    ensembles: list[str] = option(
        ["sphere"],
        "patterns of norm 1: sphere, gaussian, spins; digits, photographs, files (.npy, .npz, .csv), centred first",
        meaning="ensemble",
        nonempty=True,
        axis=True,
    )
    neurons: int = option(
        16,
        "number of neurons N of random patterns",
        least=2,
        used_when=decided_by("ensembles has a random one", "random"),
        axis=True,
    )
    patterns: int = option(64, "number of stored patterns M", least=3, axis=True)
    corruption: list[Any] = option(
        [0.0, "lower:0.5"],
        "starts: 0, or flip:, mask:, lower:, noise:amount (noise in units of rms components)",
        meaning="corruption",
        nonempty=True,
        axis=True,
    )
    ratios: list[float] = grid_axis(
        [0.5, 1.1, 2.0], "β at which retrievals are followed, in units of the critical β of the sphere", above=0
    )
    fixed: list[float] = option(
        [0.1, 0.3, 4.0], "further β, same units, at which the query is looked at where it starts", above=0, axis=True
    )
    steps: int = option(6, "updates followed", least=1, axis=True)
    samples: int = option(3, "draws of patterns", least=1)
    queries: int = option(8, "patterns queried in each sample", least=1)
    band: float = option(
        0.8, "share of the queries that lies between the quantiles in the columns _low and _high", above=0, below=1
    )
    least_rise: float = option(0.01, "growth of the entropy in one step, in nats, that counts", least=ROUNDING)


COLUMNS = shared(
    "memory",
    "ensemble",
    "neurons",
    "patterns",
    "corruption",
    "step",
    "beta",
) | {
    "ratio": Column("β over the converged critical β of as many random patterns on the sphere"),
    "band": Column("share of the queries between _low and _high", "0 to 1"),
    "least_rise": Column("growth of H in a step that counts as a rise", "nats"),
    "entropy": Column("H = −Σ p ln p of the weights", "nats"),
    "effective_number": Column("e^H, the number of patterns that share the weight"),
    "energy": Column("energy E(x) = ½‖x‖² + Φ of the state", "scores"),
    "overlap": Column("overlap ξ·x/‖ξ‖² with the pattern queried, after the step", "−1 to 1"),
    "thermal_entropy": Column("the separation's own entropy S = Ω(p)", "nats"),
    "mean_energy": Column("⟨E⟩ = −Σ p s", "scores"),
    "free_energy": Column("Φ = −F(βs)/β = ⟨E⟩ − T S", "scores"),
    "target_weight": Column("median weight on the own pattern after step updates", "0 to 1"),
    "step_size": Column("‖x(t+1) − x(t)‖; patterns have norm 1"),
    "rise": Column("largest growth of H in one step so far", "nats"),
    "rising": Column("share of retrievals whose rise exceeds least_rise", "0 to 1"),
    "rising_at_all": Column("share of retrievals whose rise exceeds rounding", "0 to 1"),
    "retrieved": Column("share with more than half of the weight on the own pattern after the step", "0 to 1"),
    "another": Column("share with more than half of it on another pattern", "0 to 1"),
    "rising_retrieved": Column("share that is rising and retrieved", "0 to 1"),
    "rising_another": Column("share that is rising and at another pattern", "0 to 1"),
    "rising_none": Column("share that is rising and at neither; the three sum to rising", "0 to 1"),
    "residual": Column("largest deviation from Φ = ⟨E⟩ − T S", "scores"),
    "descent": Column("least E(t) − E(t+1) − ½‖Δx‖² so far", "scores"),
    "slope": Column("−dΦ/dT by finite differences, of the start", "nats"),
    "slope_residual": Column("largest deviation of the slope from S", "nats"),
}


X_AXIS = "beta"


def check(config: Config) -> None:
    """Check that starts, memories and patterns can be followed; else ValueError."""
    for start in config.corruption:
        corruptions.name(start)
    for memory in config.memories:
        _check_memory(memory)
    for ensemble in config.ensembles:
        _check_ensemble(config, ensemble)


def random(config: Config) -> bool:
    """True if patterns of an ensemble are random."""
    return any(retrievals.data(ensemble, False) is None for ensemble in config.ensembles)


def _check_memory(memory: str) -> None:
    model = find(memory).sample
    if not isinstance(model, Memory) or isinstance(model.space, Spins) or not model.separation.normalised:
        raise ValueError(f"memories must have normalised weights on real states (modern, sparse), got {memory}")


def _check_ensemble(config: Config, ensemble: str) -> None:
    real = retrievals.data(ensemble, False)
    if real is not None and config.patterns > len(real):
        raise ValueError(f"patterns must be at most the {len(real)} of {ensemble}, got {config.patterns}")
    if config.patterns * _width(config, ensemble) * config.samples > 2**28:
        raise ValueError(f"patterns must be at most 2^28 / (neurons · samples), got {config.patterns}")


def _width(config: Config, ensemble: str) -> int:
    real = retrievals.data(ensemble, False)
    return config.neurons if real is None else real.shape[1]


def cost(config: Config) -> Cost:
    """Cost of all updates: queries × M × N for each step of every curve, β and sample."""
    curves = len(config.memories) * len(config.ensembles) * len(config.corruption)
    width, followed = max(_width(config, name) for name in config.ensembles), len(config.ratios) * (config.steps + 1)
    steps = curves * (followed + len(config.fixed))
    queries = min(config.queries, config.patterns)
    elements = 2 * config.samples * max(config.patterns * width, queries * config.steps) + queries * config.patterns
    return Cost(steps, elements, 24 * steps * config.samples * queries * config.patterns * width)


def points(config: Config) -> list[Point]:
    """One point per memory, ensemble, start, β and step."""
    grid = []
    names = list(dict.fromkeys(corruptions.name(start) for start in config.corruption))
    for memory, ensemble, start in product(config.memories, config.ensembles, names):
        for ratio in sorted({*config.ratios, *config.fixed}):
            shared = [memory, ensemble, _width(config, ensemble), config.patterns, start]
            point = dict(zip(retrievals.CURVE, shared, strict=True)) | {"ratio": ratio}
            grid += [point | {"step": step} for step in range(_steps(config, ratio) + 1)]
    return grid


def _steps(config: Config, ratio: float) -> int:
    return config.steps if ratio in config.ratios else 0


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. All steps of the same retrievals are measured together."""
    return parallel.rows_in_groups(wanted, [*retrievals.CURVE, "ratio"], "step", partial(_rows, config))


def _rows(config: Config, group: list[Point]) -> list[Row]:
    """The rows of some steps of the same retrievals."""
    point = group[0]
    ensemble, neurons, num_patterns = (point[name] for name in ("ensemble", "neurons", "patterns"))
    kind, amount = corruptions.parts(point["corruption"])
    draw = measurement.Draw(ensemble, neurons, num_patterns, kind, config.samples, min(config.queries, num_patterns))
    beta = point["ratio"] * sphere_critical_beta(neurons, num_patterns)
    found = measurement.follow(draw, config.seed, amount, point["memory"], beta, _steps(config, point["ratio"]))
    shared = {"beta": beta, "band": config.band, "least_rise": config.least_rise}
    return [point | shared | _row(config, found, point["step"]) for point in group]


def sphere_critical_beta(neurons: int, num_patterns: int) -> float:
    """The unit of `ratio`: annealed β at which iterated retrieval of unit-norm patterns on the sphere sets in."""
    beta = kappa_theory.critical_kappa("modern", "sphere", neurons, num_patterns, "converged_weight")
    if beta is None:
        raise ValueError(f"patterns must have an annealed critical β, got N={neurons} M={num_patterns}")
    return beta


def _row(config: Config, found: dict[str, np.ndarray], step: int) -> Row:
    """The columns of one step, from all retrievals [samples, queries, steps]."""

    def growth(name: str) -> np.ndarray:
        """Largest growth in one step up to this one."""
        return np.max(np.diff(found[name][..., : step + 1], axis=-1), axis=-1, initial=0.0)

    rise = growth("entropy")
    spread = {name: found[name][..., step] for name in (*measurement.STATE, "step_size")} | {"rise": rise}
    row = {}
    for name, values in spread.items():
        ends = np.quantile(values, [0.5 - config.band / 2, 0.5, 0.5 + config.band / 2])
        row |= dict(zip((f"{name}_low", name, f"{name}_high"), ends.tolist(), strict=True))
    cluster = np.repeat(np.arange(len(rise)), rise.shape[1])
    for name, least in (("rising", config.least_rise), ("rising_at_all", ROUNDING)):
        share = clustered_mean((rise > least).ravel(), cluster)
        row |= {name: share.mean, f"{name}_stderr": None if share.clusters == 1 else share.stderr}
    kept, won = (found[name][..., step] > 0.5 for name in ("target_weight", "largest_weight"))
    ends = {"retrieved": kept, "another": won & ~kept, "none": ~won}
    row |= {f"rising_{name}": float(np.mean(end & (rise > config.least_rise))) for name, end in ends.items()}
    row |= {name: float(np.mean(ends[name])) for name in ("retrieved", "another")}
    gain = -np.diff(found["energy"][..., : step + 1]) - 0.5 * found["step_size"][..., :step] ** 2
    row["residual"] = float(np.max(np.abs(found["residual"][..., step])))
    row["descent"] = float(np.min(gain)) if step else None
    first = np.abs(found["slope"] - found["thermal_entropy"][..., 0])
    return row | {
        "slope": None if step else float(np.median(found["slope"])),
        "slope_residual": None if step else float(np.max(first)),
    }
