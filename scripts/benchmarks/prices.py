"""Price of each separation and option of a layer: forwards and backwards with it, beside the layer as it is built."""

from pathlib import Path

import jax
import numpy as np
from flax import nnx

from hopfield.layers import AssociationOptions, HopfieldAttention

from . import BenchmarkError, Case, Run, Side
from .layer import Problem, sizes, slopes

LONG = True
OPTIONS = {
    **{f"separation {name}": {"separation": name} for name in ("softmax1", "sparsemax", "entmax:1.5", "entmax:1.3")},
    **{f"separation {name}": {"separation": name} for name in ("normmax:2", "top_k:8", "rectified:3")},
    **{f"metric {name}": {"metric": name} for name in ("diagonal", "low_rank", "full")},
    **{f"positions {name}": {"positions": name} for name in ("rotary", "alibi", "t5")},
    "three update steps": {"update_steps": 3},
    "learned β": {"learn_beta": True},
    "blocks of 64 queries": {"block": 64},
}


def case(size: str, workspace: Path) -> Case:
    """One pass with each option, in turn with one of the plain layer."""
    del workspace
    shape = sizes(size)

    def layer_with(**given) -> HopfieldAttention:
        return HopfieldAttention(shape.heads, shape.features, options=AssociationOptions(**given), rngs=nnx.Rngs(0))

    def draw(number: int) -> Problem:
        rng = np.random.default_rng((2021, number))
        inputs, weights = (rng.standard_normal(shape[:3], dtype=np.float32) for _ in range(2))
        return Problem((inputs, weights), (jax.device_put(inputs), jax.device_put(weights)))

    def side(layers: dict[str, HopfieldAttention]):
        def solve(problem: Problem, run: Run) -> tuple[bool, dict[str, float]]:
            finite = True
            for name, layer in layers.items():
                with run.stage(name):
                    found = np.asarray(jax.block_until_ready(slopes(layer, *problem.on_device))[1])
                finite &= bool(np.isfinite(found).all())
            return finite, dict(run.seconds)

        return solve

    plain = layer_with()
    return Case(
        what="A layer forwards and backwards with one option, against the same layer without it.",
        shapes=shape._asdict(),
        draw=draw,
        ours=Side("with the option", side({name: layer_with(**given) for name, given in OPTIONS.items()})),
        theirs=Side("without", side(dict.fromkeys(OPTIONS, plain))),
        check=check,
    )


def check(problems: list, ours: list, theirs: list) -> dict[str, float]:
    """The price of each option, the median of the time with it over that without it."""
    if not all(finite for finite, _ in (*ours, *theirs)):
        raise BenchmarkError("slopes must be finite, got others")
    found = {}
    for name in OPTIONS:
        ratios = [with_it[name] / without[name] for (_, with_it), (_, without) in zip(ours, theirs, strict=True)]
        found[f"price of {name}"] = float(np.median(ratios))
    return found
