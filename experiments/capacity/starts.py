"""Panels of a capacity measured from several starts: critical loads against the amount of their corruption."""

from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panel import Axis, Panel, Series, curves, entry, theory_line
from experiments.figures.style import THEORY, series
from experiments.shared import corruptions

STARTING = {
    "flip": ("flipped", r"flipped share $\rho$ of the start"),
    "mask": ("masked", "masked share of the start"),
    "lower": ("masked", "share of the start masked from below"),
    "noise": ("noisy", r"noise $\sigma$ of the start"),
}


def by_start(frame: Table) -> list[Panel]:
    """Critical load against the amount of each kind of corruption that starts of several amounts have, with theory.

    Args:
        frame: critical loads of one criterion for each memory. A clean start is an amount 0 of every kind.
    """
    kinds, amounts = zip(*map(corruptions.parts, frame["corruption"]), strict=True)
    frame, shown = frame.assign(start=kinds, place=amounts), []
    for kind in dict.fromkeys(frame.loc[frame["place"] > 0, "start"]):
        rows = frame[(frame["start"] == kind) | (frame["place"] == 0)]
        if found := against_place(rows, ["memory", "dynamics", "neurons"]):
            name, words = STARTING.get(kind, (kind.rpartition(".py:")[2], f"amount of {kind.rpartition('.py:')[2]}"))
            shown.append(Panel(f"critical load, {name} starts", Axis(words), Axis("critical load"), found))
    return shown


def against_place(rows: Table, by: list[str]) -> list[Series]:
    """Critical loads against the column place, a curve for each value of `by` and each ensemble, with theory."""
    rows = rows.sort_values("place", kind="stable")
    varied, found, known = [name for name in by if rows[name].nunique() > 1], [], []
    groups = [part for _, part in rows.groupby([*by, "ensemble"], sort=False) if part["place"].nunique() > 1]
    for part, look in zip(groups, series([str(number) for number in range(len(groups))]).values(), strict=True):
        first = part.iloc[0]
        words = {"memory": labels.memory(first["memory"]), "neurons": f"$N={first['neurons']}$"}
        words["corruption"] = corruptions.label(first["corruption"])
        found += curves(part, "place", "value", looks={"": look})
        found[-1].label = ", ".join(words.get(name, str(first[name])) for name in varied)
        limits = part["theory"].fillna(part["limit"]).astype(float)
        if count := limits.notna().sum():
            sign = {"marker": "_", "markersize": 14} if count == 1 else {}
            known.append(theory_line(part["place"], limits, color=look["color"], **sign))
    about = entry(labels.theory(rows.get("kind", ())), **THEORY) if known else entry("no theory known", color="1.0")
    return [*found, *known, about] if groups else []
