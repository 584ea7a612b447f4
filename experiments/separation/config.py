"""Options of the comparison of separations, and the columns that tell its rows apart."""

from dataclasses import dataclass, field
from typing import Any

from experiments import contract
from experiments.bounds import Use, chosen, judged
from experiments.contract import about

DYNAMICS = ("single", "iterated")
PAIR = ["dynamics", "similarity", "separation"]
TASK = ["ensemble", "patterns", "corruption"]
BOUND = ("visible", "bayes")
"""The pair that stands for the best possible read-out, told which pixels were hidden and how strong the noise is."""
_TUNED = judged("one of separations depends on β", "any_beta")


@dataclass
class Config(contract.Config):
    """Options of the comparison."""

    ensembles: list[str] = field(
        default_factory=lambda: ["digits"],
        metadata=about(
            "images: digits, photographs, or .npy or .npz files",
            nonempty=True,
            meaning="ensemble",
            formerly="sources",
            axis=True,
        ),
    )
    similarities: list[str] = field(
        default_factory=lambda: ["dot", "euclidean"],
        metadata=about(
            "any of dot, cosine, correlation, euclidean, manhattan",
            nonempty=True,
            used_when=judged("each goes with one of separations", "all_similarities_paired"),
            axis=True,
        ),
    )
    separations: list[str] = field(
        default_factory=lambda: ["rectified:2", "softmax", "max"],
        metadata=about(
            "any of rectified:n, softmax, entmax:a, sparsemax, normmax:a, top_k:k, epanechnikov, max",
            nonempty=True,
            numbered=True,
            meaning="separation",
            used_when=judged("each goes with one of similarities", "all_separations_paired"),
            axis=True,
        ),
    )
    dynamics: list[str] = field(
        default_factory=lambda: ["single"],
        metadata=about(
            "single, iterated or both; the second at the largest M alone",
            among=DYNAMICS,
            nonempty=True,
            used_when=judged("each goes with a pair of the others", "all_dynamics_paired"),
            axis=True,
        ),
    )
    patterns: list[int] = field(
        default_factory=lambda: [10, 40],
        metadata=about(
            "numbers of stored images M",
            least=2,
            nonempty=True,
            used_when=Use(
                "across is given for all but the largest",
                lambda config: bool(config.across) or len(set(config.patterns)) == 1,
            ),
            axis=True,
        ),
    )
    corruption: list[Any] = field(
        default_factory=lambda: ["lower:0.5", "noise:0.4"],
        metadata=about(
            "queries at the largest M: mask:, lower: (fraction blackened) or noise:deviation",
            nonempty=True,
            meaning="corruption",
            axis=True,
        ),
    )
    across: list[Any] = field(
        default_factory=lambda: ["noise:0.4"],
        metadata=about("queries at every M, of the same kinds", meaning="corruption", axis=True),
    )
    samples: int = field(default=3, metadata=about("draws of stored images", least=1, extends=True))
    tuning: int = field(
        default=1, metadata=about("further draws, not measured, that β is tuned on", least=1, used_when=_TUNED)
    )
    queries: int = field(default=16, metadata=about("images asked for in each draw", least=1))
    sharpness: list[float] = field(
        default_factory=lambda: [1.0, 10.0, 100.0, 1000.0],
        metadata=about(
            "β to choose from, in units of 1 / mean lead of an image's own score",
            above=0,
            nonempty=True,
            used_when=_TUNED,
        ),
    )
    threshold: float = field(default=0.05, metadata=about("error that counts as close", above=0, below=1))
    max_steps: int = field(
        default=20,
        metadata=about(
            "read-outs of one iterated retrieval at most", least=1, used_when=chosen("dynamics", "iterated")
        ),
    )
