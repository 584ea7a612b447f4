"""Figure of relaxation: correlation times and escape times against the load, by degree and temperature."""

import pandas

from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, Series, curves, level, upright
from experiments.figures.style import ordered
from experiments.relaxation import theory


def panels(table: Table, summary: dict) -> list[Panel]:
    """Two panels for every degree and temperature, with sizes by colour."""
    times: Table = pandas.DataFrame(summary["times"])
    times = times.assign(relative=times["load"] / times["spinodal"])
    groups = [rows for _, rows in times.groupby(["degree", "temperature"], sort=False)]
    return [panel for rows in groups for panel in (_correlation(rows), _escape(rows))]


def _correlation(rows: Table) -> Panel:
    alone = theory.time_without_load(int(rows["degree"].iloc[0]), float(rows["temperature"].iloc[0]))
    mark = Series([0], [alone], label=r"theory, $\alpha=0$", marker="_", markersize=12)
    return _panel("correlation time", rows, [*_times(rows, "time"), mark], r"correlation time $\tau$ / sweeps")


def _escape(rows: Table) -> Panel:
    """Escape times; beyond the sweeps observed they are estimates from the few queries that left, and drawn open."""
    observed = rows["observed"].dropna()
    found = _times(rows, "escape")
    if len(observed):
        found.append(level(observed.max(), "sweeps observed; above: extrapolated", color="0.6", linestyle=":"))
    return _panel("escape", rows, found, "escape time / sweeps")


def _times(rows: Table, name: str) -> list[Series]:
    """Times with errors, whose bars end at a tenth of their value where they would reach down to nothing."""
    looks = ordered([str(size) for size in sorted(rows["neurons"].unique())])
    rows = rows[rows[name].notna()]
    rows = rows.assign(**{f"{name}_stderr": rows[f"{name}_stderr"].astype(float)})
    found = curves(
        rows.sort_values("neurons", kind="stable"), "relative", name, by="neurons", label="$N={}$", looks=looks
    )
    for part in found:
        part.error = None if part.error is None else [part.error[0].clip(max=0.9 * part.y), part.error[1]]
    return found


def _panel(what: str, rows: Table, found: list[Series], label: str) -> Panel:
    degree, temperature = int(rows["degree"].iloc[0]), float(rows["temperature"].iloc[0])
    title = rf"{what}, $n={degree}$, $T={temperature:g}$, $\alpha_M={rows['spinodal'].iloc[0]:.3g}$"
    x = Axis(r"load $\alpha/\alpha_M(T)$", limits=(-0.03, None))
    return Panel(title, x, Axis(label, "log"), [*found, upright(1.0, "spinodal, replica symmetric")])
