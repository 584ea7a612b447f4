"""Options of learned memories, and the names of what is compared."""

from dataclasses import dataclass
from typing import NamedTuple

from experiments import contract
from experiments.bounds import Use, includes
from experiments.columns import Column, shared
from experiments.contract import option

SIMILARITIES = ("dot", "distance", "manhattan")
FIXED = ("identity", "whitening", "matched", "projection")
LEARNED = ("diagonal", "low_rank", "definite", "full")
FAMILIES = ("softmax", "entmax", "power", "network", "linear")
READINGS = ("single", "iterated")
OPTIMISERS = ("adam", "natural")
RANDOM = ("gaussian", "biased", "correlated")
"""Ensembles of any width."""
BEFORE = "none"
"""Optimiser of a memory before it learns."""
LEVEL = 0.05
"""Mean error up to which patterns count as held: an answer midway to another pattern has 0.25."""
KIND = ["similarity", "metric", "separation", "dynamics"]
TRAINED = ["task", *KIND, "optimiser", "draws"]
"""Columns that tell one training from another, but for its seed."""


class Kind(NamedTuple):
    """Parts of a memory. Learned are β, the numbers of the family, and the metric if it is one of LEARNED."""

    similarity: str
    metric: str
    separation: str
    dynamics: str = "single"

    def __str__(self) -> str:
        return "/".join(self if self.dynamics != READINGS[0] else self[:3])


def kind(text: str, option: str = "memories") -> Kind:
    """The memory of "similarity/metric/separation" or "similarity/metric/separation/iterated".

    Args:
        text: it.
        option: the one that names it, for the ValueError that tells of another text.
    """
    parts = text.split("/")
    among = (SIMILARITIES, FIXED + LEARNED, FAMILIES, READINGS)
    known = len(parts) in (3, 4) and all(part in names for part, names in zip(parts, among, strict=False))
    plain = known and (parts[0] != "manhattan" or parts[1] == "identity")
    if not plain or parts[3:] == [READINGS[0]]:
        listed = ", ".join("|".join(names) for names in among[:3])
        raise ValueError(f"{option} must be similarity/metric/separation[/iterated] of {listed}, got {text!r}")
    return Kind(*parts)


@dataclass
class Config(contract.Config):
    """Options of learned memories; the defaults are smoke scale."""

    tasks: list[str] = option(
        ["gaussian:1/noise:1.5"],
        "ensemble/corruption: gaussian:EXPONENT, biased:MEAN, correlated:LENGTH, digits, photographs; noise:, flip:,"
        " mask:, lower:",
        nonempty=True,
        axis=True,
    )
    memories: list[str] = option(
        ["dot/identity/softmax", "dot/definite/softmax"],
        "similarity/metric/separation, with /iterated where the answer is a fixed point; the similarity distance is"
        " hopfield's squared_distance",
        nonempty=True,
        axis=True,
    )
    further: list[str] = option(
        [],
        "memories of the first task alone",
        used_when=Use("tasks has others", lambda config: len(config.tasks) > 1),
        axis=True,
    )
    optimisers: list[str] = option(["adam", "natural"], among=OPTIMISERS, nonempty=True, axis=True)
    patterns: list[int] = option([4, 32], "patterns M that are held", least=2, most=2**14, nonempty=True, axis=True)
    strengths: list[float] = option(
        [0.5, 1.5], "corruptions of a basin, in units of the one learned from", above=0, most=100, axis=True
    )
    samples: int = option(2, "trainings, each with draws of its own", least=1, extends=True)
    neurons: int = option(
        8,
        "components N of random patterns",
        least=2,
        most=512,
        used_when=Use(
            f"tasks has one of {', '.join(RANDOM)}",
            lambda config: any(text.partition("/")[0].partition(":")[0] in RANDOM for text in config.tasks),
        ),
    )
    stored: int = option(16, "patterns M of a draw that is learned from", least=2, most=2**14)
    draws: int = option(8, "draws that are learned from", least=1, most=4096, axis=True)
    fewer: list[int] = option(
        [1],
        "fewer draws, which memories of `overfitted` learn from too",
        least=1,
        used_when=Use("overfitted is given", lambda config: bool(config.overfitted)),
        axis=True,
    )
    overfitted: list[str] = option(
        ["dot/definite/softmax"],
        "memories of all tasks that learn from fewer draws too",
        used_when=Use("fewer is given", lambda config: bool(config.fewer)),
        axis=True,
    )
    steps: int = option(30, "steps of learning", least=1, most=10**6)
    batch_size: int = option(16, "corrupted patterns of a step, all of one draw", least=1, most=2**14)
    adam_rates: list[float] = option(
        [0.03],
        "rates of Adam, chosen among by the error on further draws that are not measured",
        above=0,
        nonempty=True,
        used_when=includes("optimisers", "adam"),
    )
    natural_rates: list[float] = option(
        [0.3], "the same of natural gradients", above=0, nonempty=True, used_when=includes("optimisers", "natural")
    )
    damping: float = option(
        0.03, "damping of natural gradients", above=0, most=1e6, used_when=includes("optimisers", "natural")
    )
    held: int = option(2, "draws that are measured after each training, and not learned from", least=1, most=1024)
    queries: int = option(8, "patterns asked for in each of them", least=1, most=2**14)
    max_steps: int = option(
        20,
        "updates of an iterated answer at most",
        least=1,
        most=10_000,
        used_when=Use(
            "memories has one that is iterated",
            lambda config: any(
                kind(name).dynamics == "iterated"
                for name in (*config.memories, *config.further, *(config.overfitted if config.fewer else []))
            ),
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for names in ("memories", "further", "overfitted"):
            for name in getattr(self, names):
                kind(name, names)
        if self.fewer and max(self.fewer) >= self.draws:
            raise ValueError(f"fewer must be below draws, {self.draws}, got {self.fewer}")


COLUMNS = shared(
    "task",
    "similarity",
    "metric",
    "separation",
    "dynamics",
    "optimiser",
    "data",
    "patterns",
    "sample",
    "entropy",
    "seconds",
    "beta",
) | {
    "draws": Column("draws of patterns that were learned from", "count", kind=int),
    "strength": Column("strength of the corruption"),
    "error": Column("squared error of the answer, in units of the mean squared distance of two patterns"),
    "identified": Column("share of queries nearer to their pattern than to any other", "0 to 1"),
    "rate": Column("learning rate that was chosen"),
    "further_error": Column("error on further draws, by which the rate was chosen"),
    "number": Column("number of the separation's family that was learned"),
    "cosine_identity": Column("cosine of the learned metric with the identity", "−1 to 1"),
    "cosine_whitening": Column(
        "cosine of the learned metric with the inverse second moment of the patterns", "−1 to 1"
    ),
    "cosine_matched": Column(
        "cosine of the learned metric with the inverse second moment of the corrupted patterns", "−1 to 1"
    ),
}
