"""Comparison of ways to compute attention by the length of the sequence: time, memory and error of each.

    dense         all scores at once
    blockwise     exact, one block of scores at a time
    linear:m      FAVOR+ with m positive orthogonal random features
    elu           linear attention with features elu(x) + 1, a kernel of its own
    window:w      the w positions on either side of a query
    low_rank:r    keys and values averaged over r stretches of the sequence, T at most (Linformer, projections fixed)
    softmax, softmax1, sparsemax, entmax:a, top_k:k
                  a head of `hopfield.layers` with that separation and `update_steps`, block by block where it is long

Errors are relative to dense attention, those of a layer's head to the same head with all scores at once, in the
Frobenius norm, on Gaussian queries, keys and values. Times are the best of several runs of the compiled function;
memory is the larger of what XLA sets aside beyond inputs and outputs and of what the process grows by.
"""

from collections.abc import Iterator, Sequence

from experiments import contract
from experiments.bounds import name_and_number
from experiments.contract import Cost, Point, Row
from experiments.efficient_attention.config import EXACT, LAYERS, NUMBERED, Config
from experiments.efficient_attention.figure import panels
from experiments.efficient_attention.measurement import measure_point
from experiments.efficient_attention.summary import summarise

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "length"


def cost(config: Config) -> Cost:
    """Cost of timing every method at each length, in every pass: length × positions read × width."""
    parts, runs = [], len(config.passes) * (config.repeats + 2 * config.samples + 1)
    for length in config.lengths:
        for method, given in map(name_and_number, config.methods):
            number = int(given or 0)
            dense = method == "dense" or method not in (*EXACT, *LAYERS)
            every = length if dense and length <= config.largest_dense else 1
            held = max(every, config.width, 2 * number if method in NUMBERED else 0)
            work = number if method in NUMBERED else length * (config.update_steps if method in LAYERS else 1)
            parts.append(Cost(len(config.passes), length * held, runs * length * max(work, every) * config.width / 16))
    return contract.total(parts)


def points(config: Config) -> list[Point]:
    """One point per pass, method and length. Dense attention is measured up to `largest_dense`."""
    return [
        {"pass": direction, "method": method, "length": length}
        for direction in config.passes
        for method in config.methods
        for length in config.lengths
        if method != "dense" or length <= config.largest_dense
    ]


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Time, memory and error of one point after the other, nothing else running in this process."""
    for point in wanted:
        yield point | measure_point(
            config, **{name: point[name] for name in ("method", "length")}, direction=point["pass"]
        )
