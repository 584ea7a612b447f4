"""Summary of the entropy experiment: residuals of the identities, and where entropy rises along retrievals."""

from experiments.contract import Table
from experiments.shared.retrievals import CURVE
from experiments.statistics.columns import headline


def summarise(table: Table) -> dict:
    """Residuals of the identities, and the share of retrievals along which the entropy rises, by curve and β."""
    checks = []
    for memory, rows in table.groupby("memory", sort=False):
        largest = {name: float(rows[name].max()) for name in ("residual", "slope_residual")}
        checks.append({"memory": memory} | largest | {"descent": float(rows["descent"].min())})
    last = table[table["step"] == table.groupby([*CURVE, "ratio"])["step"].transform("max")]
    last = last[last["step"] > 0]
    names = [*CURVE, "ratio", "beta", "step", "rising", "rising_stderr", "rising_at_all", "rising_at_all_stderr"]
    ends = ["entropy", "overlap", "target_weight"]
    shares = last[[*names, *ends]].rename(columns={name: f"final_{name}" for name in ends})
    return {"checks": checks, "rising": shares.to_dict("records"), "scalars": _scalars(checks, last)}


def _scalars(checks: list[dict], last: Table) -> dict[str, float]:
    """The worst residual of every memory, and the share of rising retrievals of its first ensemble and start."""
    scalars = {}
    for entry in checks:
        for name in ("residual", "slope_residual", "descent"):
            scalars[f"{name}/{entry['memory']}"] = entry[name]
    first = (last["ensemble"] == last["ensemble"].iloc[0]) & (last["corruption"] == last["corruption"].iloc[0])
    for row in last[first].to_dict("records"):
        name = f"rising/{row['memory']}/{row['ratio']:g}"
        scalars |= headline(name, row["rising"], row["rising_stderr"])
    return scalars
