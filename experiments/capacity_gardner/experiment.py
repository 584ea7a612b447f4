"""Learning of couplings up to Gardner's bound: the largest load that is held, stabilities, and basins.

Each spin's couplings are learned by themselves, and held where its least stability γ = ξ h/‖W‖ is positive (above κ for
`perceptron:κ`). Without bias the share of spins that any couplings can hold is Cover's, exact at every N; the largest κ
is Gardner's curve for N → ∞. Retrieval runs from patterns with some spins flipped, by sequential sweeps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, Summary, Table, grid_axis, option
from experiments.figures import labels
from experiments.figures.panel import SHARE, Axis, Panel, curves, guide, theory_line, upright
from experiments.figures.style import series
from experiments.shared import convergence, draws, grids, loads
from experiments.shared.axes import product_of
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from experiments.statistics.clusters import means_by_group, shares_by_group
from experiments.statistics.crossings import half_crossing
from experiments.statistics.estimates import tidy
from hopfield import Couplings, retrieve
from hopfield.dynamics import STEP_LIMIT
from hopfield.memories import find
from hopfield.observables.overlaps import above
from hopfield.observables.stability import stabilities
from hopfield.patterns import biased, flip
from hopfield.theory import gardner

LEARNED = ("perceptron", "adatron")
"""Rules that learn every spin by itself, as Cover's theorem has it."""


@dataclass
class Config(contract.Config):
    """Options of learning couplings up to Gardner's bound; the defaults are smoke scale."""

    rules: list[str] = option(
        ["adatron", "perceptron"],
        "memories of couplings: adatron, perceptron:κ, perceptron_symmetric:κ, projection, classical, storkey",
        meaning="memory",
        nonempty=True,
        axis=True,
    )
    neurons: list[int] = grid_axis([20, 40], "numbers of neurons N", least=4)
    loads: list[float] = grid_axis([0.5, 1.5], "loads M / N", above=0, most=4)
    biases: list[float] = grid_axis([0.0], "means of the spins of patterns", above=-1, below=1)
    flipped: list[float] = grid_axis([0.0, 0.1], "shares of flipped spins in starts of retrieval", least=0, most=0.5)
    samples: int = option(4, "draws of patterns at each load", least=2, extends=True)
    queries: int = option(8, "patterns retrieved in each draw", least=1)
    max_steps: int = option(50, "sweeps of one retrieval at most", least=1)


COLUMNS = shared("rule", "neurons", "patterns", "sample", "load", "queries", "step_limit") | {
    "bias": Column("mean of the spins of patterns", "−1 to 1"),
    "flipped": Column("share of flipped spins in the starts of retrieval", "0 to 0.5"),
    "stability": Column("least stability γ = ξ h/‖W‖ of a spin over all patterns, mean over spins"),
    "held": Column("share of spins whose least stability is above that of the rule, 0 unless it names one", "0 to 1"),
    "fixed": Column("share of patterns that one update leaves as they are", "0 to 1"),
    "retained": Column("share of queries that end with an overlap above 0.9 with their pattern", "0 to 1"),
}


X_AXIS = "load"
KEPT = 0.9
"""Overlap with its pattern above which a query is retained."""


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    rule: str
    neurons: int
    padding: int
    queries: int
    starts: int
    max_steps: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: some hundred passes over patterns and couplings, and the retrievals."""
        return self.neurons**2 * (200.0 * self.padding + 10.0 * self.queries * self.starts)


def check(config: Config) -> None:
    """Check that every rule makes couplings; else ValueError."""
    for rule in config.rules:
        sample = find(rule).sample
        if not isinstance(draws.network(sample), Couplings):
            raise ValueError(f"rules must be memories of couplings, got {rule!r}")


def cost(config: Config) -> Cost:
    """Cost of all draws, by the programs of the largest load."""
    pairs = product(config.rules, config.neurons)
    programs = [_program(config, {"rule": rule, "neurons": size}) for rule, size in pairs]
    draws_each = len(config.loads) * len(config.biases) * config.samples
    rows = draws_each * len(programs) * len(config.flipped)
    most = max(max(p.padding, p.neurons) * p.neurons for p in programs)
    return Cost(rows, most, draws_each * sum(p.cost for p in programs))


def points(config: Config) -> list[Point]:
    """One point per rule, size, load, bias, start and draw."""
    grid: list[Point] = []
    for rule, neurons in product(config.rules, config.neurons):
        number = partial(find(rule).rounded, neurons=neurons)
        for patterns in loads.counts(config.loads, number, f"{rule} at N={neurons}"):
            place = {"rule": [rule], "neurons": [neurons], "patterns": [patterns]}
            grid += product_of(**place, bias=config.biases, flipped=config.flipped, sample=range(config.samples))
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. All starts of a draw share the couplings that are learned of it."""
    each, draw = {"flipped": np.float32}, {**draws.TRACED, "bias": np.float32}
    grid = Grid(partial(_program, config), one, draw, each, lambda program: program.starts, most=16, call_cost=2e9)
    known = lambda point: {"load": point["patterns"] / point["neurons"]}
    yield from grids.rows(grid, config.seed, wanted, known_columns=known)


def _program(config: Config, point: Point) -> Program:
    most = find(point["rule"]).rounded(max(config.loads), point["neurons"])
    queries = min(config.queries, most)
    return Program(point["rule"], point["neurons"], most, queries, len(config.flipped), config.max_steps)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Couplings of one draw of patterns: their stabilities, and where they lead from every start."""
    pattern_key, query_key = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    stored, used = biased(pattern_key, program.padding, program.neurons, draw["bias"]), draws.in_use(program, draw)
    network = draws.network(find(program.rule).build(stored, mask=used))
    assert isinstance(network, Couplings)
    gamma = jnp.where(used[:, None], stabilities(network, stored), jnp.inf)
    least, wanted = jnp.min(gamma, axis=0), float(program.rule.partition(":")[2] or 0.0)
    index, keys = draws.numbers_and_keys(query_key, program.queries)
    valid = index < draw["num_patterns"]

    def kept(i: Array, key: Array, share: Array) -> tuple[Array, Array]:
        start = flip(key, stored[i], share)
        end = retrieve(network, start, dynamics="sequential", max_steps=program.max_steps)
        return above(jnp.dot(end.state, stored[i]) / program.neurons, KEPT), end.status == STEP_LIMIT

    retained, cut = jax.vmap(jax.vmap(kept, (0, 0, None)), (None, None, 0))(index, keys, each["flipped"])
    measured = {
        "stability": jnp.mean(least),
        "held": jnp.mean(least > wanted),
        "fixed": jnp.sum(used & jnp.all(gamma > 0, axis=1)) / draw["num_patterns"],
    }
    alike = {name: jnp.broadcast_to(value, each["flipped"].shape) for name, value in measured.items()}
    asked = jnp.broadcast_to(jnp.sum(valid), each["flipped"].shape)
    counted = {"queries": asked, "step_limit": jnp.sum(cut & valid[None, :], axis=1)}
    return alike | counted | {"retained": jnp.sum(retained & valid[None, :], axis=1) / asked}


KEYS = ["rule", "neurons", "bias", "patterns", "load"]


def summarise(table: Table) -> Summary:
    """Means with errors over draws; beside them Cover's share of spins and the largest κ of Gardner.

    Theory of the share held is exact, for unbiased patterns and the best rule; theory of the stability is for N → ∞,
    zero beyond the bound, where no κ > 0 exists.
    """
    first = table[table["flipped"] == table["flipped"].min()]
    learned = {"stability": means_by_group(first, KEYS, "stability", "sample")}
    for name, trials in (("held", first["neurons"]), ("fixed", first["patterns"])):
        learned[name] = shares_by_group(first, KEYS, name, trials, "sample")
    means: Table = learned["held"][[*KEYS, "clusters"]]
    for name, found in learned.items():
        ends = {f"{name}_{end}": found[end] for end in ("stderr", "low", "high")}
        means = means.assign(**{name: found["mean"]}, **ends)
    ours = means["rule"].str.partition(":")[0].isin(LEARNED)
    plain = ours & (means["bias"] == 0) & ~means["rule"].str.contains(":")
    means["held_theory"] = np.where(plain, gardner.cover(means["neurons"], means["patterns"]), np.nan)
    best = gardner.largest_stability(means["load"], means["bias"])
    means["stability_limit"] = np.where(means["rule"] == "adatron", best, np.nan)
    kept = shares_by_group(table, [*KEYS, "flipped"], "retained", table["queries"], "sample")
    estimates = [*tidy(means, KEYS, QUANTITIES), *tidy(kept, [*KEYS, "flipped"], {"mean": RETAINED})]
    for row in estimates:
        row |= {"kind": KINDS[row["quantity"]]} if row["quantity"] in KINDS else {}
    told = [*_halves(first), *_deviation(means), *convergence.cut_estimates(table)]
    return Summary([*told, *estimates], _lines(means))


QUANTITIES = {"held": "share of spins held", "stability": "least stability", "fixed": "share of fixed points"}
KINDS = {QUANTITIES["held"]: "exact", QUANTITIES["stability"]: "replica symmetric"}
RETAINED = "share retained"


def _halves(first: Table) -> Iterator[Row]:
    """Load at which half of the spins are held, of unbiased patterns; its theory is Cover's, 2 (N − 1)/N."""
    learned = first["rule"].str.startswith(LEARNED) & (first["bias"] == 0)
    for (rule, neurons), rows in first[learned].groupby(["rule", "neurons"], sort=False):
        half = half_crossing(rows["load"], 1 - rows["held"], rows["sample"])
        exact = 2 * (neurons - 1) / neurons if rule in LEARNED else float("nan")
        entry = {
            "value": half.value,
            "stderr": half.stderr,
            "theory": exact,
            "kind": "exact" if rule in LEARNED else None,
        }
        about = {"rule": rule, "neurons": neurons, "samples": rows["sample"].nunique(), "headline": True}
        yield {"quantity": "half held", **about, **entry}


def _deviation(means: Table) -> Iterator[Row]:
    rows = means[(means["rule"] == "adatron") & (means["bias"] == 0) & (means["stability_limit"] > 0)]
    if len(rows):
        rows = rows[rows["neurons"] == rows["neurons"].max()]
        apart = float((rows["stability"] - rows["stability_limit"]).abs().max())
        yield {"quantity": "largest deviation of stability", "rule": "adatron", "value": apart, "headline": True}


def _lines(means: Table) -> list[Row]:
    """Cover's share of spins that any couplings hold at each size, and Gardner's stability at each bias."""
    found = []
    for size, rows in means[means["held_theory"].notna()].groupby("neurons"):
        counts = np.arange(rows["patterns"].min(), rows["patterns"].max() + 1)
        about = {"quantity": QUANTITIES["held"], "neurons": int(size), "kind": "exact"}
        found.append({**about, "x": (counts / size).tolist(), "y": gardner.cover(int(size), counts).tolist()})
    grid = np.linspace(means["load"].min(), max(means["load"].max(), 2.0), 100)
    for bias in means["bias"].unique():
        about = {"quantity": QUANTITIES["stability"], "bias": float(bias), "kind": KINDS[QUANTITIES["stability"]]}
        found.append({**about, "x": grid.tolist(), "y": gardner.largest_stability(grid, bias).tolist()})
    return found


LOAD = Axis(r"load $\alpha = M/N$")


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Spins held, stabilities and retained queries against the load; biased patterns in a panel of their own."""
    held, stable, kept = summary.of(QUANTITIES["held"]), summary.of(QUANTITIES["stability"]), summary.of(RETAINED)
    size, least = held["neurons"].max(), held["bias"].abs().min()
    plain = held[held["bias"].abs() == least]
    looks = series(list(dict.fromkeys(held["rule"])))
    shown = [_held(plain[plain["neurons"] == size], size, looks, summary)]
    best = stable[(stable["rule"] == "adatron") & (stable["bias"].abs() == least)]
    if len(best):
        title = "largest stability, adatron"
        shown.append(_stabilities(best, "neurons", "$N={}$", title, [best["bias"].iloc[0]], summary))
    rows = kept[(kept["neurons"] == size) & kept["bias"].isin(plain["bias"])]
    for flipped, part in rows.groupby("flipped"):
        title = "retrieval from the pattern" if flipped == 0 else f"retrieval with {100 * flipped:g} % of spins flipped"
        found = curves(
            part,
            "load",
            "value",
            by="rule",
            label=labels.memory,
            looks=looks,
        )
        axis = Axis("share retained ($m > 0.9$)", limits=SHARE)
        shown.append(Panel(f"{title}, $N={size}$", LOAD, axis, [*found, guide(0.5)]))
    biased = stable[(stable["rule"] == "adatron") & (stable["neurons"] == size)]
    if biased["bias"].nunique() > 1:
        means, title = sorted(biased["bias"].unique()), f"biased patterns, adatron, $N={size}$"
        shown.append(_stabilities(biased, "bias", "mean {}", title, means, summary))
    return shown


def _held(rows: Table, size: int, looks: dict, summary: Summary) -> Panel:
    found = curves(rows, "load", "value", by="rule", label=labels.memory, looks=looks)
    exact = summary.line(QUANTITIES["held"], neurons=size)
    if "theory" in rows and rows["theory"].notna().any():
        found.append(theory_line(exact["x"].iloc[0], exact["y"].iloc[0], label="any couplings, exact (Cover)"))
    found.append(upright(2.0, label=r"$\alpha_c = 2$, $N\to\infty$", linestyle=":"))
    return Panel(f"spins held, $N={size}$", LOAD, Axis("share of spins held", limits=SHARE), [*found, guide(0.5)])


def _stabilities(rows: Table, by: str, label: str, title: str, biases: list[float], summary: Summary) -> Panel:
    looks = series([str(value) for value in dict.fromkeys(rows[by])])
    found = curves(rows, "load", "value", by=by, label=label, looks=looks)
    for bias in biases:
        line = summary.line(QUANTITIES["stability"], bias=bias).iloc[0]
        color = looks[str(bias)]["color"] if by == "bias" else "0.25"
        text = r"Gardner, $N\to\infty$" if bias == biases[0] else ""
        found.append(theory_line(line["x"], line["y"], label=text, color=color))
    return Panel(title, LOAD, Axis(r"least stability $\kappa$ of a spin", limits=(-0.5, None)), found)
