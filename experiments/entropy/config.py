"""Options of the entropy experiment."""

from dataclasses import dataclass
from typing import Any

from experiments import contract
from experiments.bounds import decided_by
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

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
    "residual": Column("largest deviation from Φ = ⟨E⟩ − T S", "scores"),
    "descent": Column("least E(t) − E(t+1) − ½‖Δx‖² so far", "scores"),
    "slope": Column("−dΦ/dT by finite differences, of the start", "nats"),
    "slope_residual": Column("largest deviation of the slope from S", "nats"),
}
