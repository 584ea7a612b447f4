"""What training runs came to: the run that validation chooses in every trial, beside the baselines."""

from typing import Any

import numpy as np

from experiments import training_settings
from experiments.training_settings import BASELINES

KIND, RUN = list(training_settings.KIND), list(training_settings.RUN)
TESTED = 0.2 / 0.6
"""Test samples of a split for every training sample."""
Table = Any
"""A pandas.DataFrame, whose columns no type checker knows."""


def chosen(table: Table) -> Table:
    """The last row of every baseline, and of the run of lowest validation loss of every kind and trial."""
    last = table.sort_values("epoch", kind="stable").copy().groupby(RUN, as_index=False, sort=False).last()
    if "best_loss" not in last:
        return last
    loss = last["best_loss"].fillna(np.inf)  # baselines have none, and no rival either
    return last.loc[loss.groupby([last[name] for name in (*KIND, "trial")], sort=False).idxmin()]


def summary(table: Table) -> dict:
    """Results per kind of run; `paired`: test accuracy less the baseline's on the same split, mean, error and p.

    Of runs that differ in rate, damping or noise alone each trial takes that of lowest validation loss. Where a task
    has several kinds of run, layer "chosen" stands for the kind of lowest validation loss of each trial. Trials split
    the same samples anew, so that leads are not independent: the variance of their mean has 1/n + TESTED in place of
    1/n, and p is that of Student's paired test of equal means, two-sided, with it (Nadeau & Bengio 2003);
    `p_independent` is the plain test's. Both are NaN with fewer than two trials or no difference anywhere.
    """
    best = chosen(table)
    results, scalars = [], {}
    for kind, rows in best.groupby(KIND, sort=False):
        entry = dict(zip(KIND, kind, strict=True)) | {"trials": len(rows)}
        name = _name(entry)
        for measure in ("test_accuracy", "test_auc"):
            if measure in rows and rows[measure].notna().all():
                values = rows[measure].to_numpy(float)
                entry |= {measure: float(values.mean()), f"{measure}_stderr": _stderr(values)}
                scalars |= {f"{measure}/{name}": float(values.mean()), f"{measure}/{name}/stderr": _stderr(values)}
        results.append(entry)
    paired = _paired(best)
    for entry in paired:
        name, baseline = _name(entry), entry["baseline"]
        scalars[f"lead_on_{baseline}/{name}"] = entry["lead"]
        scalars[f"lead_on_{baseline}/{name}/stderr"] = entry["lead_stderr"]
        scalars[f"p_of_lead_on_{baseline}/{name}"] = entry["p"]
    return {"scalars": scalars, "results": results, "paired": paired}


def _name(entry: dict) -> str:
    return "/".join(str(entry[part]) for part in KIND if entry[part] != "none")


def _stderr(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _paired(best: Table) -> list[dict]:
    """Leads of every kind of run on every baseline, trial by trial."""
    from scipy import stats

    ours = best[~best["layer"].isin(BASELINES)]
    kinds = list(ours.groupby(KIND, sort=False))
    for task, rows in ours.groupby("task", sort=False):
        if len(rows[KIND].drop_duplicates()) > 1:
            top = rows.sort_values("best_loss", kind="stable").groupby("trial", as_index=False).first()
            kinds.append(((task, "chosen", "none", "none", "none"), top))
    found = []
    for kind, rows in kinds:
        for baseline in BASELINES:
            other = best[(best["layer"] == baseline) & (best["task"] == kind[0])]
            both = rows.merge(other, on="trial", suffixes=("", "_other"))
            if both.empty:
                continue
            mine, theirs = (both[name].to_numpy(float) for name in ("test_accuracy", "test_accuracy_other"))
            lead = mine - theirs
            wider = float(np.sqrt(1.0 + len(lead) * TESTED))
            t = lead.mean() / _stderr(lead) if len(lead) > 1 and np.ptp(lead) > 0 else float("nan")
            p, plain = (float(2.0 * stats.t.sf(abs(x), max(len(lead) - 1, 1))) for x in (t / wider, t))
            entry = dict(zip(KIND, kind, strict=True)) | {"baseline": baseline, "trials": len(lead)}
            entry |= {"lead": float(lead.mean()), "lead_stderr": wider * _stderr(lead)}
            found.append(entry | {"p": p, "p_independent": plain})
    return found
