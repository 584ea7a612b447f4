"""Summary of the verification of gradients: a verdict for each number type, and the worst error of each input."""

from typing import Any

from experiments.contract import Table


def summarise(table: Table) -> dict:
    """The verdict for each number type, and the worst error of each input."""
    scalars: dict[str, Any] = {}
    for dtype, rows in table.groupby("dtype", sort=False):
        worst = rows.groupby("input", sort=False)[["autodiff", "difference"]].max()
        good = rows.groupby("input", sort=False)["passed"].agg(["sum", "size"])
        for name, row in worst.iterrows():
            scalars[f"{dtype} {name}"] = (
                f"{good.loc[name, 'sum']} of {good.loc[name, 'size']} agree, worst "
                f"{row['autodiff']:.1e} from autodiff, {row['difference']:.1e} from differences"
            )
        verdict = "verified" if rows["passed"].all() else "NOT VERIFIED"
        scalars[f"{dtype} verdict"] = f"{verdict}: {int(rows['passed'].sum())} of {len(rows)} gradients agree"
        scalars[f"{dtype}_worst_autodiff"] = float(rows["autodiff"].max())
        scalars[f"{dtype}_worst_difference"] = float(rows["difference"].max())
    case = ["dtype", "separation", "metric", "mask", "shape", "input"]
    columns = [*case, "autodiff", "difference", "tolerance", "difference_tolerance"]
    scalars |= {"gradients": len(table), "gradients_wrong": int((~table["passed"]).sum())}
    return {"wrong": table[~table["passed"]].reindex(columns=columns).to_dict("records"), "scalars": scalars}
