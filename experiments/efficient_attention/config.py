"""Options of the comparison of ways to compute attention: the methods by name, and the lengths."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import Use, chosen
from experiments.contract import option

EXACT = ("dense", "blockwise")
PLAIN = (*EXACT, "elu")
NUMBERED = ("linear", "window", "low_rank")
"""Methods that take a number: features, positions, stretches."""
PASSES = ("forward", "backward")


@dataclass
class Config(contract.Config):
    """Options of the comparison of ways to compute attention."""

    methods: list[str] = option(
        ["dense", "blockwise", "linear:32", "elu", "window:16", "low_rank:16"],
        "ways to compute it: dense, blockwise, elu, linear:m, window:w, low_rank:r",
        numbered=True,
        nonempty=True,
        axis=True,
    )
    lengths: list[int] = option([64, 128], "lengths of the sequence", least=1, nonempty=True, extends=True)
    passes: list[str] = option(
        ["forward"], "forward, or backward for both passes together", among=PASSES, nonempty=True, axis=True
    )
    width: int = option(16, "dimensions D of queries, keys and values", least=1)
    spread: float = option(0.5, "standard deviation of the components of queries and keys", above=0)
    largest_dense: int = option(
        4096,
        "length up to which all scores are held at once",
        least=1,
        used_when=Use(
            "methods has dense, or passes has forward",
            lambda config: "dense" in config.methods or "forward" in config.passes,
        ),
    )
    repeats: int = option(2, "timed runs, of which the fastest counts", least=1, formerly="repetitions")
    samples: int = option(2, "draws over which errors are averaged", least=1, used_when=chosen("passes", "forward"))

    def __post_init__(self) -> None:
        super().__post_init__()
        for method in self.methods:
            parsed(method)


def parsed(method: str) -> tuple[str, int]:
    """Name and number of a method, 0 where it takes none. Raises ValueError for any other."""
    name, colon, number = method.partition(":")
    if name in PLAIN and not colon:
        return name, 0
    if name in NUMBERED and number.isdecimal() and int(number) > 0:
        return name, int(number)
    numbered = ", ".join(f"{name}:NUMBER" for name in NUMBERED)
    raise ValueError(f"methods must be among {', '.join(PLAIN)}, {numbered}, got {method!r}")
