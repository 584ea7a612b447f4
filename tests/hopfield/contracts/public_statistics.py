"""How statistical mechanics and measures of states and weights are called, with numbers drawn at random."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hopfield import separations
from hopfield.observables import correlations, overlaps, thermodynamics, weights
from hopfield.separations import Separation
from tests.hopfield.contracts.public import ROWS, Call, Case, Shape
from tests.hopfield.contracts.public_draws import of_vectors


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
        "boltzmann_weights",
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


def _measures() -> list[Case]:
    def case_of_measure(name: str, count: int, *more: Any, **options: Any) -> Case:
        module = overlaps if hasattr(overlaps, name) else weights
        return of_vectors(f"{module.__name__}.{name}", getattr(module, name), count, options, *more)

    cases = [case_of_measure(name, 2) for name in ("overlap", "cosine_overlap", "sparse_overlap", "bit_error")]
    cases += [case_of_measure(name, 1, mask="mask") for name in ("shares", "participation_ratio")]
    cases += [case_of_measure(name, 2, shows=lambda found: not bool(found)) for name in ("retained", "exact")]
    cases.append(case_of_measure("above", 1, 0.5, shows=lambda found: not bool(found.all())))
    cases.append(case_of_measure("pattern_gap", 1, shapes=((5, 7), (36, 106))))
    cases.append(case_of_measure("least_distance", 1, shapes=((5, 7), (36, 106))))
    cases.append(of_vectors(f"{correlations.__name__}.correlation_time", correlations.correlation_time, 1, {}))
    chains = f"{correlations.__name__}.split_rhat"
    drawn = lambda rng, shape: Call(correlations.split_rhat, (rng.normal(size=shape),))
    cases.append(Case(chains, drawn, nan=(0,), shapes=((5, 7), (36, 106))))
    cases.append(
        Case(
            "hopfield.observables.overlaps.nearest_pattern",
            lambda rng, shape: Call(overlaps.nearest_pattern, (rng.normal(size=shape[1:]), rng.normal(size=shape))),
            nan=(0, 1),
            shapes=((5, 7), (36, 106)),
        )
    )
    return cases


CASES: tuple[Case, ...] = (
    *_statistics(),
    *_measures(),
)
