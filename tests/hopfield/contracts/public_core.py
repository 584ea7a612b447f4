"""How the public functions of the core are called: memories, dynamics, statistical mechanics, patterns."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import hopfield
from hopfield import Couplings, Memory, _numerics, dynamics, large, patterns, separations, sequences, spaces
from hopfield.dynamics import asynchronous
from hopfield.memories import find, names
from hopfield.observables import overlaps, stability, thermodynamics, weights
from hopfield.patterns import datasets
from hopfield.separations import Separation, simplex
from hopfield.similarities import SquaredDistance
from tests.hopfield.contracts import parts as contract
from tests.hopfield.contracts.public import ROWS, Call, Case, Shape, lost

Draw = Callable[[np.random.Generator, Shape], Call]
NEURONS = (8,)
KEY = jax.random.key(0)


def _spins(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    return rng.choice([-1.0, 1.0], shape)


def _classical(rng: np.random.Generator, neurons: int) -> Memory:
    return Memory.create(_spins(rng, (3, neurons)), separation="linear", space=spaces.Spins())


def _couplings(rng: np.random.Generator, neurons: int) -> Couplings:
    return hopfield.hebb_couplings(_classical(rng, neurons))


def _modern(rng: np.random.Generator, neurons: int, separation: str = "softmax") -> Memory:
    return Memory.create(rng.normal(size=(3, neurons)), rng.uniform(0.5, 2.0), separation=separation)


def _on_state(name: str, function: Callable, model: Callable, nan: tuple[int, ...] = (1,), **options: Any) -> Case:
    """A function of a model and a state."""
    shows = options.pop("shows", lost)

    def draw(rng: np.random.Generator, shape: Shape) -> Call:
        found = model(rng, *shape)
        state = _spins(rng, shape) if isinstance(found.space, spaces.Spins) else rng.normal(size=shape)
        drawn = {name: value(rng) if callable(value) else value for name, value in options.items()}
        return Call(function, (found, state), drawn)

    return Case(name, draw, nan=nan, shows=shows, shapes=(NEURONS,))


def _not_a_number(found: dynamics.Retrieval) -> bool:
    return int(found.status) == dynamics.NOT_A_NUMBER and bool(jnp.any(jnp.isnan(found.state)))


def _retrievals() -> list[Case]:
    cases = []
    for kind in dynamics.DYNAMICS:
        for model in (_classical, _couplings):
            key = {"key": lambda rng: jax.random.key(rng.integers(99))} if kind == "asynchronous" else {}
            options = {"dynamics": kind, "max_steps": lambda rng: int(rng.integers(5, 50)), **key}
            name = "hopfield.dynamics.retrieve"
            cases.append(_on_state(name, hopfield.retrieve, model, shows=_not_a_number, **options))
            if kind != "synchronous":
                options = {"temperature": lambda rng: rng.uniform(0.2, 2.0), "key": KEY, "dynamics": kind}
                options |= {"sweeps": lambda rng: int(rng.integers(2, 9)), "burn_in": lambda rng: int(rng.integers(3))}
                cases.append(_on_state("hopfield.dynamics.glauber", hopfield.glauber, model, **options))
    for separation in ("softmax", "entmax:1.5"):

        def model(rng, neurons, separation=separation):
            return _modern(rng, neurons, separation)

        cases += [
            _on_state("hopfield.dynamics.retrieve", hopfield.retrieve, model, shows=_not_a_number, rtol=1e-3),
            _on_state("hopfield.dynamics.fixed_point", hopfield.fixed_point, model),
            _on_state("hopfield.dynamics.trajectory", hopfield.trajectory, model, steps=3),
        ]
    return cases


def _relaxations() -> list[Case]:
    def relax(model, state):
        return asynchronous.relax(model, state, KEY, "asynchronous", 20)

    def swept(model, state):
        return asynchronous.sweep(model, state, jnp.arange(state.size))

    cases = []
    for model in (_classical, _couplings):
        cases += [
            _on_state(
                "hopfield.dynamics.relax",
                relax,
                model,
                shows=lambda end: lost(end.state) and not bool(end.stable),
            ),
            _on_state("hopfield.dynamics.sweep", swept, model),
            _on_state("hopfield.dynamics.unstable", asynchronous.unstable, model, nan=()),
        ]
    return cases


def _verbs() -> list[Case]:
    """What a model answers about one state."""
    cases = []
    for verb in ("scores", "weights", "shares", "energy", "read", "update"):
        for separation in ("softmax", "entmax", "linear", "epanechnikov"):

            def model(rng, neurons, separation=separation):
                return _modern(rng, neurons, separation) if separation != "epanechnikov" else _ball(rng, neurons)

            cases.append(_on_state(f"hopfield.memory.Memory.{verb}", getattr(Memory, verb), model))
    statistics = lambda memory, state: memory.statistics(state)._replace(target_weight=None)  # noqa: E731
    cases.append(_on_state("hopfield.memory.Memory.statistics", statistics, _modern))
    for verb in ("energy", "update", "local_field"):
        for name, model in (("Memory", _classical), ("Couplings", _couplings)):
            kind = Memory if name == "Memory" else Couplings
            function = getattr(kind, verb)
            cases.append(_on_state(f"{kind.__module__}.{name}.{verb}", function, model))
    return cases


def _sequences() -> list[Case]:
    """What memories of sequences and of pairs answer about a state."""

    def follow(function: Callable) -> Draw:
        def draw(rng: np.random.Generator, shape: Shape) -> Call:
            model = sequences.SequenceMemory.create(_spins(rng, (3, *shape)))
            return Call(function, (model, _spins(rng, shape)), {})

        return draw

    def pair(function: Callable) -> Draw:
        def draw(rng: np.random.Generator, shape: Shape) -> Call:
            model = sequences.BidirectionalMemory.create(_spins(rng, (3, *shape)), _spins(rng, (3, *shape)))
            return Call(function, (model, _spins(rng, shape), _spins(rng, shape)), {})

        return draw

    single, double = sequences.SequenceMemory, sequences.BidirectionalMemory
    name = "hopfield.sequences"
    found = {f"{name}.SequenceMemory.{verb}": follow(getattr(single, verb)) for verb in ("overlaps", "field", "update")}
    found[f"{name}.recall"] = follow(lambda model, state: sequences.recall(model, state, 3))
    cases = [Case(verb, draw, nan=(1,), shapes=(NEURONS,)) for verb, draw in found.items()]
    pairs = [Case(f"{name}.BidirectionalMemory.energy", pair(double.energy), nan=(1, 2), shapes=(NEURONS,))]
    return [
        *cases,
        *pairs,
        Case(f"{name}.BidirectionalMemory.update", pair(double.update), nan=(1,), shapes=(NEURONS,)),
    ]


def _ball(rng: np.random.Generator, neurons: int) -> Memory:
    stored = 0.1 * rng.normal(size=(3, neurons))
    space = spaces.Euclidean(confined=False)
    return Memory.create(stored, 0.1, similarity=SquaredDistance(), separation="epanechnikov", space=space)


def _of_scores(name: str, separation: Separation, options: dict) -> Case:
    """A function of scores and β."""
    function = getattr(thermodynamics, name)
    return Case(
        f"hopfield.observables.thermodynamics.{name}",
        lambda rng, shape: Call(function, (rng.normal(size=shape), rng.uniform(0.5, 2.0)), {"separation": separation}),
        nan=(0,),
        mask="mask",
        **options,
    )


def _of_weights(name: str, *more: Callable, two: bool = False) -> Case:
    """A function of weights, perhaps of a second array of them, and of further numbers."""
    function = getattr(thermodynamics, name)

    def draw(rng: np.random.Generator, shape: Shape) -> Call:
        rows = [rng.uniform(size=shape) for _ in range(1 + two)]
        return Call(function, (*rows, *(number(rng) for number in more)))

    return Case(
        f"hopfield.observables.thermodynamics.{name}", draw, nan=(0, 1) if two else (0,), mask="mask", shapes=ROWS
    )


def _statistics() -> list[Case]:
    cases = []
    levels = (
        "gibbs",
        "log_partition",
        "free_energy",
        "mean_energy",
        "thermal_entropy",
        "energy_variance",
        "heat_capacity",
    )
    for name in levels:
        cases.append(_of_scores(name, separations.LogSumExp(), {"shapes": ROWS}))
        cases += [
            _of_scores(name, separations.find(spec), {}) for spec in ("sparsemax", "entmax", "normmax", "top_k:3")
        ]
    exponents = [lambda rng: rng.uniform(0.5, 3.0)]
    cases += [_of_weights(name) for name in ("entropy", "normalised_entropy", "effective_number")]
    cases += [_of_weights(name, *exponents) for name in ("tsallis_entropy", "renyi_entropy")]
    cases += [_of_weights("kl_divergence", two=True)]
    cases.append(
        Case(
            "hopfield.observables.thermodynamics.variational_free_energy",
            lambda rng, shape: Call(
                thermodynamics.variational_free_energy,
                (rng.dirichlet(np.ones(shape[-1]), shape[:-1]), rng.normal(size=shape), rng.uniform(0.5, 2.0)),
            ),
            nan=(0, 1),
            mask="mask",
        )
    )
    cases.append(
        Case(
            "hopfield.observables.thermodynamics.mutual_information",
            lambda rng, shape: Call(
                thermodynamics.mutual_information, (rng.uniform(size=shape), rng.uniform(size=shape[:-1]))
            ),
            nan=(0, 1),
            shapes=((5, 7), (36, 106), (1, 2, 36, 106)),
        )
    )
    return cases


def _of_vectors(name: str, function: Callable, count: int, options: dict, *more: Any) -> Case:
    """A function of `count` vectors and of further arguments."""
    return Case(
        name,
        lambda rng, shape: Call(function, (*(rng.normal(size=shape) for _ in range(count)), *more)),
        **{"nan": tuple(range(count)), **options},
    )


def _measures() -> list[Case]:
    def of(name: str, count: int, *more: Any, **options: Any) -> Case:
        module = overlaps if hasattr(overlaps, name) else weights
        return _of_vectors(f"{module.__name__}.{name}", getattr(module, name), count, options, *more)

    cases = [of(name, 2) for name in ("overlap", "cosine_overlap", "sparse_overlap", "bit_error")]
    cases += [of(name, 1, mask="mask") for name in ("shares", "entropy", "effective_number", "participation_ratio")]
    cases += [of(name, 2, shows=lambda found: not bool(found)) for name in ("retained", "exact")]
    cases.append(of("dominates", 1, 0, shows=lambda found: not bool(found)))
    cases.append(of("pattern_gap", 1, shapes=((5, 7), (36, 106))))
    cases.append(of("least_distance", 1, shapes=((5, 7), (36, 106))))
    cases.append(
        Case(
            "hopfield.observables.overlaps.nearest_pattern",
            lambda rng, shape: Call(overlaps.nearest_pattern, (rng.normal(size=shape[1:]), rng.normal(size=shape))),
            nan=(0, 1),
            shapes=((5, 7), (36, 106)),
        )
    )
    return cases


def _of_separation(separation: Separation, called: str) -> list[Case]:
    """Potential, weights and shares of scores; the regulariser of weights where there is one."""

    def of(verb: str, **options: Any) -> Case:
        name = f"hopfield.separations.{type(separation).__name__}.{verb}"
        return _of_vectors(name, getattr(separation, verb), 1, {"mask": "mask", **options})

    cases = [of(verb) for verb in ("potential", "weights", "shares")]
    if called not in ("polynomial", "epanechnikov"):
        name = f"hopfield.separations.{type(separation).__name__}.regulariser"
        draw = lambda rng, shape: Call(separation.regulariser, (rng.dirichlet(np.ones(shape)),))  # noqa: E731
        cases.append(Case(name, draw, nan=(0,)))
    return cases


def _sparse_maps() -> list[Case]:
    def of(name: str, *more: Any, **options: Any) -> Case:
        return _of_vectors(f"hopfield.separations.simplex.{name}", getattr(simplex, name), 1, options, *more)

    masked = {"mask": "mask", "shapes": ((7,), (106,))}
    return [
        of("sparsemax", **masked),
        of("entmax", 1.5, **masked),
        of("normmax", 2.0, **masked),
        of("shifted", None),
        of("shannon_entropy"),
        of("tsallis_entropy", 1.5),
        of("alpha_norm", 1.5),
    ]


def _of_similarity(called: str) -> Case:
    similarity = contract.SIMILARITIES[called]
    return Case(
        f"hopfield.similarities.{type(similarity).__name__}.__call__",
        lambda rng, shape: Call(similarity, (rng.normal(size=shape), rng.normal(size=(3, *shape)))),
        nan=(0, 1),
        shapes=((contract.WIDTH,),),
    )


def _of_space(called: str) -> list[Case]:
    space = contract.SPACES[called]
    name = f"hopfield.spaces.{type(space).__name__}"

    def project(field, state, curvature=0.0):
        return space.project(field, state, jnp.asarray(curvature))

    draw = lambda rng, shape: Call(project, (rng.normal(size=shape), _spins(rng, shape), rng.uniform()))  # noqa: E731
    cases = [Case(f"{name}.project", draw, nan=(0,))]
    cases.append(_of_vectors(f"{name}.potential", space.potential, 1, {"nan": () if space.flat else (0,)}))
    ball = isinstance(space, spaces.Euclidean)
    cases.append(_of_vectors(f"{name}.violation", space.violation, 1, {"nan": () if ball else (0,)}))
    return cases


def _data() -> list[Case]:
    key = {"nan": (1,)}

    def corrupted(name: str) -> Case:
        function = getattr(patterns, name)
        return Case(
            f"{function.__module__}.{name}",
            lambda rng, shape: Call(function, (jax.random.key(1), rng.normal(size=shape), 0.0)),
            **key,
        )

    def ensemble(name: str, *more: float) -> Case:
        function = getattr(patterns, name)
        return Case(f"{function.__module__}.{name}", lambda rng, _: Call(function, (jax.random.key(1), 3, 8, *more)))

    rows = {"shapes": ((5, 7), (36, 106))}
    return [
        *(corrupted(name) for name in ("flip", "mask", "noise")),
        *map(ensemble, ("spins", "gaussian", "sphere")),
        ensemble("biased", 0.2),
        ensemble("correlated", 2.0),
        *(
            _of_vectors(f"hopfield.patterns.datasets.{name}", getattr(datasets, name), 1, rows)
            for name in ("to_norm", "standardise", "to_spins")
        ),
        *(
            _of_vectors(f"hopfield._numerics.{name}", getattr(_numerics, name), 1, rows | {"shapes": ROWS})
            for name in ("largest", "safe_norm", "unit")
        ),
    ]


def _diagnosed() -> list[Case]:
    def jacobian(memory, state):
        return stability.update_jacobian(memory, state).dense()

    def eigenpair(memory, state):
        return stability.largest_eigenvalue(stability.update_jacobian(memory, state))

    def kind(found: stability.Regime) -> bool:
        return int(found.kind) == stability.NOT_A_NUMBER and lost(found)

    cases = []
    for separation in ("softmax", "entmax:1.5"):

        def model(rng, neurons, separation=separation):
            return _modern(rng, neurons, separation)

        cases += [
            _on_state("hopfield.observables.stability.UpdateJacobian.dense", jacobian, model),
            _on_state("hopfield.observables.stability.largest_eigenvalue", eigenpair, model),
            _on_state("hopfield.observables.stability.susceptibility", stability.susceptibility, model),
            _on_state("hopfield.observables.stability.regime", stability.regime, model, shows=kind),
        ]
    return cases


def _in_blocks() -> list[Case]:
    cases = []
    for separation in (
        "sparsemax",
        "entmax",
        "epanechnikov",
        "rectified",
        "exponential",
    ):  # softmax is `attend_blockwise`

        def draw(function, rng, shape, separation=separation):
            def called(patterns, queries, beta):
                memory = Memory.create(patterns, beta, separation=separations.find(separation))
                return function(memory, queries, block=4)

            arguments = rng.normal(size=(9, *shape)), rng.normal(size=(2, *shape)), rng.uniform(0.5, 2.0)
            return Call(called, arguments)

        read = lambda rng, shape, draw=draw: draw(large.read, rng, shape)  # noqa: E731
        cases.append(Case("hopfield.large.read", read, nan=(1,)))

    def entropies(*arguments, **options):
        return large.statistics(*arguments, **options)[1]._replace(target_weight=None)

    statistics = lambda rng, shape: draw(entropies, rng, shape, "sparsemax")  # noqa: E731
    scores = lambda rng, shape: draw(large.scores, rng, shape, "softmax")  # noqa: E731

    def fields(rng, shape):
        patterns = np.sign(rng.normal(size=(9, *shape)))

        def called(queries):
            return large.local_field(Memory.create(patterns, 0.5, space=spaces.Spins()), queries, block=4)

        return Call(called, (_spins(rng, (2, *shape)),))

    return [
        *cases,
        Case("hopfield.large.statistics", statistics, nan=(1,)),
        Case("hopfield.large.scores", scores, nan=(1,)),
        Case("hopfield.large.local_field", fields),
    ]


def _named_memories() -> list[Case]:
    return [
        Case(
            f"hopfield.memories.{name}.{name}",
            lambda rng, shape, n=name: Call(find(n).build, (_spins(rng, (3, *shape)),)),
        )
        for name in names()
    ]


CASES: tuple[Case, ...] = (
    *_retrievals(),
    *_relaxations(),
    *_verbs(),
    *_sequences(),
    *_statistics(),
    *_measures(),
    *(case for name in separations.NAMES for case in _of_separation(separations.find(name), name)),
    _of_vectors("hopfield.separations.SoftmaxOne.leftover", separations.SoftmaxOne().leftover, 1, {}),
    *_sparse_maps(),
    *map(_of_similarity, contract.SIMILARITIES),
    *(case for name in contract.SPACES for case in _of_space(name)),
    *_data(),
    *_diagnosed(),
    *_in_blocks(),
    *_named_memories(),
)

_PARTIAL = "partial sums of `large.read`, which is called with every separation that has them"
_FIELDS = "called by `local_field` and the dynamics"
_STATIC = "no number goes in"
_SOURCE = "whole patterns, which constructors refuse where they hold NaN, or their bits"
EXCLUDED: dict[str, str] = {
    "hopfield.theory.*": "numpy; refuses NaN with a sentence",
    "hopfield._outside.*": "code found by its name",
    "hopfield.plots.*": "pictures",
    "hopfield.__main__.*": "the command",
    "hopfield.large.counts.*": "numpy; counts of spins, refused where they are none",
    "hopfield.large.overlap_sampling.*": "numpy; refuses NaN with a sentence",
    "hopfield.large.mesh.*": "devices and how they share what other functions are given",
    "hopfield.patterns.*ource*.*": _SOURCE,
    "hopfield.metrics.Contraction.in_words": _STATIC,
    "hopfield.patterns.bits.*": _SOURCE,
    "hopfield.large.energy": "`large.read` and the potential of the space",
    "hopfield.large.moments": "called by `Memory.update`",
    "hopfield.large.block_size": _STATIC,
    "hopfield.separations.Separation.*": "abstract",
    "hopfield.similarities.Similarity.*": "abstract",
    "hopfield.spaces.Space.*": "abstract",
    "hopfield.separations.*.block": _PARTIAL,
    "hopfield.separations.*.merge": _PARTIAL,
    "hopfield.separations.*.finish": _PARTIAL,
    "hopfield.separations.*.log_sizes": _PARTIAL,
    "hopfield.separations.*.potential_difference": _FIELDS,
    "hopfield.separations.*.fields": _FIELDS,
    "hopfield.separations.*.field_*": _FIELDS,
    "hopfield.separations.*.overlap_terms": _STATIC,
    "hopfield.separations.*.summand": "numpy; of overlaps that theory asks for",
    "hopfield.separations.*.log_weight": "numpy; of overlaps that theory asks for",
    "hopfield.separations.*.at_threshold": _PARTIAL,
    "hopfield.separations.*.regulariser": "TypeError: the potential is no maximum over weights",
    "hopfield.separations.[a-z]*": "builds a separation from checked numbers",
    "hopfield.similarities.*.spin_flip": _FIELDS,
    "hopfield.similarities.*.keys": _FIELDS,
    "hopfield.similarities.*.proximal_step": "called by `Memory.update`",
    "hopfield.similarities.*.minimiser": "called by `Memory.update`",
    "hopfield.similarities.*.summed": "called by `Memory.update`",
    "hopfield.similarities.*.of_states": "called by `large.read`",
    "hopfield.similarities.*.has_exact_step": _STATIC,
    "hopfield.similarities.*.width": _STATIC,
    "hopfield.similarities.bilinear": "builds a similarity from a checked metric",
    "hopfield.spaces.Box.lagrangian": "a closed form without a guard",
    "hopfield.spaces.aligned": _FIELDS,
    "hopfield.spaces.box": "builds a space from checked numbers",
    "hopfield.spaces.sphere": "builds a space from checked numbers",
    "hopfield.sequences.*.create": "checks its arguments; refuses NaN with a sentence",
    "hopfield.[mc]*.*.create": "checks its arguments; refuses NaN with a sentence",
    "hopfield.[mc]*.*.as_state": "checks a shape",
    "hopfield.[mc]*.*.cache": _FIELDS,
    "hopfield.[mc]*.*.field_at": _FIELDS,
    "hopfield.[mc]*.*.advance": _FIELDS,
    "hopfield.[mc]*.*.descends": _STATIC,
    "hopfield.couplings.Couplings.memory": "a decomposition of a checked matrix",
    "hopfield.couplings.hebb_couplings": "a product of checked patterns",
    "hopfield.memories.[a-z]*": _STATIC,
    "hopfield.memories.Blueprint.*": _STATIC,
    "hopfield.observables.stability.UpdateJacobian.linear": "called by `UpdateJacobian.dense`",
    "hopfield.observables.stability.update_jacobian": "called by `UpdateJacobian.dense`",
    "hopfield.observables.energies.energy_constant": "patterns are checked",
    "hopfield.observables.stability.retrieval_error_bound": "numpy; patterns are checked",
    "hopfield.dynamics.priorities": _STATIC,
    "hopfield.dynamics.visiting_order": _STATIC,
    "hopfield.spaces.as_known": "checks a shape",
    "hopfield.geometry.spd.as_symmetric": "checks a matrix",
    "hopfield.dynamics.as_model": "checks a type",
    "hopfield._checks.*": "checks of arguments, each with a sentence",
    "hopfield.dynamics.lost": "tells whether there is NaN",
    "hopfield.patterns.datasets.digits": _STATIC,
    "hopfield.patterns.datasets.photograph_patches": _STATIC,
    "hopfield.patterns.datasets.from_file": "refuses NaN with a sentence",
    "hopfield.patterns.corruptions.corrupt": "calls flip, mask or noise",
    "hopfield.patterns.corruptions.corruption": "reads text",
    "hopfield.observables._levels.*": "one row of what `thermodynamics` offers",
    "hopfield._numerics.*": "internal, called by all of the above",
}
"""Patterns of public names without a case, and why."""
