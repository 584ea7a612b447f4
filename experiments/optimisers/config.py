"""Options of the comparison of optimisers: rules, batches, search and sizes."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import Use, both, includes
from experiments.columns import Column, shared
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
PROBLEMS = ("memory", "digits", "convolutions")
OF_MEMORY = Use("problem is memory", lambda config: config.problem == "memory")


@dataclass
class Config(contract.Config):
    """Options of the comparison of optimisers."""

    problem: str = option("memory", "memory, or what reads digits: digits is a transformer", among=PROBLEMS)
    rules: list[str] = option(["adam", "lbfgs", "cholesky"], among=RULES, nonempty=True, axis=True)
    conditioning: list[float] = grid_axis(
        [1.0, 30.0],
        "largest over smallest standard deviation of the inputs",
        least=1,
        most=1e4,
        used_when=OF_MEMORY,
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
    features: int = option(8, "width N of the inputs", least=1, used_when=OF_MEMORY)
    patterns: int = option(6, "stored patterns M", used_when=OF_MEMORY)
    classes: int = option(3, "classes of the patterns", least=2, used_when=OF_MEMORY)
    examples: int = option(512, "examples to fit", used_when=OF_MEMORY)
    held: int = option(512, "examples held out", least=1, used_when=OF_MEMORY)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.classes <= self.patterns:
            raise ValueError(f"classes must lie between 2 and the {self.patterns} patterns, got {self.classes}")
        if not 1 <= self.batch_size <= self.examples:
            raise ValueError(f"batch_size must lie between 1 and the {self.examples} examples, got {self.batch_size}")


COLUMNS = shared("rule", "sample") | {
    "batch": Column("full or mini", kind=str),
    "conditioning": Column("widest over narrowest input"),
    "rate": Column("learning rate"),
    "friction": Column("1 − momentum"),
    "damping": Column("damping that was chosen; what its rule starts from"),
    "curvature": Column("of L-BFGS: tolerance of the slope in its line search"),
    "memory": Column("of L-BFGS: updates that it keeps", "count"),
    "edge": Column("numbers that the search chose at an end of their range", kind=str),
    "tuned": Column("whether trials reached the target", kind=bool),
    "search_trials": Column("trials that chose the numbers", "count", kind=int),
    "search_trials_diverged": Column("trials that diverged", "count", kind=int),
    "diverged": Column("whether the loss ended infinite, NaN or at ten times that of the start", kind=bool),
    "optimum": Column("least loss known", "nats"),
    "target": Column("loss to reach", "nats"),
    "steps": Column("steps to the target; empty where it was not reached", "count", kind=int),
    "steps_done": Column("steps of the run", "count", kind=int),
    "loss": Column("loss at the end", "nats"),
    "held_loss": Column("loss on held-out examples at the target, or at the end", "nats"),
    "held_accuracy": Column("accuracy on held-out examples at the target, or at the end", "0 to 1"),
    "held_best": Column("least loss on held-out examples along the way", "nats"),
    "last_damping": Column("damping at the target, or at the end"),
    "iterations": Column("iterations of the solver, mean over steps up to the target", "count"),
    "accepted": Column("share of steps up to the target that were accepted", "0 to 1"),
    "residual": Column("what the solver left over, relative, mean over steps up to the target"),
    "seconds": Column("wall time to the target, median of repetitions; _low and _high their range", "s"),
    "step_seconds": Column("wall time of a step", "s"),
    "product_ratio": Column(
        "time of a Fisher-vector product over that of a gradient; product_low and product_high its range"
    ),
    "product_low": Column("least product_ratio of repetitions"),
    "product_high": Column("largest product_ratio of repetitions"),
    "curve": Column("the run: losses by step, as JSON", kind=str),
}
