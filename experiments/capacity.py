"""Storage capacity: how many patterns a memory of N neurons holds, for any memory, dynamics and starting corruption.

For every disorder sample the stored patterns are drawn anew and a few of them are queried. Each query is judged by

    fixed_point     one update leaves the clean pattern where it is (real states: to 1 % of its norm)
    one_step_error  share of wrong neurons after one synchronous update from the start, ½(1 − overlap)
    retained        overlap with the pattern above 0.8 where the dynamics end
    exact           every spin right where the dynamics end (real states: within 1 % of the pattern's norm)
    target_weight   more than half of the read-out's weight on the pattern at the start

and the load at which half of the queries pass is the critical load of that criterion.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, product
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from experiments import base, parallel, sources, streams, trials
from experiments.base import about

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

X_AXIS = "load"
CRITERIA = ("retained", "fixed_point", "exact", "target_weight")
DYNAMICS = ("asynchronous", "synchronous")
CHUNK = 2e8
"""Multiplications one call to the device should cost: well under a second, so that a kill loses little."""


@dataclass
class Scale:
    """What one memory is measured at, where it differs from the others; null takes the common value."""

    neurons: list[int] | None = field(default=None, metadata=about("numbers of neurons N of random patterns"))
    loads: list[float] | None = field(default=None, metadata=about("loads, in the memory's own scaling"))
    stored: list[int] | None = field(default=None, metadata=about("numbers of patterns M, instead of loads"))
    samples: Any = field(
        default=None, metadata=about("disorder samples at each point, or {size: samples} from that size on")
    )
    probes: int | None = field(default=None, metadata=about("patterns queried in each sample"))
    dynamics: list[str] | None = field(default=None, metadata=about(f"any of {', '.join(DYNAMICS)}"))
    corruption: list[Any] | None = field(
        default=None, metadata=about("starts: fraction of flipped spins, or flip:, mask:, lower:, noise:amount")
    )
    beta: float | None = field(default=None, metadata=about("inverse temperature, where the memory has one"))
    max_steps: int | None = field(default=None, metadata=about("updates or sweeps of one retrieval at most"))


class At(NamedTuple):
    """A Scale in full; the defaults are smoke scale, for what neither the options nor the memory's own scale say."""

    neurons: list[int] = [64]  # noqa: RUF012 - never changed
    loads: list[float] | None = [0.1, 0.2]  # noqa: RUF012
    stored: list[int] | None = None
    samples: Any = 4
    probes: int = 4
    dynamics: list[str] = ["synchronous"]  # noqa: RUF012
    corruption: list[Any] = [0.0]  # noqa: RUF012
    beta: float | None = None
    max_steps: int = 100


@dataclass
class Config(Scale, base.Config):
    """Options of the capacity experiment. A common value, given on top, beats the memory's own scale."""

    memories: list[str] = field(
        default_factory=lambda: ["classical", "exponential"],
        metadata=about("memories, each name or name:parameter as in dense:4, sparse:1.5"),
    )
    per_memory: dict[str, Scale] = field(default_factory=dict, metadata=about("scales of single memories"))
    sources: list[str] = field(
        default_factory=lambda: [sources.RANDOM],
        metadata=about(
            "patterns: random, digits, photographs, .npy or .npz files; generated or mapped:file, not stored"
        ),
    )
    clamp: bool = field(default=False, metadata=about("hold the units that the corruption left untouched"))

    def __post_init__(self) -> None:
        from hopfield.memories import find

        base.Config.__post_init__(self)
        if not self.memories:
            raise ValueError("memories must name at least one memory, got []")
        for name in self.per_memory:  # more of them than memories: `memories=[classical]` on the command line is enough
            find(name)
        if not self.sources:
            raise ValueError("sources must name at least one source of patterns, got []")
        for memory in self.memories:
            at = scale(self, memory)
            _check_scale(memory, at)
            for source in self.sources:
                _check_source(self, memory, at, source)


def scale(config: Config, memory: str) -> At:
    """The numbers one memory is measured at: the common value if given, else its own, else smoke scale."""
    chosen = {}
    for layer in (config, config.per_memory.get(memory, Scale())):
        if layer.loads is not None and layer.stored is not None:
            raise ValueError("loads must not be given together with stored, which says the same in numbers")
        # Loads and stored are two ways to say one thing: whichever comes first silences the other below it.
        counted = "loads" in chosen or "stored" in chosen
        for name in At._fields:
            value = getattr(layer, name)
            if value is not None and name not in chosen and not (counted and name in ("loads", "stored")):
                chosen[name] = value
    return At(**({"loads": None} if "stored" in chosen else {}), **chosen)


def _at_least(name: str, value, low: int) -> None:
    if value < low:
        raise ValueError(f"{name} must be at least {low}, got {value}")


def _check_source(config: Config, memory: str, at: At, source: str) -> None:
    if sources.streamed(source):
        streams.check(memory, at.dynamics, at.max_steps, config.clamp)
    if source not in sources.DRAWN:
        rows, width = sources.width(source)
        if config.neurons is not None and set(config.neurons) != {width}:
            raise ValueError(f"neurons must be {width} for the patterns of {source}, got {config.neurons}")
        most = max(_pattern_counts(memory, at, width))
        if most > rows:
            raise ValueError(f"loads must ask for at most the {rows} patterns of {source}, got {most} for {memory}")
    for neurons in _widths(at, source):
        curves = len(at.dynamics) * len(at.corruption) * len(_pattern_counts(memory, at, neurons))
        if curves * _samples(at, neurons) > 10**7:
            raise ValueError(f"samples must leave at most 10^7 points for {memory} of N={neurons}, got {at.samples}")
        most = max(_pattern_counts(memory, at, neurons))
        if most * neurons > 2**30 and not sources.streamed(source):
            raise ValueError(f"loads must give {memory} of N={neurons} fewer than 2^30 / N patterns, got {most:.3g}")
        if most > 2**40:
            raise ValueError(f"loads must give {memory} of N={neurons} at most 2^40 patterns, got {most:.3g}")


def _widths(at: At, source: str) -> list[int]:
    return at.neurons if source in sources.DRAWN else [sources.width(source)[1]]


def _check_samples(samples: Any) -> None:
    table = samples if isinstance(samples, dict) else {0: samples}
    for size, count in table.items() or [(0, 0)]:
        if any(isinstance(x, bool) or not isinstance(x, int) for x in (size, count)) or size < 0 or count < 1:
            raise ValueError(f"samples must be a positive integer, or {{size: samples}} of such, got {samples}")


def _samples(at: At, neurons: int) -> int:
    """Disorder samples at this size: those of the largest size named that is not larger."""
    if not isinstance(at.samples, dict):
        return at.samples
    return at.samples[max((size for size in at.samples if size <= neurons), default=min(at.samples))]


def _check_scale(memory: str, scale: At) -> None:
    from hopfield.memories import find
    from hopfield.patterns import corruption

    blueprint = find(memory)
    for name in ("neurons", "dynamics", "corruption", "stored" if scale.loads is None else "loads"):
        if not getattr(scale, name):
            raise ValueError(f"{name} must not be empty, got []")
    for name in ("neurons", "stored"):
        for value in getattr(scale, name) or []:
            _at_least(name, value, 2 if name == "neurons" else 1)
    for value in scale.loads or []:
        if not 0 < value < float("inf"):
            raise ValueError(f"loads must be positive, got {value:g}")
    _check_samples(scale.samples)
    _at_least("probes", scale.probes, 1)
    _at_least("max_steps", scale.max_steps, 1)
    for name in scale.dynamics:
        if name not in DYNAMICS:
            raise ValueError(f"dynamics must be one of {', '.join(DYNAMICS)}, got {name!r}")
        if name != "synchronous" and blueprint.ensemble != "spins":
            raise ValueError(f"dynamics must be synchronous for {memory}, whose states are real, got {name!r}")
    for spec in scale.corruption:
        corruption(spec)
    if scale.beta is not None:
        if not blueprint.takes_beta:
            raise ValueError(f"beta must be null for {memory}, which has none, got {scale.beta:g}")
        if not 0 < scale.beta < float("inf"):
            raise ValueError(f"beta must be positive, got {scale.beta:g}")


def _pattern_counts(memory: str, scale: At, neurons: int) -> list[int]:
    from hopfield.memories import find

    if scale.stored is not None:
        return sorted(set(scale.stored))
    blueprint = find(memory)
    try:
        return sorted({blueprint.rounded(load, neurons) for load in scale.loads or []})
    except OverflowError:
        raise ValueError(f"loads must give {memory} of N={neurons} a number of patterns, got infinitely many") from None


def _start(spec: str | float) -> str | float:
    """One name for every corruption: the fraction of flipped spins, or kind:amount."""
    from hopfield.patterns import corruption

    found = corruption(spec)
    return found.amount if found.kind == "flip" else str(found)


def points(config: Config) -> list[dict]:
    """One point per memory, dynamics, size, corruption, number of patterns and disorder sample."""
    from hopfield.memories import find

    found = []
    for source in dict.fromkeys(config.sources):
        for memory in dict.fromkeys(config.memories):
            at = scale(config, memory)
            beta = find(memory).beta if at.beta is None else at.beta
            starts = dict.fromkeys(_start(spec) for spec in at.corruption)
            widths = dict.fromkeys(_widths(at, source))
            for dynamics, neurons, corruption in product(dict.fromkeys(at.dynamics), widths, starts):
                for patterns in _pattern_counts(memory, at, neurons):
                    shared = {
                        "memory": memory,
                        "dynamics": dynamics,
                        "neurons": neurons,
                        "patterns": patterns,
                        "corruption": corruption,
                        "source": source,
                        "beta": beta,
                        "max_steps": at.max_steps,
                        "probes": min(at.probes, patterns),
                    }
                    found += [shared | {"sample": sample} for sample in range(_samples(at, neurons))]
    return found


def science(config: Config) -> dict:
    """What a point's numbers depend on besides the point."""
    contents = {source: sources.fingerprint(source) for source in config.sources if source not in sources.DRAWN}
    return {"seed": config.seed, "clamp": config.clamp, "sources": contents}


def measure(config: Config, points_: Sequence[dict]) -> Iterator[dict]:
    """Measure points in chunks of one compiled program each, two chunks at a time; passes over streams come last."""
    stored = [point for point in points_ if not sources.streamed(point["source"])]
    paddings = _paddings([point for point in points(config) if not sources.streamed(point["source"])])
    chosen = sorted(stored, key=lambda point: _program(config, point, paddings))
    chunks = []
    for program, members in groupby(chosen, key=lambda point: _program(config, point, paddings)):
        queue = list(members)
        size = max(1, min(64, len(queue), int(CHUNK // program.cost)))
        starts = range(0, len(queue), size)
        chunks += [partial(_run, config, program, queue[i : i + size], size) for i in starts]
    yield from parallel.rows(chunks)
    yield from streams.rows(config.seed, [point for point in points_ if sources.streamed(point["source"])])


def _paddings(points_: Sequence[dict]) -> dict[tuple, int]:
    """Padded number of patterns of each (memory, neurons, patterns): a factor 4 at most, less where it would cost."""
    found = {}
    kinds = sorted({(p["memory"], p["neurons"], p["patterns"]) for p in points_}, reverse=True)
    for _, group in groupby(kinds, key=lambda kind: kind[:2]):
        top = 0
        for kind in group:
            _, neurons, patterns = kind
            small, large = top * neurons <= 2**16, top * neurons**2 > 2**28
            if top == 0 or (not small and patterns * (1.5 if large else 4) < top):
                top = patterns
            found[kind] = top
    return found


def _program(config: Config, point: dict, paddings: dict[tuple, int]) -> trials.Program:
    from hopfield.patterns import corruption

    at = scale(config, point["memory"])
    kind, amount = corruption(point["corruption"])
    padding = paddings[point["memory"], point["neurons"], point["patterns"]]
    return trials.Program(
        point["memory"],
        point["dynamics"],
        point["neurons"],
        padding,
        min(at.probes, padding),
        kind if amount else "none",
        point["source"],
        config.clamp,
        point["max_steps"],
        point["beta"] is not None,
    )


def _run(config: Config, program: trials.Program, chunk: list[dict], size: int) -> list[dict]:
    from hopfield.memories import find
    from hopfield.patterns import corruption

    padded = chunk + [chunk[0]] * (size - len(chunk))
    patterns, samples = ([point[name] for point in padded] for name in ("patterns", "sample"))
    amounts = [corruption(point["corruption"]).amount for point in padded]
    result = trials.run(program, config.seed, chunk[0]["beta"], patterns, samples, amounts)
    load = find(program.memory).scaling.load
    rows = []
    for i, point in enumerate(chunk):
        measured = {name: values[i] for name, values in result.items()}
        measured = {name: None if value != value else value for name, value in measured.items()}
        rows.append(point | {"load": load(point["patterns"], point["neurons"])} | measured)
    return rows


def summarise(table: "pandas.DataFrame") -> dict:
    """Critical loads of every curve and criterion, and their extrapolation to infinite size."""
    from experiments.statistics import critical_load, extrapolate

    critical, extrapolation = [], []
    table = _named(table)
    names = ["memory", "dynamics", "corruption", "source", "neurons"]
    for key, rows in table.groupby(names, sort=False):
        for criterion in CRITERIA:
            used = rows.dropna(subset=[criterion])
            if used.empty:  # couplings have no weight on a pattern
                continue
            cluster = used["patterns"].astype(str) + "/" + used["sample"].astype(str)
            found = critical_load(used["load"], used[criterion], used["probes"], cluster)
            if found.found:
                fit = {"width": found.width, "chi2": found.chi2, "dof": found.dof, "method": found.method}
                entry = dict(zip(names, cast(tuple, key), strict=True)) | {"criterion": criterion}
                critical.append(entry | {"load": found.value, "stderr": found.stderr} | fit)
    import pandas

    if critical:
        frame = pandas.DataFrame(critical)
        names = ["memory", "dynamics", "corruption", "source", "criterion"]
        for key, rows in frame.groupby(names, sort=False):
            for fit in extrapolate(rows["neurons"], rows["load"], rows["stderr"]):
                extrapolation.append(dict(zip(names, cast(tuple, key), strict=True)) | fit)
    return {"critical_load": critical, "extrapolation": extrapolation, "scalars": _scalars(critical)}


def _scalars(critical: list[dict]) -> dict[str, float]:
    """Critical loads of every curve by retention and by target weight, named for the command's last lines and W&B."""
    scalars = {}
    for entry in critical:
        if entry["criterion"] in ("retained", "target_weight"):
            name = f"critical_load/{entry['memory']}/{entry['dynamics']}/{entry['criterion']}/N={entry['neurons']}"
            name += "" if entry["source"] == sources.RANDOM else f"/{entry['source']}"
            name += "" if entry["corruption"] == 0 else f"/{entry['corruption']}"
            scalars |= {name: entry["load"], f"{name}/stderr": entry["stderr"]}
    return scalars


def plot(table: "pandas.DataFrame", summary: dict) -> "Figure":
    """Success against load for every memory, critical number of patterns against neurons, theory on top."""
    from experiments.capacity_figure import draw

    return draw(_named(table), summary)


def _named(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """The table with flips as numbers again: beside other corruptions a CSV file makes strings of them."""
    return table.assign(corruption=table["corruption"].map(_start))
