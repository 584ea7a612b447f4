"""Comparison of ways to compute attention by the length of the sequence: time, memory and error of each.

    dense         all scores at once
    blockwise     exact, one block of scores at a time
    linear:m      FAVOR+ with m positive orthogonal random features
    elu           linear attention with features elu(x) + 1, a kernel of its own
    window:w      the w positions on either side of a query
    low_rank:r    keys and values averaged over r stretches of the sequence, T at most (Linformer, projections fixed)
    softmax, softmax1, sparsemax, entmax:a, top_k:k
                  a head of `hopfield.layers` with that separation and `update_steps`, block by block if it is long

Errors are relative to dense attention, of a layer's head to the same head with all scores at once, in the
Frobenius norm, on Gaussian queries, keys and values. Times are the best of several runs of the compiled function;
memory is the larger of what XLA sets aside beyond inputs and outputs and of what the process grows by.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.bounds import Bounds, Number, Use, includes, name_and_number
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, Summary, Table, grid_axis, option
from experiments.figures.panel import Axis, Panel, curves
from experiments.figures.style import series
from experiments.shared import draws, footprint, timing
from experiments.statistics.clusters import curves as curves_of
from experiments.statistics.clusters import standard_error
from experiments.statistics.crossings import straight_crossing
from experiments.statistics.lines import straight_line
from hopfield import attention
from hopfield.layers import AssociationOptions, HopfieldAssociation

EXACT = ("dense", "blockwise")
NUMBERED = ("linear", "window", "low_rank")
"""Methods that take a number: features, positions, stretches."""
LAYERS = {
    **dict.fromkeys(("softmax", "softmax1", "sparsemax")),
    "entmax": Number(Bounds(above=1.0, most=2.0)),
    "top_k": Number(Bounds(least=1), whole=True),
}
"""Separations of a layer's head, which chooses by itself how many queries it reads at a time."""
METHODS = {**dict.fromkeys((*EXACT, "elu")), **dict.fromkeys(NUMBERED, Number(Bounds(least=1), whole=True)), **LAYERS}
PASSES = {"forward": "one pass forwards", "backward": "forwards and backwards"}


@dataclass
class Config(contract.Config):
    """Options of the comparison of ways to compute attention."""

    methods: list[str] = option(
        ["dense", "blockwise", "linear:32", "elu", "window:16", "low_rank:16"],
        "ways to compute it: dense, blockwise, elu, linear:m, window:w, low_rank:r; heads of a layer by separation",
        names=METHODS,
        nonempty=True,
        axis=True,
    )
    lengths: list[int] = grid_axis([64, 128], "lengths of the sequence", least=1)
    passes: list[str] = option(
        ["forward"], "forward, or backward for both passes together", among=tuple(PASSES), nonempty=True, axis=True
    )
    width: int = option(16, "dimensions D of queries, keys and values", least=1)
    spread: float = option(0.5, "standard deviation of the components of queries and keys", above=0)
    update_steps: int = option(
        1, "updates of a layer's head, the last of which reads", least=1, used_when=includes("methods", *LAYERS)
    )
    largest_dense: int = option(
        4096,
        "length up to which all scores are held at once",
        least=1,
        used_when=Use(
            "methods has dense, or passes has forward",
            lambda config: "dense" in config.methods or "forward" in config.passes,
        ),
    )
    repeats: int = option(2, "timed runs, of which the fastest counts", least=1)
    samples: int = option(2, "draws over which errors are averaged", least=1, used_when=includes("passes", "forward"))


COLUMNS = shared("method", "seconds") | {
    "pass": Column("forward or backward", kind=str),
    "length": Column("positions of the sequence", "count", kind=int),
    "megabytes": Column(
        "memory: the larger of what XLA sets aside beyond inputs and outputs, and of what the process grows by", "MB"
    ),
    "error": Column("deviation from dense attention, relative to it, in the Frobenius norm"),
}


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


def head(separation: str, width: int, update_steps: int, block: int | None = None) -> Callable:
    """Function (query, key, value) → output of a layer's head, `block` queries at a time. None leaves it the choice."""
    options = AssociationOptions(separation=separation, update_steps=update_steps, block=block)
    association = HopfieldAssociation(1, width, options)
    return lambda *inputs: association(*(x[:, None, :] for x in inputs), deterministic=True)[:, 0, :]


def computation(method: str, width: int, length: int, number: int) -> Callable:
    """Function (query, key, value) → output of a method, all arrays [T, D]. `number` seeds random features."""
    name, given = name_and_number(method)
    size = int(given or 0)
    if name == "linear":
        features = attention.PositiveFeatures(jax.random.key(number), width, size)
        return lambda q, k, v: attention.linear_attention(q, k, v, features=features)
    if name == "elu":
        return lambda q, k, v: attention.linear_attention(q, k, v, features=attention.EluPlusOne())
    if name == "window":
        return lambda q, k, v: attention.attend_locally(q, k, v, left=size, right=size)
    if name == "low_rank":
        size = min(size, length)  # of more stretches some would hold no key
        stretch = jnp.arange(length) * size // length
        means = jnp.where(stretch[None, :] == jnp.arange(size)[:, None], 1.0, 0.0)
        means = means / jnp.maximum(jnp.sum(means, axis=1, keepdims=True), 1.0)
        return lambda q, k, v: attention.attend_low_rank(q, k, v, means)
    return {"dense": attention.attend, "blockwise": attention.attend_blockwise}[name]


def _draw_inputs(config: Config, length: int, sample: int) -> tuple[Array, Array, Array]:
    keys = jax.random.split(draws.key(config.seed, length, sample), 3)
    query, key, value = (jax.random.normal(k, (length, config.width)) for k in keys)
    return config.spread * query, config.spread * key, value


def _exact(config: Config, method: str, length: int) -> Callable:
    """Exact output of the method, with all scores at once and nothing left out."""
    if name_and_number(method)[0] in LAYERS:
        return head(method, config.width, config.update_steps, length)
    return computation("dense", config.width, length, 0)


def _function(config: Config, method: str, length: int, number: int) -> Callable:
    if name_and_number(method)[0] in LAYERS:
        return head(method, config.width, config.update_steps)
    return computation(method, config.width, length, number)


def measure_point(config: Config, method: str, length: int, direction: str) -> Row:
    """Seconds, megabytes and relative error of a method at one length, in one direction."""
    function = _function(config, method, length, config.seed)

    def forward_and_backward(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
        output, pull = jax.vjp(function, query, key, value)
        return pull(output)

    inputs = _draw_inputs(config, length, 0)
    compiled = jax.jit(forward_and_backward if direction == "backward" else function).lower(*inputs).compile()
    seconds = timing.in_turn([lambda: compiled(*inputs)], config.repeats)
    columns = {"seconds": float(seconds.min()), "megabytes": footprint.temporary_bytes(compiled, *inputs) / 1e6}
    errors = []
    if direction == "forward" and length <= config.largest_dense:
        for sample in range(config.samples):
            query, key, value = _draw_inputs(config, length, sample)
            exact = jax.jit(_exact(config, method, length))(query, key, value)
            output = jax.jit(_function(config, method, length, draws.seed_of(config.seed, sample)))(query, key, value)
            errors.append(float(jnp.linalg.norm(output - exact) / jnp.linalg.norm(exact)))
    mean = sum(errors) / len(errors) if errors else float("nan")
    return columns | {"error": mean, "error_stderr": standard_error(errors)}


def summarise(table: Table) -> Summary:
    """Length at which each method overtakes dense attention, the growth of its cost with length, and its error."""
    estimates: list[Row] = []
    for about, rows in curves_of(table, ["pass", "method"]):
        rows = rows.sort_values("length")
        longest = {"length": int(rows["length"].iloc[-1])}
        upper = rows[rows["length"] >= rows["length"].max() / 8]
        for name, quantity in (("seconds", "time"), ("megabytes", "memory")):
            usable = upper[upper[name] > 0]
            logs = np.log(usable["length"]), np.log(usable[name])
            slope = straight_line(*logs).slope if len(usable) > 1 else float("nan")
            estimates.append({"quantity": f"exponent of {quantity}", **about, "value": slope})
            last = float(rows[name].iloc[-1])
            estimates.append({"quantity": f"{quantity} ({UNITS[name]})", **about, **longest, "value": last})
        known = rows[rows["error"].notna()]
        if len(known):
            entry = {"value": float(known["error"].iloc[-1]), "stderr": float(known["error_stderr"].iloc[-1])}
            forward = about["pass"] == "forward"
            length = {"length": int(known["length"].iloc[-1])}
            estimates.append({"quantity": "error", **about, **length, **entry, "headline": forward})
        dense = table[(table["pass"] == about["pass"]) & (table["method"] == "dense")]
        if about["method"] != "dense" and len(dense):
            crossing = crossover(dense["length"], dense["seconds"], rows["length"], rows["seconds"])
            estimates.append({"quantity": "crossover", **about, "value": crossing, "headline": True})
    return Summary(estimates)


UNITS = {"seconds": "s", "megabytes": "MB"}


def crossover(
    dense_length: Iterable[int], dense_seconds: Iterable[float], length: Iterable[int], seconds: Iterable[float]
) -> float:
    """Length from which a method stays faster than dense attention. NaN if it never does at the lengths of both.

    Interpolated where the ratio of times passes 1, linearly in the logarithms.
    """
    both = sorted(set(map(int, dense_length)) & set(map(int, length)))
    theirs = dict(zip(map(int, dense_length), dense_seconds, strict=True))
    ours = dict(zip(map(int, length), seconds, strict=True))
    logs = np.array([np.log(ours[n] / theirs[n]) for n in both])
    if not both or logs[-1] >= 0:
        return float("nan")
    if logs.max() < 0:
        return float(both[0])
    return float(np.exp(straight_crossing(np.log(both), logs, last=True)))


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Time, memory and error against length, a line for each method."""
    looks = series(list(dict.fromkeys(table["method"])))
    direction = "backward" if "backward" in set(table["pass"]) else "forward"
    measured = table[table["pass"] == direction]
    errors = table[(table["pass"] == "forward") & (table["method"] != "dense")]
    quantities = (
        (measured, "seconds", "time (s)", f"time, {PASSES[direction]}"),
        (measured, "megabytes", "memory (MB)", f"memory, {PASSES[direction]}"),
        (errors, "error", "relative error", "error against dense attention"),
    )
    shown = []
    for rows, name, label, title in quantities:
        known = rows[rows[name] > 0]
        found = curves(known, "length", name, by="method", looks=looks, label=_labels(measured))
        x = Axis("length $T$", "log")
        if known["length"].nunique() == 1:  # against the methods, which one length would put above each other
            place = {method: number for number, method in enumerate(looks)}
            x = Axis(
                f"at $T={known['length'].iloc[0]}$; equal where no point is", ticks=[(i, m) for m, i in place.items()]
            )
            x.limits = (-0.5, len(place) - 0.5)
            for part, method in zip(found, dict.fromkeys(known["method"]), strict=True):
                part.x = np.array([float(place[method])])
        shown.append(Panel(title, x, Axis(label, "log"), found))
    return shown


def _labels(rows: Table) -> Callable[[str], str]:
    """Names of methods, with the greatest length of one that was not measured at longer ones."""
    most = rows.groupby("method")["length"].max()
    return lambda method: str(method) + ("" if most[method] == most.max() else f" (to $T={most[method]}$)")
