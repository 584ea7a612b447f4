"""Options of the comparison of optimisers: rules, batches, search and sizes."""

from dataclasses import dataclass, field

from experiments import contract
from experiments.bounds import both, chosen
from experiments.contract import about

RULES = ("sgd", "adam", "lbfgs", "cg", "cholesky", "kernel", "kronecker", "diagonal")
FIRST, NATURAL = RULES[:2], RULES[3:]
BATCHES = ("full", "mini")


@dataclass
class Config(contract.Config):
    """Options of the comparison of optimisers."""

    rules: list[str] = field(
        default_factory=lambda: ["adam", "lbfgs", "cholesky"],
        metadata=about(f"any of {', '.join(RULES)}", among=RULES, nonempty=True, axis=True),
    )
    conditioning: list[float] = field(
        default_factory=lambda: [1.0, 30.0],
        metadata=about(
            "largest over smallest standard deviation of the inputs", least=1, most=1e4, nonempty=True, extends=True
        ),
    )
    batches: list[str] = field(
        default_factory=lambda: ["full"], metadata=about("full, mini or both", among=BATCHES, nonempty=True, axis=True)
    )
    batch_size: int = field(
        default=32,
        metadata=about("examples of a mini-batch", least=1, formerly="batch", used_when=chosen("batches", "mini")),
    )
    samples: int = field(default=2, metadata=about("problems measured", least=1, extends=True))
    tuning: int = field(default=1, metadata=about("further problems, not measured, that rules are tuned on", least=1))
    search_trials: int = field(default=4, metadata=about("trials of every rule's numbers", least=1, formerly="trials"))
    steps: int = field(default=400, metadata=about("steps of a run at most", least=1))
    natural_steps: int = field(
        default=50,
        metadata=about(
            "the same for natural gradients in full batches",
            least=1,
            used_when=both(chosen("rules", *NATURAL), chosen("batches", "full")),
        ),
    )
    mini_steps: int = field(
        default=400,
        metadata=about(
            "the same for natural gradients in mini-batches",
            least=1,
            used_when=both(chosen("rules", *NATURAL), chosen("batches", "mini")),
        ),
    )
    tolerance: float = field(
        default=0.01, metadata=about("distance of the target from the optimum, of the gain", above=0, below=1)
    )
    repeats: int = field(default=3, metadata=about("timed runs to the target; the median counts", least=1))
    features: int = field(default=8, metadata=about("width N of the inputs", least=1))
    patterns: int = field(default=6, metadata=about("stored patterns M"))
    classes: int = field(default=3, metadata=about("classes of the patterns", least=2))
    examples: int = field(default=512, metadata=about("examples to fit"))
    held: int = field(default=512, metadata=about("examples held out", least=1))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.classes <= self.patterns:
            raise ValueError(f"classes must lie between 2 and the {self.patterns} patterns, got {self.classes}")
        if not 1 <= self.batch_size <= self.examples:
            raise ValueError(f"batch_size must lie between 1 and the {self.examples} examples, got {self.batch_size}")
