"""Results of the entropies of softmax weights: residuals, rising entropies, and panels with annealed theory."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.contract import Row, Summary, Table
from experiments.entropy.theory import along, converged_entropy, start_entropy
from experiments.figures import labels, panel
from experiments.figures.panel import SHARE, Axis, Panel, Series, band, level, theory_lines
from experiments.figures.style import LINES, series
from experiments.shared import convergence, corruptions
from experiments.shared.retrievals import CURVE
from experiments.statistics.estimates import tidy


def summarise(table: Table) -> Summary:
    """Residuals of the identities, and the share of retrievals along which the entropy rises, by curve, β and end."""
    estimates: list[Row] = []
    for memory, rows in table.groupby("memory", sort=False):
        worst = {name: float(rows[name].max()) for name in ("residual", "slope_residual")}
        for name, value in (worst | {"descent": float(rows["descent"].min())}).items():
            estimates.append({"quantity": name.replace("_", " "), "memory": memory, "value": value, "headline": True})
    last = table[table["step"] == table.groupby([*CURVE, "ratio"])["step"].transform("max")]
    last = last[last["step"] > 0]
    shares = tidy(last, [*CURVE, "ratio", "beta", "step"], QUANTITIES)
    first = {name: last[name].iloc[0] for name in ("ensemble", "corruption")}
    for row in shares:
        told = row["quantity"] in (QUANTITIES["rising"], QUANTITIES["retrieved"])
        row["headline"] = told and first.items() <= row.items()
    return Summary([*estimates, *shares], _lines(table))


QUANTITIES = {
    "rising": "rising",
    "rising_at_all": "rising at all",
    "retrieved": "retrieved",
    "another": "another pattern retrieved",
    "rising_retrieved": "rising, retrieved",
    "rising_another": "rising, another",
    "rising_none": "rising, none",
    "entropy": "final entropy",
    "overlap": "final overlap",
    "target_weight": "final weight on the pattern",
}
START, END = "entropy at the start", "entropy at the end"


def _lines(table: Table) -> list[Row]:
    """Annealed entropies of the clean starts of the first memory, and of the ends of what came to rest."""
    clean = _ends(_in_order(table, "corruption"))[0]
    first = _first_value(table.sort_values(["ratio", "step"], kind="stable"), "memory")
    rows = table[(table["corruption"] == clean) & (table["memory"] == first)]
    if clean != corruptions.CLEAN:
        return []
    ends = rows[(rows["step"] > 0) & (rows["step"] == rows["step"].max())]
    asked = [(START, rows[rows["step"] == 0], start_entropy)]
    asked += [(END, ends, converged_entropy)] if convergence.end(int(rows["step"].max())) == convergence.REST else []
    found = [(quantity, *along(part, function)) for quantity, part, function in asked]
    return [{"quantity": quantity, "kind": "annealed", "x": x.tolist(), "y": y.tolist()} for quantity, x, y in found]


def _theory(lines: Table) -> list[Series]:
    return theory_lines(lines, label="annealed theory")


SHOWN = (0.5, 1.05, 1.4, 2.0)
"""Values of β drawn along retrievals, or those measured nearest to them: below, at and above the critical one."""
RATIO = r"$\beta\,/\,\beta_c^{\mathrm{sphere}}$ (annealed)"
AXES = {"entropy": "entropy $H$ of the weights", "overlap": "overlap $m$ with the pattern"}


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Entropy, overlap and free energy along corrupted retrievals of the first memory and ensemble, and against β."""
    table = table.sort_values(["ratio", "step"], kind="stable")
    shown = table[(table["memory"] == table["memory"].iloc[0]) & (table["ensemble"] == _first_value(table, "ensemble"))]
    clean, corrupted = _ends(_in_order(table, "corruption"))
    followed = shown[shown["step"] > 0]["ratio"].unique()
    shown = shown[shown["ratio"].isin(followed)]
    along = shown[shown["ratio"].isin([_nearest(followed, wanted) for wanted in SHOWN])]
    above = _nearest(followed, SHOWN[-1])
    real = _in_order(table, "ensemble")[-1 if len(_in_order(table, "ensemble")) < 3 else 1]
    return [
        _bands(along, corrupted, "entropy"),
        _balance(shown[shown["ratio"] == above], corrupted, summary),
        _bands(along, corrupted, "overlap"),
        _separations(table[(table["ensemble"] == real) & (table["ratio"] == above)], corrupted),
        _rising(table, summary),
        _rising_by_end(table, summary, corrupted),
        _fixed_query(table, clean, summary.line(START)),
        _final(table, clean, summary.line(END)),
    ]


def _in_order(table: Table, column: str) -> list:
    """Distinct values of a column in the order of the table's index, which follows the run's options."""
    return list(table.sort_index()[column].unique())


def _first_value(table: Table, column: str) -> Any:
    return _in_order(table, column)[0]


def _ends(starts: Sequence[str]) -> tuple[str, str]:
    """Two starts: the clean one, or the first if none is clean, and the first other one."""
    clean = corruptions.CLEAN if corruptions.CLEAN in starts else starts[0]
    return clean, next((start for start in starts if start != clean), clean)


def _nearest(ratios: Sequence[float], wanted: float) -> float:
    return min(ratios, key=lambda ratio: abs(math.log(ratio / wanted)))


def _ratios(ratios: np.ndarray) -> Axis:
    """β on a log axis, its ticks as plain numbers a factor of 2 or 4 apart."""
    low, high = math.floor(math.log2(min(ratios))), math.ceil(math.log2(max(ratios)))
    ticks = [2.0**power for power in range(low, high + 1, 1 if high - low < 7 else 2)]
    return Axis(RATIO, "log", ticks=[(tick, f"{tick:g}" if tick >= 0.1 else f"1/{1 / tick:g}") for tick in ticks])


def _nats(num_patterns: int) -> Series:
    return level(math.log(num_patterns), r"$\ln M$", color="0.75", linestyle="-", linewidth=0.8, zorder=0)


def _band(rows: Table, quantity: str, label: str, look: dict[str, Any]) -> list[Series]:
    low, high = (rows[f"{quantity}_{end}"].to_numpy(float) for end in ("low", "high"))
    thin = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 0.6}
    rims = [Series(rows["step"], end, **thin) for end in (low, high)]  # where queries part in two, rims are what tells
    inside = band(rows["step"], low, high, color=look["color"], alpha=0.08)
    return [inside, *rims, Series(rows["step"], rows[quantity], label=label, **look)]


def _bands(table: Table, start: str, quantity: str) -> Panel:
    """Median and band of a quantity along retrievals, one curve per β."""
    rows, found = table[table["corruption"] == start], []
    looks = series([str(ratio) for ratio in rows["ratio"].unique()])
    for ratio, curve in rows.groupby("ratio"):
        label = rf"{ratio:g} $\beta_c$"
        if quantity == "entropy":
            last = curve.iloc[-1]
            label += f": {last['rising']:.0%} rise, {last['retrieved']:.0%} retrieved"
        found += _band(curve, quantity, label, looks[str(ratio)])
    y = Axis(AXES[quantity])
    if quantity == "entropy":
        found.append(_nats(rows["patterns"].iloc[0]))
        y.limits = (-0.2, None)
    title = f"{quantity}, {rows['ensemble'].iloc[0]}, {corruptions.label(start)}"
    return Panel(title, Axis("update $t$"), y, found, legend=_about_band(rows))


def _balance(table: Table, start: str, summary: Summary) -> Panel:
    """Φ = ⟨E⟩ − T H and the energy along the retrievals of one β, the largest drawn."""
    rows = table[table["corruption"] == start]
    heat = {f"heat{end}": -rows[f"thermal_entropy{end}"] / rows["beta"] for end in ("", "_low", "_high")}
    rows = rows.assign(**heat)
    names = {
        "mean_energy": r"$\langle E\rangle$",
        "heat": "$-T\\,H$",
        "free_energy": r"$\Phi=\langle E\rangle-T\,H$",
        "energy": r"$E(x)=\frac{1}{2}\|x\|^2+\Phi$",
    }
    looks = series(list(names))
    found = [part for quantity, label in names.items() for part in _band(rows, quantity, label, looks[quantity])]
    worst = summary.of("residual")["value"].max()
    balance = rf"$|\Phi-\langle E\rangle+T\,H|<${_power_of_ten_above(worst)} at every step"
    legend = f"{_about_band(rows)}\n{balance}"
    return Panel(_title(rows, start), Axis("update $t$"), Axis("energy"), found, legend=legend)


def _about_band(rows: Table, drawn: str = "band") -> str:
    """Legend of the bands around medians: no error of these, but where most of the queries lie."""
    words = f"{100 * rows['band'].iloc[0]:g}% band of queries"
    return f"median and {words}" if drawn == "band" else f"median; {drawn}: {words}"


def _title(rows: Table, start: str) -> str:
    return rf"{rows['ensemble'].iloc[0]}, {corruptions.label(start)}, {rows['ratio'].iloc[0]:g} $\beta_c$"


def _power_of_ten_above(value: float) -> str:
    """Formula of the power of ten next above a residual."""
    return rf"$10^{{{math.floor(math.log10(max(value, 1e-18))) + 1}}}$"


def _separations(table: Table, start: str) -> Panel:
    """Effective number of patterns along retrievals for every separation, at one β."""
    rows, found = table[table["corruption"] == start], []
    for memory, look in series(_in_order(rows, "memory")).items():
        found += _band(rows[rows["memory"] == memory], "effective_number", labels.memory(memory), look)
    y = Axis(r"effective number $e^H$ of patterns", "log")
    return Panel(_title(rows, start), Axis("update $t$"), y, found, legend=_about_band(rows))


def _rising(table: Table, summary: Summary) -> Panel:
    """Share of retrievals along which the entropy rises, for the first memory, by ensemble and start."""
    shares = summary.of("rising")
    shares = shares[shares["memory"] == _first_value(table, "memory")].sort_values("ratio")
    lines: dict[str, Any] = dict(zip(_in_order(table, "corruption"), itertools.cycle(LINES), strict=False))
    found = []
    for ensemble, look in series(_in_order(table, "ensemble")).items():
        rows, label = shares[shares["ensemble"] == ensemble], str(ensemble)
        for start, dash in lines.items():
            curve = rows[rows["corruption"] == start]
            found.append(
                Series(curve["ratio"], curve["value"], curve.get("stderr"), label=label, **look | {"linestyle": dash})
            )
            label = ""
    found += [panel.entry(corruptions.label(start), color="0.3", linestyle=dash) for start, dash in lines.items()]
    least = f"{table['least_rise'].iloc[0]:g} nats"
    title = f"{labels.memory(_first_value(table, 'memory'))}: a step raises $H$ by {least} or more"
    return Panel(title, _ratios(shares["ratio"]), Axis("share of retrievals", limits=SHARE), found)


WORDS = {
    "rising": "$H$ rises",
    "rising_retrieved": "rises, ends at its pattern",
    "rising_another": "rises, ends at another",
    "rising_none": "rises, ends at none",
    "retrieved": "ends at its pattern",
}


def _rising_by_end(table: Table, summary: Summary, start: str) -> Panel:
    """Share of retrievals along which the entropy rises by where they end, for the first memory and ensemble."""
    ensemble, memory = _first_value(table, "ensemble"), _first_value(table, "memory")
    about = {"memory": memory, "ensemble": ensemble, "corruption": start}
    found, ratios = [], summary.of("rising", **about)["ratio"]
    for name, look in series(list(WORDS)).items():
        rows = summary.of(QUANTITIES[name], **about).sort_values("ratio")
        known = rows if "value" in rows else rows.assign(value=np.nan)
        found.append(Series(known["ratio"], known["value"], label=WORDS[name], **look))
    title = f"rising $H$ and ends, {ensemble}"
    return Panel(
        title, _ratios(ratios), Axis("share of retrievals", limits=SHARE), found, legend=corruptions.label(start)
    )


def _fixed_query(table: Table, start: str, lines: Table) -> Panel:
    """Entropy of one and the same query against β, and −dΦ/dT of the same from finite differences."""
    rows = table[
        (table["step"] == 0) & (table["corruption"] == start) & (table["memory"] == _first_value(table, "memory"))
    ]
    found = []
    for ensemble, look in series(_in_order(table, "ensemble")).items():
        curve = rows[rows["ensemble"] == ensemble].sort_values("ratio")
        x, hollow = curve["ratio"], look | {"linestyle": "", "markerfacecolor": "white", "label": ensemble}
        ends = curve["thermal_entropy_low"], curve["thermal_entropy_high"]
        found.append(band(x, *ends, color=look["color"], alpha=0.18))
        found.append(Series(x, curve["thermal_entropy"], color=look["color"], linestyle=look["linestyle"]))
        found.append(Series(x, curve["slope"], **hollow))
    found += _theory(lines)
    found.append(panel.entry("$H$", color="0.3", linestyle="-"))
    found.append(panel.entry(r"$-d\Phi/dT$", color="0.3", marker="o", markerfacecolor="white"))
    found.append(_nats(rows["patterns"].iloc[0]))
    title = f"one query at every temperature, {corruptions.label(start)}"
    return Panel(title, _ratios(rows["ratio"]), Axis("entropy $H$"), found, legend=_about_band(rows))


def _final(table: Table, start: str, lines: Table) -> Panel:
    """Entropy where the retrievals were left, its band over queries as bars, with the theory of the sphere."""
    memory = _first_value(table, "memory")
    rows = table[(table["corruption"] == start) & (table["memory"] == memory) & (table["step"] > 0)]
    rows, found = rows[rows["step"] == rows["step"].max()], []
    for ensemble, look in series(_in_order(table, "ensemble")).items():
        curve = rows[rows["ensemble"] == ensemble].sort_values("ratio")
        ends = np.abs(curve[["entropy_low", "entropy_high"]].to_numpy(float).T - curve["entropy"].to_numpy(float))
        look = look | ({"linestyle": ""} if ensemble == "sphere" else {})
        found.append(Series(curve["ratio"], curve["entropy"], ends, label=ensemble, **look))
    steps = int(rows["step"].max())
    found += _theory(lines)
    found.append(_nats(rows["patterns"].iloc[0]))
    y = Axis(f"$H$ after {steps} updates" if steps > 1 else "$H$ after one update")
    title, legend = f"where retrievals end, {corruptions.label(start)}", _about_band(rows, "bars")
    return Panel(title, _ratios(rows["ratio"]), y, found, legend=legend)
