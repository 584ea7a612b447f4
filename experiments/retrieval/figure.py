"""Figure of a retrieval table: weights at the start and at the end against κ, critical κ, and what changes them."""

from typing import Any

from experiments.contract import Summary, Table, records
from experiments.figures import labels
from experiments.figures.panel import (
    Axis,
    Panel,
    Series,
    curves,
    entry,
    guide,
    level,
    shares,
    theory_line,
    theory_lines,
    upright,
)
from experiments.figures.style import THEORY, series
from experiments.retrieval import lines
from experiments.retrieval.critical import critical_kappa
from experiments.retrieval.lines import FAMILY
from experiments.retrieval.summary import CRITICAL
from experiments.shared import convergence, corruptions
from experiments.statistics.clusters import by_group, means_by_group

KAPPA = r"inverse temperature $\kappa = \beta\|\xi\|^2$"
RATIO = r"$\kappa$ / converged critical $\kappa$ of annealed theory"
ANNEALED = "annealed theory"
"""Theory that puts the sum over the other patterns at its mean, at the measured size."""
SHARE_RIGHT = r"share ending with $p_\mathrm{target} > ½$"
MOST = 8
"""Panels at most."""
WORDS = {"memory": labels.memory, "ensemble": labels.patterns, "corruption": corruptions.label}
"""Words of a reader for the names in a column."""


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Weight, success, state and steps against κ, critical κ against load, memories and ensembles side by side."""
    clean, shown = table[table["corruption"] == corruptions.CLEAN], []
    scanned = table.dropna(subset=["kappa"])
    if len(scanned):
        main = lines.main_rows(scanned)
        shown += [_at_start(main, summary), _success(main, summary)]
        known = lines.drawn(summary.of(CRITICAL, memory=main["memory"].iloc[0], corruption=corruptions.CLEAN))
        shown += critical_kappa(known, summary) if len(known) >= lines.LEAST else []
        shown += [_state(main, summary, name) for name, line in lines.STATES.items() if len(summary.line(line))]
        shown.append(_steps(main, summary))
    sides = [
        (table, ["memory", "ensemble", "neurons", "patterns"], "corruption", "starts"),
        (clean, ["memory", "neurons", "patterns"], "ensemble", "kinds of patterns"),
        (clean, ["ensemble", "neurons", "patterns"], "memory", "memories"),
    ]
    for rows, shared, varied, title in sides:
        side = _richest(rows, shared, varied) if len(rows) else rows
        if side[varied].nunique() > 1:
            shown.append(_side_by_side(side, varied, title))
    if not shown:  # nothing has a β: levels are all there is to show
        side = _richest(table, ["ensemble", "neurons", "patterns", "corruption"], "memory")
        shown.append(_side_by_side(side, "memory", "memories"))
    return shown[:MOST]


def _richest(table: Table, shared: list[str], varied: str) -> Table:
    """The rows that share these columns and hold the most values of another, the first of equals."""
    kinds = {key: rows[varied].nunique() for key, rows in table.groupby(shared, sort=False)}
    best = max(kinds, key=lambda key: kinds[key])
    return table[(table[shared] == list(best)).all(axis=1)]


def _looks(table: Table, **more: Any) -> dict[str, Any]:
    """Look of every curve of a family by its number of patterns."""
    return {name: look | more for name, look in series([str(count) for count in table["patterns"].unique()]).items()}


def _family(table: Table) -> tuple[str, str, int]:
    return tuple(table[FAMILY].iloc[0])


def _critical_kappa(table: Table, summary: Summary) -> dict[int, float]:
    """Critical κ of theory for converged updates, by the numbers of patterns that have one."""
    known = records(summary.line(lines.CONVERGED, memory=table["memory"].iloc[0]))
    return {line["patterns"]: line["x"][0] for line in known}


def _title(table: Table, title: str) -> str:
    memory, ensemble, neurons = _family(table)
    return f"{title} ({labels.memory(memory)}, {labels.patterns(ensemble)}, $N={neurons}$)"


def _at_start(table: Table, summary: Summary) -> Panel:
    """Mean weight on the pattern at the start, against κ, with the annealed weight."""
    looks = _looks(table)
    drawn = theory_lines(summary.line(lines.START), lambda line: {"color": looks[str(line["patterns"])]["color"]})
    means = means_by_group(table, ["patterns", "kappa"], "start_weight", "sample", "queries")
    points = _looks(table, linestyle="") if drawn else looks
    found = [*drawn, *curves(_in_order(means, table), "kappa", "mean", by="patterns", label="$M={}$", looks=points)]
    found += [entry(ANNEALED, **THEORY)] if drawn else []
    y = Axis(r"mean weight at the start, $p_\mathrm{target}$")
    return Panel(_title(table, "at the start"), Axis(KAPPA, "log"), y, [*found, guide(0.5)])


def _in_order(means: Table, table: Table) -> Table:
    """Means with numbers of patterns in the order of the table."""
    places = {count: place for place, count in enumerate(table["patterns"].unique())}
    return means.sort_values("patterns", key=lambda counts: counts.map(places), kind="stable")


def _success(table: Table, summary: Summary) -> Panel:
    """Share of queries that end with most weight on the pattern, against κ, with annealed thresholds as lines."""
    looks, rows = _looks(table), by_group(table, ["patterns", "kappa"], "success", "queries", "sample")
    found = shares(_in_order(rows, table), "kappa", by="patterns", label="$M={}$", looks=looks)
    x = Axis(KAPPA, "log")
    if known := _critical_kappa(table, summary):
        found += [upright(kappa, color=looks[str(count)]["color"]) for count, kappa in known.items()]
        found.append(entry(ANNEALED, **THEORY))
        x = Axis(KAPPA, limits=(0.3 * min(known.values()), 1.1 * max(known.values())))  # the transitions are narrow
    end = convergence.WORDS[convergence.end_of_curve(table)]
    return Panel(_title(table, end), x, Axis(SHARE_RIGHT), found)


def _state(table: Table, summary: Summary, name: str) -> Panel:
    """Overlap or entropy of successful queries above the critical κ of theory, against κ in units of it."""
    words = {"overlap": "overlap $m$ of successes", "entropy": "entropy $H$ of successes (nats)"}
    looks, known, found = _looks(table), _critical_kappa(table, summary), []
    for line in records(summary.line(lines.STATES[name])):
        count, critical, look = line["patterns"], known[line["patterns"]], looks[str(line["patterns"])]
        rows = table[table["patterns"] == count]
        found.append(theory_line(line["x"], line["y"], color=look["color"]))
        near = rows[(rows["kappa"] > 0.97 * critical) & (rows["kappa"] < 1.2 * critical) & (rows["success"] > 0)]
        if len(near):
            means = means_by_group(near, "kappa", f"{name}_kept", "sample", "success")
            look = look | {"linestyle": "", "label": f"$M={count}$"}
            found.append(Series(means["kappa"] / critical, means["mean"], means["stderr"], **look))
    edge = upright(1.0, color="0.8", linestyle="-", linewidth=0.8)
    title = _title(table, "above the line")
    return Panel(title, Axis(RATIO), Axis(words[name]), [edge, *found, entry(ANNEALED, **THEORY)])


def _steps(table: Table, summary: Summary) -> Panel:
    """Mean number of updates until nothing moves: critical slowing down."""
    critical = {} if table["ensemble"].iloc[0] == "gaussian" else _critical_kappa(table, summary)  # of one norm
    scaled = {*table["patterns"]} <= {*critical}
    means = _in_order(means_by_group(table, ["patterns", "kappa"], "steps", "sample", "queries"), table)
    means = means.assign(kappa=means["kappa"] / (means["patterns"].map(critical).astype(float) if scaled else 1.0))
    found = curves(means, "kappa", "mean", by="patterns", label="$M={}$", looks=_looks(table))
    at_rest = convergence.end_of_curve(table) == convergence.REST
    y = Axis("updates until still" if at_rest else "updates that move, of one")
    return Panel(_title(table, "updates"), Axis(RATIO if scaled else KAPPA, "log"), y, found)


def _side_by_side(table: Table, varied: str, title: str) -> Panel:
    """Curves that differ in one respect: success against κ, or the final overlap where memories differ."""
    looks, found = series([str(key) for key in table[varied].unique()]), []
    for key, rows in table.groupby(varied, sort=False):
        look = looks[str(key)] | {"label": WORDS[varied](key)}
        if rows["kappa"].isna().all():
            level_of = means_by_group(rows.assign(kappa=0.0), "kappa", _measured(varied), "sample", "queries")
            line = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 1.2}
            found.append(level(level_of["mean"].iloc[0], f"{look['label']} (any $\\kappa$)", **line))
        elif varied != "memory":
            ends = by_group(rows, ["kappa"], "success", "queries", "sample")
            bars = ends["mean"] - ends["low"], ends["high"] - ends["mean"]
            found.append(Series(ends["kappa"], ends["mean"], bars, **look))
        else:
            means = means_by_group(rows, "kappa", _measured(varied), "sample", "queries")
            found.append(Series(means["kappa"], means["mean"], means["stderr"], **look))
    shared = {name: table[name].iloc[0] for name in ("memory", "ensemble", "neurons", "patterns") if name != varied}
    parts = [WORDS[name](str(shared[name])) for name in ("memory", "ensemble") if name in shared]
    parts += [f"${'N' if name == 'neurons' else 'M'}={shared[name]}$" for name in ("neurons", "patterns")]
    y = Axis(r"mean final overlap $m$" if varied == "memory" else SHARE_RIGHT, limits=(-0.03, 1.05))
    return Panel(f"{title} ({', '.join(parts)})", Axis(KAPPA, "log"), y, found)


def _measured(varied: str) -> str:
    return "overlap" if varied == "memory" else "success"
