"""Panels of the limit of classical critical loads: all cuts with the laws of their approach, and what these leave."""

from typing import Any

import numpy as np

from experiments.capacity.summary import critical_of
from experiments.contract import Summary, Table
from experiments.figures.panel import Axis, Panel, Series
from experiments.figures.style import series
from experiments.shared.retention import CUTS
from experiments.statistics.extrapolation import LEAST, Fit, law_at

POWER = 2 / 3
ABSCISSA = Axis(r"$N^{-2/3}$")
CRITERION = "retained"
FAMILY = ("memory", "dynamics", "corruption", "ensemble")
NEAR = (0.2, 0.8)
"""Shares retained between which a load lies near the threshold."""
CUT_MARKERS = dict(zip(sorted(CUTS.values()), ("^", "o", "v"), strict=True))


def are_asked(table: Table, summary: Summary) -> bool:
    """True of a table that has laws and nothing but loads near the threshold, whose curves would show little else."""
    if not any(law["criterion"] == CRITERION for law in summary.more["laws"]):
        return False
    counts = table.groupby(["neurons", "load"])[[CRITERION, "queries"]].sum()
    return bool((counts[CRITERION] / counts["queries"]).between(*NEAR).all())


def panels(summary: Summary) -> list[Panel]:
    """Critical loads against N^(−2/3) with all laws through the larger sizes, and the same less the fitted power."""
    found = critical_of(summary)
    laws = [law for law in summary.more["laws"] if law["criterion"] == CRITERION]
    laws = [law for law in laws if all(law[name] == laws[0][name] for name in FAMILY)]
    laws = [law for law in laws if law["stderr"] or len(law["terms"]) == 1]  # limits that are given: by one power
    for name in FAMILY:
        found = found[found[name] == laws[0][name]]
    found = found[found["criterion"].isin(CUTS)].assign(place=lambda rows: rows["neurons"] ** -POWER)
    return [_loads(found, laws), _left(found[found["criterion"] == CRITERION], laws)]


def _looks(laws: list[Fit], width: float = 1.2) -> list[tuple[Fit, dict[str, Any]]]:
    looks = series([law["law"] for law in laws])
    return [(law, looks[law["law"]] | {"marker": "", "linewidth": width}) for law in laws]


def _sizes(place: np.ndarray) -> np.ndarray:
    return np.maximum(place, 1e-12) ** (-1 / POWER)


def _loads(found: Table, laws: list[Fit]) -> Panel:
    grid = np.linspace(0, 1.02 * found["place"].max(), 120)
    shown = [Series(grid, law_at(law, _sizes(grid)), **look) for law, look in _looks(laws, 0.8)]
    for cut, rows in found.groupby("least"):
        face = "black" if cut == CUTS[CRITERION] else "white"
        drawn: dict[str, Any] = {"marker": CUT_MARKERS[cut], "markerfacecolor": face, "markersize": 4.5}
        error, label = rows["stderr"], rf"$m > {cut:g}$"
        shown.append(Series(rows["place"], rows["load"], error, label=label, color="black", **drawn))
    for law, look in _looks(laws):
        if law["stderr"] == 0:
            name = f"{law['law'].partition(',')[0]}, {law['load']:.4f}"
            shown.append(Series([0], [law["load"]], color=look["color"], marker="_", markersize=14, label=name))
    y = Axis(r"critical load $\alpha_{50}$")
    return Panel("extrapolation in size", ABSCISSA, y, shown, legend="kept at a final overlap")


def _left(found: Table, laws: list[Fit]) -> Panel:
    fitted = next(law for law in laws if len(law["terms"]) == 1 and law["stderr"] and law["law"].endswith("fitted"))
    used, grid = found[found["neurons"] >= LEAST], np.linspace(0, 1.1 * LEAST**-POWER, 120)
    shown = []
    for law, look in _looks(laws):
        error = f"({law['stderr'] * 1e4:.0f})" if law["stderr"] else ""
        label = rf"{_words(law)}: {law['load']:.4f}{error}, $\chi^2$ {law['chi2']:.1f}/{law['dof']}"
        apart = law_at(law, _sizes(grid)) - law_at(fitted, _sizes(grid))
        shown.append(Series(grid, 1e4 * apart, label=label, **look))
    apart = 1e4 * (used["load"] - law_at(fitted, used["neurons"]))
    shown.append(Series(used["place"], apart, 1e4 * used["stderr"], color="black", marker="o", markersize=4.5))
    y = Axis(r"$10^4\,(\alpha_{50}-$ fitted power$)$")
    return Panel("what the laws leave", ABSCISSA, y, shown, legend=rf"limits from $N\geq{LEAST}$")


def _words(law: Fit) -> str:
    """A law as a legend has it: its powers, those fitted to two digits, and the limit that is given."""
    powers = ", ".join(f"{x:.2g}" for x, _ in law["terms"])
    given = {"replica symmetric": "RS, ", "one step of breaking": "1RSB, "}.get(law["law"].partition(",")[0], "")
    return f"{given}$x={powers}$" + (" fitted" if law["law"].endswith("fitted") else "")
