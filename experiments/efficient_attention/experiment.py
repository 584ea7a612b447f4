"""Ways to compute attention, by the length of the sequence: what each costs in time and memory, and its error.

    dense         all scores at once
    blockwise     exact, one block of scores at a time
    linear:m      FAVOR+ with m positive orthogonal random features
    elu           linear attention with features elu(x) + 1, a kernel of its own
    window:w      the w positions on either side of a query
    low_rank:r    keys and values averaged over r stretches of the sequence (Linformer with fixed projections)

Errors are relative to dense attention in the Frobenius norm, on Gaussian queries, keys and values. Times are the best
of several runs of the compiled function; memory is what XLA sets aside beyond inputs and outputs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from experiments import contract
from experiments.bounds import Use, chosen
from experiments.contract import Cost, about

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Table = Any
"""A pandas.DataFrame, whose columns no type checker knows."""

X_AXIS = "length"
EXACT = ("dense", "blockwise")
PLAIN = (*EXACT, "elu")
NUMBERED = ("linear", "window", "low_rank")
"""Methods that take a number: features, positions, stretches."""
PASSES = ("forward", "backward")


@dataclass
class Config(contract.Config):
    """Options of the comparison of ways to compute attention."""

    methods: list[str] = field(
        default_factory=lambda: ["dense", "blockwise", "linear:32", "elu", "window:16", "low_rank:16"],
        metadata=about(
            "ways to compute it: dense, blockwise, elu, linear:m, window:w, low_rank:r",
            nonempty=True,
            distinct=True,
            numbered=True,
        ),
    )
    lengths: list[int] = field(
        default_factory=lambda: [64, 128],
        metadata=about("lengths of the sequence", least=1, nonempty=True, distinct=True),
    )
    passes: list[str] = field(
        default_factory=lambda: ["forward"],
        metadata=about("forward, or backward for both passes together", among=PASSES, nonempty=True, distinct=True),
    )
    width: int = field(default=16, metadata=about("dimensions D of queries, keys and values", least=1))
    spread: float = field(
        default=0.5, metadata=about("standard deviation of the components of queries and keys", above=0)
    )
    largest_dense: int = field(
        default=4096,
        metadata=about(
            "length up to which all scores are held at once",
            least=1,
            used_when=Use(
                "methods has dense, or passes has forward",
                lambda config: "dense" in config.methods or "forward" in config.passes,
            ),
        ),
    )
    repetitions: int = field(default=2, metadata=about("timed runs, of which the fastest counts", least=1))
    samples: int = field(
        default=2,
        metadata=about("draws over which errors are averaged", least=1, used_when=chosen("passes", "forward")),
    )

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


def cost(config: Config) -> Cost:
    """What all of it takes, from the options alone."""
    parts, runs = [], len(config.passes) * (config.repetitions + 2 * config.samples + 1)
    for length in config.lengths:
        for method, number in map(parsed, config.methods):
            dense = method == "dense" or method not in EXACT
            every = length if dense and length <= config.largest_dense else 1
            held = max(every, config.width, 2 * number if method in NUMBERED else 0)
            work = number if method in NUMBERED else length
            parts.append(Cost(len(config.passes), length * held, runs * length * max(work, every) * config.width / 16))
    return contract.total(parts)


def points(config: Config) -> list[dict]:
    """One point per pass, method and length; dense attention up to `largest_dense`."""
    return [
        {"pass": direction, "method": method, "length": length}
        for direction in config.passes
        for method in config.methods
        for length in config.lengths
        if method != "dense" or length <= config.largest_dense
    ]


def science(config: Config) -> dict:
    """What else the numbers depend on."""
    names = ("seed", "width", "spread", "repetitions", "samples", "largest_dense")
    return {name: getattr(config, name) for name in names}


def measure(config: Config, points: Sequence[dict]) -> Iterator[dict]:
    """Time, memory and error of one point after the other, nothing else running in this process."""
    for point in points:
        yield point | _measured(config, **{name: point[name] for name in ("method", "length")}, direction=point["pass"])


def attention(method: str, width: int, length: int, number: int) -> Callable:
    """The function (query, key, value) → output of a method, all arrays [T, D]; `number` seeds random features."""
    import jax
    import jax.numpy as jnp

    from hopfield import attention as library

    name, size = parsed(method)
    if name == "linear":
        features = library.positive_random_features(jax.random.key(number), width, size)
        return lambda q, k, v: library.linear_attention(q, k, v, features=features)
    if name == "elu":
        return lambda q, k, v: library.linear_attention(q, k, v, features=library.elu_plus_one())
    if name == "window":
        return lambda q, k, v: library.attend_locally(q, k, v, left=size, right=size)
    if name == "low_rank":
        stretch = jnp.arange(length) * size // length
        means = jnp.where(stretch[None, :] == jnp.arange(size)[:, None], 1.0, 0.0)
        means = means / jnp.maximum(jnp.sum(means, axis=1, keepdims=True), 1.0)
        return lambda q, k, v: library.attend_low_rank(q, k, v, means)
    return {"dense": library.attend, "blockwise": library.attend_blockwise}[name]


def _drawn(config: Config, length: int, sample: int):
    import jax

    keys = jax.random.split(jax.random.fold_in(jax.random.fold_in(jax.random.key(config.seed), length), sample), 3)
    query, key, value = (jax.random.normal(k, (length, config.width)) for k in keys)
    return config.spread * query, config.spread * key, value


def _measured(config: Config, method: str, length: int, direction: str) -> dict:
    import time

    import jax
    import jax.numpy as jnp

    function = attention(method, config.width, length, config.seed)

    def both(query, key, value):
        output, pull = jax.vjp(function, query, key, value)
        return pull(output)

    inputs = _drawn(config, length, 0)
    compiled = jax.jit(both if direction == "backward" else function).lower(*inputs).compile()
    memory = compiled.memory_analysis()
    seconds = []
    for _ in range(config.repetitions + 1):  # the first run pays for pages never touched before
        begun = time.perf_counter()
        jax.block_until_ready(compiled(*inputs))
        seconds.append(time.perf_counter() - begun)
    found = {"seconds": min(seconds[1:]), "megabytes": getattr(memory, "temp_size_in_bytes", float("nan")) / 1e6}
    errors = []
    if direction == "forward" and length <= config.largest_dense:
        for sample in range(config.samples):
            query, key, value = _drawn(config, length, sample)
            exact = attention("dense", config.width, length, 0)(query, key, value)
            output = jax.jit(attention(method, config.width, length, config.seed + sample))(query, key, value)
            errors.append(float(jnp.linalg.norm(output - exact) / jnp.linalg.norm(exact)))
    spread = (sum((error - sum(errors) / len(errors)) ** 2 for error in errors)) if errors else 0.0
    stderr = (spread / (len(errors) * (len(errors) - 1))) ** 0.5 if len(errors) > 1 else float("nan")
    return found | {"error": sum(errors) / len(errors) if errors else float("nan"), "error_stderr": stderr}


def summarise(table: Table) -> dict:
    """Where each method overtakes dense attention, how its cost grows with length, and its error."""
    import numpy as np

    growth, overtaking, scalars = [], [], {}
    for (direction, method), rows in table.groupby(["pass", "method"], sort=False):
        rows = rows.sort_values("length")
        entry: dict[str, Any] = {"pass": direction, "method": method, "longest": int(rows["length"].iloc[-1])}
        upper = rows[rows["length"] >= rows["length"].max() / 8]
        for name in ("seconds", "megabytes"):
            usable = upper[upper[name] > 0]
            fit = len(usable) > 1
            entry[f"{name}_exponent"] = (
                float(np.polyfit(np.log(usable["length"]), np.log(usable[name]), 1)[0]) if fit else float("nan")
            )
        entry |= {"seconds": float(rows["seconds"].iloc[-1]), "megabytes": float(rows["megabytes"].iloc[-1])}
        known = rows[rows["error"].notna()]
        if len(known):
            entry |= {"error": float(known["error"].iloc[-1]), "error_stderr": float(known["error_stderr"].iloc[-1])}
            scalars |= {f"error/{method}": entry["error"], f"error/{method}/stderr": entry["error_stderr"]}
        growth.append(entry)
        if method != "dense":
            dense = table[(table["pass"] == direction) & (table["method"] == "dense")]
            found = crossover(dense["length"], dense["seconds"], rows["length"], rows["seconds"])
            overtaking.append({"pass": direction, "method": method, "length": found})
            scalars[f"crossover/{direction}/{method}"] = found
    return {"growth": growth, "crossover": overtaking, "scalars": scalars}


def crossover(dense_length, dense_seconds, length, seconds) -> float:
    """Length from which a method stays faster than dense attention; NaN where it never does at the lengths of both.

    Interpolated where the ratio of times passes 1, linearly in the logarithms.
    """
    import numpy as np

    both = sorted(set(map(int, dense_length)) & set(map(int, length)))
    theirs = dict(zip(map(int, dense_length), dense_seconds, strict=True))
    ours = dict(zip(map(int, length), seconds, strict=True))
    logs = np.array([np.log(ours[n] / theirs[n]) for n in both])
    slower = np.flatnonzero(logs >= 0)
    if not both or (len(slower) and slower[-1] == len(both) - 1):
        return float("nan")
    if not len(slower):
        return float(both[0])
    i = int(slower[-1])
    share = logs[i] / (logs[i] - logs[i + 1])
    return float(np.exp(np.log(both[i]) + share * np.log(both[i + 1] / both[i])))


def plot(table: Table, summary: dict) -> "Figure":
    """Time, memory and error against length, a line for each method."""
    from experiments.figures.style import panels, series

    figure, axes = panels(1, 3, width=12.0, height=4.2)
    looks = series(list(dict.fromkeys(table["method"])))
    direction = "backward" if "backward" in set(table["pass"]) else "forward"
    shown = {"forward": "one pass forwards", "backward": "forwards and backwards"}[direction]
    titles = (("seconds", "time (s)", f"a  time, {shown}"), ("megabytes", "memory (MB)", f"b  memory, {shown}"))
    for ax, (name, label, title) in zip(axes.flat, titles, strict=False):
        _lines(ax, table[table["pass"] == direction], name, looks)
        ax.set(xlabel="length $T$", ylabel=label)
        ax.set_title(title, loc="left")
    last = axes.flat[2]
    errors = table[(table["pass"] == "forward") & table["error"].notna() & (table["method"] != "dense")]
    _lines(last, errors, "error", looks)
    last.set(xlabel="length $T$", ylabel="relative error")
    last.set_title("c  error against dense attention", loc="left")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def _lines(ax, table: Table, name: str, looks: dict) -> None:
    for method, rows in table.groupby("method", sort=False):
        rows = rows[rows[name] > 0].sort_values("length")
        ax.plot(rows["length"], rows[name], label=method, **looks[method])
    if len(table) and (table[name] > 0).any():
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
