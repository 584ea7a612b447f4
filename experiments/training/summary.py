"""Summary of training runs: the run that validation chooses in every seed, beside the baselines."""

from typing import Any

import numpy as np
from scipy import stats

from experiments.contract import Row, Summary, Table
from experiments.statistics.clusters import standard_error
from experiments.training.config import BASELINES, KIND, RUN

TESTED = 0.2 / 0.6
"""Test samples of a split for every training sample."""


def last_rows(table: Table) -> Table:
    """The last row of every run and baseline, in the order of the table."""
    return table.loc[table.groupby(RUN, sort=False)["epoch"].idxmax()]


def best_rows(table: Table) -> Table:
    """The last row of every baseline, and of the run of lowest validation loss of every kind and seed.

    A run that diverged comes after all that did not, and is there alone where no other is.
    """
    ends = last_rows(table)
    return ends.loc[_rank(ends).groupby([ends[name] for name in (*KIND, "seed_index")], sort=False).idxmin()]


def _rank(ends: Table) -> Any:
    """Rank, whose lowest is chosen: the best validation loss; infinite for diverged runs and for baselines."""
    loss = ends["best_loss"] if "best_loss" in ends else ends["epoch"] * np.nan
    return loss.where(~ends["diverged"].astype(bool), np.inf).fillna(np.inf)


def summarise(table: Table) -> Summary:
    """Results per kind of run, and leads: test accuracy less the baseline's on the same split, mean, error and p.

    Of runs that differ in rate, damping, decay or noise alone each seed takes the one of lowest validation loss among
    those that did not diverge. `diverged_runs` of all `runs` did, and `diverged` counts the seeds whose runs all did:
    where there is one, the kind has no accuracy, AUC or lead (NaN). `untrained` counts seeds whose result is the
    start's, which no epoch improved on. Estimates say where either is the case. Where a task has several kinds of
    run, layer "chosen" stands for the kind of lowest validation loss of each seed. Seeds split the same samples anew,
    so that leads are not independent: the variance of their mean has 1/n + TESTED instead of 1/n, and p comes from
    Student's paired test of equal means, two-sided, with it (Nadeau & Bengio 2003); the p with independent seeds
    is the plain test's. Both are NaN with fewer than two seeds or no difference anywhere.
    """
    best = best_rows(table)
    ran = last_rows(table).groupby(KIND, sort=False)["diverged"].agg(["sum", "size"])
    results, estimates = [], list[Row]()
    for kind, rows in best.groupby(KIND, sort=False):
        entry = dict(zip(KIND, kind, strict=True)) | {"seeds": len(rows), "diverged": int(rows["diverged"].sum())}
        entry |= {"runs": int(ran.loc[kind, "size"]), "diverged_runs": int(ran.loc[kind, "sum"])}
        entry["untrained"] = int((rows["best_epoch"] == 0).sum()) if "best_epoch" in rows else 0
        about = dict(zip(KIND, kind, strict=True))
        for measure in ("test_accuracy", "test_auc"):
            # An AUC is there for two classes alone; a seed without a result leaves none of the mean.
            if measure in rows and rows.loc[~rows["diverged"].astype(bool), measure].notna().all():
                values = rows[measure].to_numpy(float)
                mean, stderr = float(values.mean()), standard_error(values)
                found = {"value": mean, "stderr": stderr, "samples": len(rows), "headline": True}
                estimates.append({"quantity": measure.replace("_", " "), **about, **found})
        results.append(entry)
    return Summary([*estimates, *_leads_on_baselines(best), *_warnings(results)], more={"results": results})


def _warnings(results: list[dict]) -> list[Row]:
    """Warnings about kinds with runs that diverged, and with results of no training."""
    said = []
    for entry in results:
        about, seeds = {name: entry[name] for name in KIND} | {"headline": True}, f"{entry['seeds']} seeds"
        if entry["diverged_runs"]:
            left = f", no result in {entry['diverged']} of {seeds}" if entry["diverged"] else ""
            text = f"{entry['diverged_runs']} of {entry['runs']} runs{left}"
            said.append({"quantity": "diverged", **about, "said": text})
        if entry["untrained"]:
            text = f"the start is the best epoch of {entry['untrained']} of {seeds}"
            said.append({"quantity": "untrained", **about, "said": text})
    return said


def _leads_on_baselines(best: Table) -> list[dict]:
    """Leads of every kind of run on every baseline, seed by seed."""
    ours = best[~best["layer"].isin(BASELINES)]
    kinds = list(ours.groupby(KIND, sort=False))
    for task, rows in ours.groupby("task", sort=False):
        if len(rows[KIND].drop_duplicates()) > 1:
            top = rows.loc[_rank(rows).groupby(rows["seed_index"]).idxmin()]
            kinds.append(((task, "chosen", "none", "none", "none"), top))
    found = []
    for kind, rows in kinds:
        for baseline in BASELINES:
            other = best[(best["layer"] == baseline) & (best["task"] == kind[0])]
            both = rows.merge(other, on="seed_index", suffixes=("", "_other"))
            if both.empty:
                continue
            mine, theirs = (both[name].to_numpy(float) for name in ("test_accuracy", "test_accuracy_other"))
            lead = np.round(mine - theirs, 12)  # equal leads of different accuracies differ in their last bits
            wider = float(np.sqrt(1.0 + len(lead) * TESTED))
            t: Any = stats.ttest_1samp(lead, 0.0)[0] if len(lead) > 1 and np.ptp(lead) > 0 else float("nan")
            p, plain = (float(2.0 * stats.t.sf(abs(x), max(len(lead) - 1, 1))) for x in (t / wider, t))
            about = dict(zip(KIND, kind, strict=True)) | {"over": baseline, "samples": len(lead)}
            mean = {"value": float(lead.mean()), "stderr": wider * standard_error(lead)}
            found.append({"quantity": "lead", **about, **mean, "headline": True})
            found.append({"quantity": "p of the lead", **about, "value": p, "headline": True})
            found.append({"quantity": "p of the lead, seeds independent", **about, "value": plain})
    return found
