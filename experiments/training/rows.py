"""Rows of a training, one per epoch: losses, accuracies, observables of the heads, and whether the run diverged."""

from typing import Any

import numpy as np

from experiments.contract import Row
from experiments.statistics import ranking
from experiments.training.tasks import Split

RISE = 10.0
"""Multiple of the loss before any training beyond which a run has diverged."""


def with_divergence(row: Row, rows: list[Row]) -> dict:
    """Row with the column `diverged`; the test results of a diverged run are NaN."""
    start = (rows or [row])[0]["loss"]
    losses = [row["loss"]] + [row["train_loss"]] * bool(rows)  # nothing was trained before the first row
    diverged = not all(loss <= RISE * start < float("inf") for loss in losses)
    lost = {"test_accuracy": float("nan"), "test_auc": float("nan")} if diverged else {}
    return row | {"diverged": diverged} | lost


def columns_of_epoch(found: dict, data: Split, number: int, rows: list[Row]) -> Row:
    """Validation, test at the best epoch so far, and what the heads of all members do."""
    loss, logits, seen = float(found["loss"]), found["logits"], found["seen"]
    row = {
        "loss": loss,
        "accuracy": _accuracy(logits, data.validation.targets),
        "auc": auc(logits, data.validation.targets),
        "diversity": float(seen.pop("diversity").mean()),
        "condition": float(np.max(seen["metric_largest"] / np.maximum(seen["metric_smallest"], 1e-30))),
    }
    row |= {f"{name}_{head}": float(v) for name, values in seen.items() for head, v in enumerate(values.ravel())}
    if not rows or loss < rows[-1]["best_loss"]:
        final = found["final"]
        right = _accuracy(final, data.test.targets)
        best = {"best_epoch": number, "best_loss": loss, "test_accuracy": right}
        return row | best | {"test_auc": auc(final, data.test.targets)}
    return row | {name: rows[-1][name] for name in ("best_epoch", "best_loss", "test_accuracy", "test_auc")}


def diagnostics(state: Any) -> dict[str, float]:
    """Diagnostics of an optimiser's last step, NaN if it keeps nothing of the kind."""
    names = ("residual", "iterations", "damping", "accepted", "finite")
    return {f"optimiser_{name}": _number(getattr(state, name, None)) for name in names}


def _number(value: Any) -> float:
    """A real number or truth value, NaN for anything else: nothing, a vector, a tree, a key."""
    kind = getattr(value, "dtype", None)
    return float(value) if kind is not None and kind.kind in "biuf" and value.shape == () else float("nan")


def auc(scores: np.ndarray, targets: np.ndarray) -> float:
    """Area under the ROC curve of class 1 against class 0. NaN for another number of classes and scores not finite."""
    if scores.shape[1] != 2 or not np.isfinite(scores).all():
        return float("nan")
    return ranking.auc(scores[:, 1] - scores[:, 0], targets)


def _accuracy(logits: np.ndarray, targets: np.ndarray) -> float:
    """Share of the largest logits at the targets. NaN for logits of NaN."""
    return float(np.mean(logits.argmax(axis=1) == targets)) if np.isfinite(logits).all() else float("nan")
