"""Claims of papers that one number or curve each tests, measured as the paper says, beside its theory.

A claim is named by what it is about; how it is measured stands in the file of that name in `experiments/papers/`.

    cycles      starts that end in a stored limit cycle of all its period (arXiv:2605.24611)
    diluted     overlap of a network of diluted asymmetric couplings, which vanishes at 2/π (Derrida et al. 1987)
    hidden      whether all binary states of threshold hidden units are memories (arXiv:2601.00984)
    kanerva     β of the softmax that reads as Kanerva's memory (Bricken & Pehlevan 2021)
    simplicial  overlap kept by pairs and triples of neurons, as many of both (Burns & Fukai 2023)
    sweeps      asynchronous sweeps of a dense memory, O(log N) (arXiv:2604.12811)
    unseen      overlap of stored and of unseen examples with where they end (arXiv:2407.05658)
    vectors     overlap of spins of several components, and of phases (arXiv:2507.02586)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import log2

from experiments import contract
from experiments.bounds import includes
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, Summary, Table, option
from experiments.figures.panel import Axis, Panel, curves, theory_line
from experiments.papers.claim import Claim
from experiments.papers.cycles import Cycles
from experiments.papers.diluted import Diluted
from experiments.papers.hidden import Hidden
from experiments.papers.kanerva import Kanerva
from experiments.papers.simplicial import Simplicial
from experiments.papers.sweeps import Sweeps
from experiments.papers.unseen import Unseen
from experiments.papers.vectors import Vectors
from experiments.shared import draws, parallel
from experiments.statistics.clusters import means_by_group
from experiments.statistics.estimates import tidy
from experiments.statistics.lines import straight_line

X_AXIS = "x"
CLAIMS: dict[str, type[Claim]] = {
    "cycles": Cycles,
    "diluted": Diluted,
    "hidden": Hidden,
    "kanerva": Kanerva,
    "simplicial": Simplicial,
    "sweeps": Sweeps,
    "unseen": Unseen,
    "vectors": Vectors,
}


@dataclass
class Config(contract.Config):
    """Options of the claims; the defaults are smoke scale."""

    claims: list[str] = option([*CLAIMS], "claims to measure", among=tuple(CLAIMS), nonempty=True, axis=True)
    samples: int = option(2, "draws of what is random in a claim", least=1, extends=True)
    cycles: Cycles = option(Cycles, used_when=includes("claims", "cycles"), axis=True)
    diluted: Diluted = option(Diluted, used_when=includes("claims", "diluted"), axis=True)
    hidden: Hidden = option(Hidden, used_when=includes("claims", "hidden"), axis=True)
    kanerva: Kanerva = option(Kanerva, used_when=includes("claims", "kanerva"), axis=True)
    simplicial: Simplicial = option(Simplicial, used_when=includes("claims", "simplicial"), axis=True)
    sweeps: Sweeps = option(Sweeps, used_when=includes("claims", "sweeps"), axis=True)
    unseen: Unseen = option(Unseen, used_when=includes("claims", "unseen"), axis=True)
    vectors: Vectors = option(Vectors, used_when=includes("claims", "vectors"), axis=True)


COLUMNS = shared("sample") | {
    "claim": Column("what the claim is about", kind=str),
    "setting": Column("options that are the same for all points of a claim", kind=str),
    "curve": Column("number that tells the curves of a claim apart"),
    "x": Column("place along a curve"),
    "value": Column("measured number"),
    "theory": Column("prediction at this size, where there is one"),
    "limit": Column("prediction for infinite size, where there is one"),
}
KEYS = ["claim", "setting", "curve", "x"]
BESIDE = ["theory", "limit"]


def points(config: Config) -> list[Point]:
    """One point per claim, place and draw; what is not random has one draw."""
    found = []
    for name in config.claims:
        claim: Claim = getattr(config, name)
        about = {"claim": name, "setting": claim.setting()}
        drawn = range(config.samples if claim.random else 1)
        for curve, x in dict.fromkeys(claim.places()):
            found += [about | {"curve": curve, "x": x, "sample": sample} for sample in drawn]
    return found


def cost(config: Config) -> Cost:
    """Cost of all draws of every claim."""
    parts = []
    for name in config.claims:
        claim: Claim = getattr(config, name)
        drawn = config.samples if claim.random else 1
        each = [claim.cost(curve, x) for curve, x in claim.places()]
        parts += [Cost(drawn, elements, drawn * operations) for elements, operations in each]
    return contract.total(parts)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points, each with its theory."""
    yield from parallel.rows(partial(_rows, config, point) for point in wanted)


def _rows(config: Config, point: Point) -> list[Row]:
    claim, place = getattr(config, point["claim"]), (point["curve"], point["x"])
    key = draws.key(config.seed, point["sample"])
    found = {"value": claim.measure(key, *place), "theory": claim.theory(*place), "limit": claim.limit(*place)}
    return [point | {name: None if value != value else value for name, value in found.items()}]


def summarise(table: Table) -> Summary:
    """Means over draws beside theory, all of a claim told by the number of the curve and x."""
    estimates: list[Row] = []
    for name, rows in table.groupby("claim", sort=False):
        about = CLAIMS[name]
        means = means_by_group(rows, KEYS, "value", "sample").drop(columns=["low", "high"])
        means[BESIDE] = rows.groupby(KEYS)[BESIDE].first().astype(float).to_numpy()
        found = tidy(means, KEYS, {"mean": about.quantity}, headline=True)
        estimates += [
            {name: value for name, value in row.items() if value == value}
            | ({"kind": about.kind} if any(row[name] == row[name] for name in BESIDE) else {})
            for row in found
        ]
        if about.scale == "log":
            estimates += _growth(about, means)
    return Summary(estimates)


def _growth(about: type[Claim], means: Table) -> Iterator[Row]:
    """Growth of the mean for each doubling of x, by a line against its logarithm, of every curve."""
    for key, rows in means[means["stderr"] > 0].groupby(KEYS[:-1]):
        if len(rows) > 2:
            fit = straight_line(rows["x"].map(log2), rows["mean"], rows["stderr"])
            found = {"value": fit.slope, "stderr": float(fit.covariance[1, 1] ** 0.5)}
            where = dict(zip(KEYS, key, strict=False))
            told = found | {"chi2": fit.chi2, "dof": fit.dof, "headline": True}
            yield {"quantity": f"{about.quantity}, for each doubling", **where, **told}


def panels(table: Table, summary: Summary) -> list[Panel]:
    """A panel for every claim: measured points with errors, theory at this size as lines, limits as dotted ones."""
    found = []
    for name in table["claim"].unique():
        about = CLAIMS[name]
        rows = summary.of(about.quantity, claim=name)
        several = rows["curve"].nunique() > 1
        drawn = curves(rows, "x", "value", by="curve", theory="theory", label=about.label if several else lambda _: "")
        for line, (_, part) in zip(drawn[::2], rows.groupby("curve", sort=False), strict=True):
            part = part.sort_values("x")
            drawn.append(theory_line(part["x"], part["limit"], color=line.color, linestyle=":"))
        found.append(Panel(about.quantity, Axis(about.x, about.scale), Axis(about.y), drawn))
    return found
