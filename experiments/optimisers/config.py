"""Options of the comparison of optimisers: rules, batches, search and sizes."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import both, includes
from experiments.contract import grid_axis, option

KINDS = {
    "first-order": ("sgd", "adam"),
    "quasi-Newton": ("lbfgs",),
    "natural": ("cg", "cholesky", "kernel", "kronecker", "diagonal"),
    "matrix": ("muon",),
}
RULES = tuple(rule for rules in KINDS.values() for rule in rules)
NATURAL = KINDS["natural"]
RIVALS = {kind: rules for kind, rules in KINDS.items() if rules is not NATURAL}
"""Rules that natural gradients are compared with, by kind."""
BATCHES = ("full", "mini")


@dataclass
class Config(contract.Config):
    """Options of the comparison of optimisers."""

    rules: list[str] = option(["adam", "lbfgs", "cholesky"], among=RULES, nonempty=True, axis=True)
    conditioning: list[float] = grid_axis(
        [1.0, 30.0], "largest over smallest standard deviation of the inputs", least=1, most=1e4
    )
    batches: list[str] = option(["full"], "full, mini or both", among=BATCHES, nonempty=True, axis=True)
    batch_size: int = option(32, "examples of a mini-batch", least=1, used_when=includes("batches", "mini"))
    samples: int = option(2, "problems measured", least=1, extends=True)
    tuning: int = option(1, "further problems, not measured, that rules are tuned on", least=1)
    search_trials: int = option(4, "trials of every rule's numbers", least=1)
    steps: int = option(
        400,
        "steps of a run at most, but for natural gradients",
        least=1,
        used_when=includes("rules", *sum(RIVALS.values(), ())),
    )
    natural_steps: int = option(
        50,
        "the same for natural gradients in full batches",
        least=1,
        used_when=both(includes("rules", *NATURAL), includes("batches", "full")),
    )
    mini_steps: int = option(
        400,
        "the same for natural gradients in mini-batches",
        least=1,
        used_when=both(includes("rules", *NATURAL), includes("batches", "mini")),
    )
    tolerance: float = option(0.01, "distance of the target from the optimum, of the gain", above=0, below=1)
    repeats: int = option(3, "timed runs to the target; the median counts", least=1)
    features: int = option(8, "width N of the inputs", least=1)
    patterns: int = option(6, "stored patterns M")
    classes: int = option(3, "classes of the patterns", least=2)
    examples: int = option(512, "examples to fit")
    held: int = option(512, "examples held out", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.classes <= self.patterns:
            raise ValueError(f"classes must lie between 2 and the {self.patterns} patterns, got {self.classes}")
        if not 1 <= self.batch_size <= self.examples:
            raise ValueError(f"batch_size must lie between 1 and the {self.examples} examples, got {self.batch_size}")
