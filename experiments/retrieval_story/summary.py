"""Summary of the stories: how each of them ends, by name."""

from collections.abc import Mapping
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas

from experiments.contract import Summary, Table
from experiments.retrieval_story.config import STORED, STORY, decode, plain_name
from experiments.shared.memories import find
from experiments.statistics.estimates import tidy

SAME = 0.95
"""Overlap from which on a state is a pattern, or a mixture."""
PRESENT = 0.05
"""Weight from which on a pattern is part of a mixture of real states."""
STILL = 1e-3
"""Length of a step, of a pattern's, below which a state stands still."""
ROUNDING = 1e-4
"""A growth of the energy below this share of its range is none."""
STORIES = ["memory", "beta", "target", "corruption"]


def summarise(table: Table) -> Summary:
    """Every story with its end, shares of starts retrieved and of stationary ends, and the number of energy rises."""
    named = table.loc[table["part"] != STORED, "memory"].unique()
    ensembles = {memory: find(memory).ensemble for memory in named}
    table = with_ensembles(table, ensembles)
    stories = [_story(table, part) for _, part in courses(table)]
    told = {
        "retrieved": np.mean([story["end"] == "retrieved" for story in stories]),
        "mixtures": np.mean([story["end"].startswith("mixture") for story in stories]),
        "standing still": np.mean([story["still"] for story in stories]),
        "energy rises": sum(story["rises"] for story in stories),
    }
    estimates = [{"quantity": name, "value": float(value), "headline": True} for name, value in told.items()]
    frame = pandas.DataFrame(stories).assign(still=lambda rows: rows["still"].astype(float))
    estimates += tidy(
        frame, STORIES, {name: f"{name} at the end" for name in ("overlap", "entropy")} | {"steps": "steps"}
    )
    return Summary(estimates, more={"stories": stories, "ensembles": ensembles})


def courses(table: Table):
    """The rows of each story with its keys, in the order of the table."""
    return table[table["part"] == STORY].groupby(STORIES, sort=False, dropna=False)


def with_ensembles(table: Table, ensembles: Mapping[str, str]) -> Table:
    """Table with a column of the ensemble of each row's patterns, which a stored pattern names instead of a memory."""
    return table.assign(ensemble=table["memory"].map(lambda memory: ensembles.get(memory, memory)))


def patterns(table: Table, kind: str) -> np.ndarray:
    """The stored digits of a kind [M, N]."""
    rows = table[(table["part"] == STORED) & (table["memory"] == kind)].sort_values("target")
    return np.array([decode(text) for text in rows["state"]])


def _story(table: Table, part: Table) -> dict[str, Any]:
    part = part.sort_values("step")
    first, last = part.iloc[0], part.iloc[-1]
    stored = patterns(table, first["ensemble"])
    energy = part["energy"].to_numpy()
    moving = part.loc[part["step_size"] >= STILL, "step"]
    return {
        "memory": first["memory"],
        "beta": None if np.isnan(first["beta"]) else float(first["beta"]),
        "label": plain_name(first["memory"], float(first["beta"])),
        "target": int(first["target"]),
        "corruption": first["corruption"],
        "end": ending(last, stored),
        "overlap": float(last["overlap"]),
        "entropy": float(last["entropy"]),
        "steps": 0 if moving.empty else int(moving.max()) + 1,
        "still": bool(last["step_size"] < STILL),
        "rises": int(np.sum(np.diff(energy) > ROUNDING * max(np.ptp(energy), 1.0))),
    }


def ending(row: Any, stored: np.ndarray) -> str:
    """Name of the last state of a story; a mixture of all spins has the sign of most patterns.

    Args:
        row: its row.
        stored: the stored patterns [M, N].
    """
    state, target = decode(row["state"]), int(row["target"])
    overlaps = stored @ state / state.size
    nearest = int(np.argmax(overlaps))
    if overlaps[target] >= SAME:
        return "retrieved"
    if overlaps[nearest] >= SAME:
        return f"digit {nearest}"
    if -overlaps.min() >= SAME:
        return f"negative of digit {int(np.argmin(overlaps))}"
    if row["ensemble"] != "spins":
        present = np.flatnonzero(decode(row["weights"]) >= PRESENT)
        names = " + ".join(map(str, present)) if len(present) <= 4 else f"{len(present)} digits"
        return f"mixture of {'all' if len(present) == len(stored) else names}"
    majority = np.sign(stored.sum(axis=0))
    if np.mean(majority[majority != 0] * state[majority != 0]) == 1.0:  # where as many are up as down, either will do
        return "mixture of all"
    best, name = max((_nearest_mixture(state, stored, size) for size in (3, 5)), key=lambda mixture: mixture[0])
    return f"mixture {name}" if best >= SAME else "spurious"


def _nearest_mixture(state: np.ndarray, stored: np.ndarray, size: int) -> tuple[float, str]:
    """The mixture sign(Σ ±ξ) of `size` of the seven patterns nearest to a state that lies nearest to it."""
    overlaps = stored @ state / state.size
    near, best = np.argsort(-np.abs(overlaps))[:7], (-1.0, "")
    for chosen in combinations(sorted(near), min(size, len(stored))):
        for signs in product((1, -1), repeat=len(chosen)):
            agreement = float(np.mean(np.sign(np.array(signs) @ stored[list(chosen)]) * state))
            words = " ".join(f"{'+' if sign > 0 else '−'} {number}" for sign, number in zip(signs, chosen, strict=True))
            best = max(best, (agreement, words.removeprefix("+ ")))
    return best
