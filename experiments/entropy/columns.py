"""Columns of the table of entropy, each with its meaning and unit."""

from experiments.columns import Column, shared

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
