"""Options of the comparison of separations, and the columns that identify its rows."""

from dataclasses import dataclass
from typing import Any

from experiments import contract
from experiments.bounds import Use, decided_by, includes
from experiments.columns import Column, shared
from experiments.contract import option

READINGS = ("single", "iterated")
PAIR = ["dynamics", "similarity", "separation"]
TASK = ["ensemble", "patterns", "corruption"]
BOUND = ("visible", "bayes")
"""The pair that stands for the best possible read-out, which knows the hidden pixels and the strength of the noise."""
_TUNED = decided_by("one of separations depends on β", "any_beta")


@dataclass
class Config(contract.Config):
    """Options of the comparison."""

    ensembles: list[str] = option(
        ["digits"],
        "images: digits, photographs, or .npy or .npz files",
        meaning="ensemble",
        nonempty=True,
        axis=True,
    )
    similarities: list[str] = option(
        ["dot", "euclidean"],
        "any of dot, cosine, correlation, manhattan, euclidean: hopfield's squared_distance",
        nonempty=True,
        used_when=decided_by("each goes with one of separations", "all_similarities_paired"),
        axis=True,
    )
    separations: list[str] = option(
        ["rectified:2", "softmax", "max"],
        "any of rectified:n, softmax, entmax:a, sparsemax, normmax:a, top_k:k, epanechnikov, max",
        meaning="separation",
        nonempty=True,
        used_when=decided_by("each goes with one of similarities", "all_separations_paired"),
        axis=True,
    )
    dynamics: list[str] = option(
        ["single"],
        "single, iterated or both; the second at the largest M alone",
        among=READINGS,
        nonempty=True,
        used_when=decided_by("each goes with a pair of the others", "all_dynamics_paired"),
        axis=True,
    )
    patterns: list[int] = option(
        [10, 40],
        "numbers of stored images M",
        least=2,
        nonempty=True,
        used_when=Use(
            "across is given for all but the largest",
            lambda config: bool(config.across) or len(config.patterns) == 1,
        ),
        axis=True,
    )
    corruption: list[Any] = option(
        ["lower:0.5", "noise:0.4"],
        "queries at the largest M: mask:, lower: (fraction blackened) or noise:deviation",
        meaning="corruption",
        nonempty=True,
        axis=True,
    )
    across: list[Any] = option(["noise:0.4"], "queries at every M, of the same kinds", meaning="corruption", axis=True)
    samples: int = option(3, "draws of stored images", least=1, extends=True)
    tuning: int = option(1, "further draws, not measured, that β is tuned on", least=1, used_when=_TUNED)
    queries: int = option(16, "images asked for in each sample", least=1)
    sharpness: list[float] = option(
        [1.0, 10.0, 100.0, 1000.0],
        "β to choose from, in units of 1 / mean lead of an image's own score",
        above=0,
        nonempty=True,
        used_when=_TUNED,
    )
    threshold: float = option(0.05, "error that counts as close", above=0, below=1)
    max_steps: int = option(
        20, "read-outs of one iterated retrieval at most", least=1, used_when=includes("dynamics", "iterated")
    )


COLUMNS = shared(
    "ensemble", "patterns", "corruption", "dynamics", "similarity", "separation", "sample", "neurons", "queries"
) | {
    "sharpness_retrieved": Column("β that was tuned for retrieved, in units of the similarity's lead"),
    "sharpness_error": Column("β that was tuned for error, in units of the similarity's lead"),
    "retrieved": Column("queries that are both identified and close", "count of queries", kind=int),
    "identified": Column("queries nearer to their image than to any other", "count of queries", kind=int),
    "close": Column("queries whose error is at most threshold", "count of queries", kind=int),
    "error": Column("squared distance from the image asked for, in units of the mean squared distance of two images"),
}
