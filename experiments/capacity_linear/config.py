"""Options of the capacity of fast-weight memories."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import Bounds, Number
from experiments.contract import grid_axis, option

DECAY = Number(Bounds(above=0, most=1), needed=False)
RULES = {"outer": DECAY, "delta": DECAY, "pseudo_inverse": None}


@dataclass
class Config(contract.Config):
    """Options of the capacity of fast-weight memories; the defaults are smoke scale."""

    rules: list[str] = option(
        ["outer", "pseudo_inverse"],
        "outer, delta, pseudo_inverse; of the first two also rule:decay, as in delta:0.99, which is gated",
        names=RULES,
        nonempty=True,
    )
    neurons: list[int] = grid_axis([16, 32], "numbers of components D of keys and of values", least=3, most=4096)
    loads: list[float] = grid_axis([0.2, 0.4, 0.6, 0.8], "loads n ln n / D² of n pairs", most=20, above=0)
    samples: int = option(8, "draws of pairs at each load", least=2, extends=True)
    queries: int = option(256, "keys asked for in each sample, spread over all ages", least=1)
