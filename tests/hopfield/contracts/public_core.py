"""How the parts of memories are called: separations, similarities, spaces, patterns, reading in blocks."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hopfield import Memory, _numerics, large, patterns, separations, spaces
from hopfield.memories import find, names
from hopfield.patterns import datasets
from hopfield.separations import Separation, simplex
from tests.hopfield.contracts import parts as contract
from tests.hopfield.contracts.parts import has_jacobian_by_hand, has_regulariser
from tests.hopfield.contracts.public import ROWS, Call, Case, by_reason
from tests.hopfield.contracts.public_draws import case, normal, of_vectors, spins
from tests.hopfield.contracts.public_draws import simplex as simplex_of


def _of_separation(separation: Separation) -> list[Case]:
    """Potential, weights and shares of scores; the regulariser of weights where there is one."""

    def case_of_scores(verb: str, **options: Any) -> Case:
        name = f"hopfield.separations.{type(separation).__name__}.{verb}"
        return of_vectors(name, getattr(separation, verb), 1, {"mask": "mask", **options})

    cases = [case_of_scores(verb) for verb in ("potential", "weights", "shares")]
    if has_jacobian_by_hand(separation):
        name = f"separations.{type(separation).__name__}.jacobian_product"
        cases.append(case(name, separation.jacobian_product, simplex_of(2, 5), normal(2, 5)))
    if has_regulariser(separation):
        name = f"hopfield.separations.{type(separation).__name__}.regulariser"
        draw = lambda rng, shape: Call(separation.regulariser, (rng.dirichlet(np.ones(shape)),))
        cases.append(Case(name, draw, nan=(0,)))
    return cases


def _sparse_maps() -> list[Case]:
    def case_of_map(name: str, *more: Any, **options: Any) -> Case:
        return of_vectors(f"hopfield.separations.simplex.{name}", getattr(simplex, name), 1, options, *more)

    masked = {"mask": "mask", "shapes": ((7,), (106,))}
    return [
        case_of_map("sparsemax", **masked),
        case_of_map("entmax", 1.5, **masked),
        case_of_map("normmax", 2.0, **masked),
        case_of_map("shifted", None),
        case_of_map("shannon_entropy"),
        case_of_map("tsallis_entropy", 1.5),
        case_of_map("alpha_norm", 1.5),
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

    draw = lambda rng, shape: Call(project, (rng.normal(size=shape), spins(rng, shape), rng.uniform()))
    cases = [Case(f"{name}.project", draw, nan=(0,))]
    cases.append(of_vectors(f"{name}.potential", space.potential, 1, {"nan": () if space.flat else (0,)}))
    ball = isinstance(space, spaces.Euclidean)
    cases.append(of_vectors(f"{name}.violation", space.violation, 1, {"nan": () if ball else (0,)}))
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
        *(corrupted(name) for name in ("flip", "hide", "noise")),
        *map(ensemble, ("spins", "gaussian", "sphere")),
        ensemble("biased", 0.2),
        ensemble("correlated", 2.0),
        *(
            of_vectors(f"hopfield.patterns.datasets.{name}", getattr(datasets, name), 1, rows)
            for name in ("to_norm", "standardise", "to_spins")
        ),
        *(
            of_vectors(f"hopfield._numerics.{name}", getattr(_numerics, name), 1, rows | {"shapes": ROWS})
            for name in ("largest", "safe_norm", "unit")
        ),
    ]


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
                memory = Memory(patterns, beta, separation=separations.find(separation))
                return function(memory, queries, block=4)

            arguments = rng.normal(size=(9, *shape)), rng.normal(size=(2, *shape)), rng.uniform(0.5, 2.0)
            return Call(called, arguments)

        read = lambda rng, shape, draw=draw: draw(large.read, rng, shape)
        cases.append(Case("hopfield.large.reading.read", read, nan=(1,)))

    def entropies(*arguments, **options):
        return large.statistics(*arguments, **options)[1]._replace(target_weight=None)

    statistics = lambda rng, shape: draw(entropies, rng, shape, "sparsemax")
    scores = lambda rng, shape: draw(large.scores, rng, shape, "softmax")

    def fields(rng, shape):
        patterns = np.sign(rng.normal(size=(9, *shape)))

        def called(queries):
            return large.local_field(Memory(patterns, 0.5, space=spaces.Spins()), queries, block=4)

        return Call(called, (spins(rng, (2, *shape)),))

    return [
        *cases,
        Case("hopfield.large.reading.statistics", statistics, nan=(1,)),
        Case("hopfield.large.reading.scores", scores, nan=(1,)),
        Case("hopfield.large.reading.local_field", fields),
    ]


def _named_memories() -> list[Case]:
    def steps(rng, shape, spec):
        return Call(find(spec).build(spins(rng, (3, *shape))).update, (spins(rng, shape),))

    return [
        *(
            Case(
                f"hopfield.memories.{name}.{name}",
                lambda rng, shape, n=name: Call(find(n).build, (spins(rng, (3, *shape)),)),
            )
            for name in names()
        ),
        *(  # fields whose form depends on the numbers
            Case("hopfield.memory.Memory.update", partial(steps, spec=spec), nan=(0,))
            for spec in ("dense:3", "dense:12", "dense:30", "exponential", "modern")
        ),
    ]


CASES: tuple[Case, ...] = (
    *(case for name in separations.NAMES for case in _of_separation(separations.find(name))),
    *_of_separation(separations.SteepEntmax()),
    of_vectors("hopfield.separations.SoftmaxOne.leftover", separations.SoftmaxOne().leftover, 1, {}),
    *_sparse_maps(),
    *map(_of_similarity, contract.SIMILARITIES),
    *(case for name in contract.SPACES for case in _of_space(name)),
    *_data(),
    *_in_blocks(),
    *_named_memories(),
)
EXCLUDED = by_reason(
    {
        "draws spins; features and archetypes are checked": "patterns.structured.*",
        "numpy; refuses NaN with a sentence": "theory.* large.overlap_sampling.*",
        "code found by its name": "outside.*",
        "a hash of code": "_content.*",
        "runs experiments": "_door.*",
        "checks its arguments as the constructor does": "*.replace",
        "pictures": "_pictures.* plots.*",
        "fields of nodes, as they are": "_pytrees.*",
        "starts programs of checked arrays": "_triton.*",
        "tells of a checked matrix": "couplings.*symmetr*",
        "checks a matrix": "couplings.square_matrix geometry.spd.as_symmetric",
        "checks a file": "patterns.datasets.check_archive",
        "the command": "__main__.*",
        "numpy; counts of spins, refused where they are none": "large.counts.*",
        "devices and how they share what other functions are given": "large.mesh.*",
        "whole patterns, which constructors refuse where they hold NaN, or their bits": (
            "patterns.*ource*.* patterns.bits.*"
        ),
        "no number goes in": (
            "metrics.Contraction.in_words memories._scaling.* separations.*.overlap_terms "
            "similarities.*.has_exact_step similarities.*.width spaces.names [mc]*.*.descends memories.[a-z]* "
            "memories.Blueprint.* dynamics.priorities dynamics.visiting_order patterns.datasets.digits "
            "patterns.datasets.photograph_patches"
        ),
        "theory of a memory, in numpy": "memories._derived.*",
        "`large.read` and the potential of the space": "large.reading.energy",
        "called by `Memory.update`": (
            "large.reading.moments similarities.*.proximal_step similarities.*.minimiser similarities.*.summed"
        ),
        "checks indices": "large.reading.own_patterns",
        "passes over patterns, called by `large.reading`": "large._*",
        "abstract": "separations.Separation.* similarities.Similarity.* spaces.Space.*",
        "partial sums of `large.read`, which is called with every separation that has them": (
            "separations.*.block separations.*.merge separations.*.finish separations.*.log_sizes"
        ),
        "called by `local_field` and the dynamics": (
            "separations.*.potential_difference separations._ties.* separations.*.fields "
            "separations.*.field_* similarities.*.spin_flip similarities.*.flips similarities.*.known_fields "
            "similarities.*.keys spaces.aligned [mc]*.*.cache [mc]*.*.field_at [mc]*.*.advance"
        ),
        "numpy; of overlaps that theory asks for": "separations.*.summand separations.*.log_weight",
        "ValueError: the weights do not tell it": "separations.*.jacobian_product",
        "TypeError: the potential is no maximum over weights": "separations.*.regulariser",
        "builds a separation from checked numbers": "separations.[a-z]*",
        "called by `large.read`": "similarities.*.of_states",
        "builds a similarity from a checked metric or from its name": "similarities.[a-z]*",
        "a closed form without a guard": "spaces.Box.lagrangian",
        "builds a space from its name": "spaces.as_space spaces.find",
        "checks a shape": "[cmns]*.*.as_state",
        "a protocol": "dynamics.Updates.* dynamics.*Model.*",
        "a decomposition of a checked matrix": "couplings.Couplings.memory",
        "a product of checked patterns": "couplings.hebb_couplings",
        "bits of checked patterns": "packed.packed_couplings",
        "called by `UpdateJacobian.dense`": (
            "observables.stability.UpdateJacobian.linear observables.stability.update_jacobian"
        ),
        "patterns are checked": "observables.energies.energy_constant",
        "numpy; patterns are checked": "observables.stability.retrieval_error_bound",
        "the patterns, zero where masked": "memory.Memory.stored",
        "checks a type": "dynamics.as_model",
        "builds parts from their names": "_names.*",
        "checks of arguments, each with a sentence": "_arguments.*",
        "checks of a memory's parts, each with a sentence": "_parts.*",
        "internal, called by metrics, attention, layers and geometry": "_arrays.*",
        "refuses NaN with a sentence": "patterns.datasets.from_file",
        "calls flip, mask or noise": "patterns.corruptions.corrupt",
        "reads text": "patterns.corruptions.corruption",
        "called by `stability.largest_eigenvalue`": "observables._krylov.*",
        "one row of what `thermodynamics` offers": "observables._levels.*",
        "internal, called by all of the above": "_numerics.*",
    }
)
"""Patterns of public names without a case, and why."""
