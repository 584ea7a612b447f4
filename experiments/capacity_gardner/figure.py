"""Figure of learning up to Gardner's bound."""

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panel import SHARE, Axis, Panel, curves, guide, theory_line, upright
from experiments.figures.style import series
from hopfield.theory import gardner

LOAD = Axis(r"load $\alpha = M/N$")


def panels(table: Table, summary: dict) -> list[Panel]:
    """Spins held, stabilities and retained queries against the load; biased patterns in a panel of their own."""
    learned: Table = pandas.DataFrame(summary["learned"])
    kept: Table = pandas.DataFrame(summary["retained"])
    size = learned["neurons"].max()
    plain: Table = learned[learned["bias"].abs() == learned["bias"].abs().min()]
    looks = series(list(dict.fromkeys(learned["rule"])))
    shown = [_held(plain[plain["neurons"] == size], size, looks)]
    best = plain[plain["rule"] == "adatron"]
    if len(best):
        shown.append(_stabilities(best, "neurons", "$N={}$", "largest stability, adatron", [best["bias"].iloc[0]]))
    rows = kept[(kept["neurons"] == size) & kept["bias"].isin(plain["bias"])]
    for flipped, part in rows.groupby("flipped"):
        title = "retrieval from the pattern" if flipped == 0 else f"retrieval with {100 * flipped:g} % of spins flipped"
        found = curves(part, "load", "retained", by="rule", label=labels.memory, looks=looks)
        axis = Axis("share retained ($m > 0.9$)", limits=SHARE)
        shown.append(Panel(f"{title}, $N={size}$", LOAD, axis, [*found, guide(0.5)]))
    biased = learned[(learned["rule"] == "adatron") & (learned["neurons"] == size)]
    if biased["bias"].nunique() > 1:
        means = sorted(biased["bias"].unique())
        shown.append(_stabilities(biased, "bias", "mean {}", f"biased patterns, adatron, $N={size}$", means))
    return shown


def _held(rows: Table, size: int, looks: dict) -> Panel:
    found = curves(rows, "load", "held", by="rule", label=labels.memory, looks=looks)
    if rows["held_theory"].notna().any():
        exact = np.arange(rows["patterns"].min(), rows["patterns"].max() + 1)
        found.append(theory_line(exact / size, gardner.cover(size, exact), label="any couplings, exact (Cover)"))
    found.append(upright(2.0, label=r"$\alpha_c = 2$, $N\to\infty$", linestyle=":"))
    return Panel(f"spins held, $N={size}$", LOAD, Axis("share of spins held", limits=SHARE), [*found, guide(0.5)])


def _stabilities(rows: Table, by: str, label: str, title: str, biases: list[float]) -> Panel:
    looks = series([str(value) for value in dict.fromkeys(rows[by])])
    found = curves(rows, "load", "stability", by=by, label=label, looks=looks)
    grid = np.linspace(rows["load"].min(), max(rows["load"].max(), 2.0), 100)
    for bias in biases:
        line = gardner.largest_stability(grid, bias)
        color = looks[str(bias)]["color"] if by == "bias" else "0.25"
        found.append(theory_line(grid, line, label=r"Gardner, $N\to\infty$" if bias == biases[0] else "", color=color))
    return Panel(title, LOAD, Axis(r"least stability $\kappa$ of a spin", limits=(-0.5, None)), found)
