"""Closed sets of words: the members that a type checker and an editor know are those that the check lets through."""

import inspect
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

import pytest

from hopfield import Couplings, Memory, glauber, memories, memory, retrieve
from hopfield.attention import encodings, fast_weights, positions
from hopfield.dynamics import asynchronous
from hopfield.fisher import Fisher, fisher, operator
from hopfield.layers import learned_metric, metrics, options
from hopfield.layers import learned_positions as places
from hopfield.memories import Blueprint, unlearning
from hopfield.networks.random_features import FEATURES, FeatureKind, FeatureMemory
from hopfield.optim import diagonal_fisher, kronecker_natural_gradient, natural, natural_gradient
from hopfield.patterns import corruptions, ensembles, sources
from hopfield.theory import annealed, averages, base, linear, spherical

SETS = {
    "dynamics": (memory.Dynamics, memory.DYNAMICS),
    "order of a sweep": (asynchronous.SweepOrder, asynchronous.ORDERS),
    "kind of a Fisher information": (operator.FisherKind, operator.FISHER_KINDS),
    "solver": (operator.Solver, operator.SOLVERS),
    "solver, chosen": (natural.ChosenSolver, natural.CHOSEN_SOLVERS),
    "rule of fast weights": (fast_weights.Rule, fast_weights.FastWeights.RULES),
    "rule in theory": (linear.Rule, linear.RULES),
    "pairing": (positions.Pairing, positions.PAIRINGS),
    "scaling": (encodings.Scaling, encodings.SCALINGS),
    "features": (FeatureKind, FEATURES),
    "gradient": (options.Gradient, options.GRADIENTS),
    "metric": (metrics.MetricName, metrics.METRICS),
    "positions": (places.PositionName, places.NAMES),
    "parity": (memories.Parity, memories.PARITIES),
    "dream": (unlearning.Dream, unlearning.DREAMS),
    "ensemble": (ensembles.Ensemble, ensembles.ENSEMBLES),
    "region": (corruptions.Region, corruptions.REGIONS),
    "ensemble in theory": (averages.Ensemble, averages.ENSEMBLES),
    "criterion": (base.Criterion, base.CRITERIA),
    "criterion of weights": (spherical.WeightCriterion, spherical.CRITERIA),
    "dynamics in theory": (base.SpinDynamics, base.SPIN_DYNAMICS),
}

WEIGHTS = (spherical.critical_beta, spherical.critical_load, spherical.critical_patterns, annealed.critical_load)
LAWS = (spherical.typical_load, spherical.target_weight, spherical.converged, spherical.critical_beta)
PARAMETERS: list[tuple[Callable, str, Any]] = [
    (retrieve, "dynamics", memory.Dynamics),
    (glauber, "dynamics", memory.Dynamics),
    (Memory.descends, "dynamics", memory.Dynamics),
    (Couplings.descends, "dynamics", memory.Dynamics),
    (asynchronous.relax, "dynamics", asynchronous.SweepOrder),
    (fisher, "kind", operator.FisherKind),
    (Fisher.solve, "solver", operator.Solver),
    (natural_gradient, "fisher", operator.FisherKind),
    (natural_gradient, "solver", natural.ChosenSolver),
    (kronecker_natural_gradient, "fisher", operator.FisherKind),
    (diagonal_fisher, "fisher", operator.FisherKind),
    (fast_weights.FastWeights.create, "rule", fast_weights.Rule),
    (linear.key_found, "rule", linear.Rule),
    (linear.capacity, "rule", linear.Rule),
    (positions.rotary, "pairing", positions.Pairing),
    (encodings.Rotary.create, "pairing", positions.Pairing),
    (encodings.Rotary.create, "scaling", encodings.Scaling),
    (FeatureMemory.create, "kind", FeatureKind),
    (options.AssociationOptions, "gradient", options.Gradient),
    (learned_metric, "kind", metrics.MetricName),
    (Blueprint.rounded, "parity", memories.Parity),
    (unlearning.unlearning, "of", unlearning.Dream),
    (sources.generated, "ensemble", ensembles.Ensemble),
    (corruptions.mask, "region", corruptions.Region),
    (base.Theory.critical_load, "criterion", base.Criterion),
    (base.Theory.basins, "dynamics", base.SpinDynamics),
    *[(function, "criterion", spherical.WeightCriterion) for function in WEIGHTS],
    *[(function, "ensemble", averages.Ensemble) for function in LAWS],
]


@pytest.mark.parametrize("name", SETS)
def test_the_members_that_editors_know_are_those_that_are_checked(name):
    known, checked = SETS[name]
    assert get_origin(known) is Literal
    assert get_args(known) == tuple(checked)


NAMES = [f"{function.__module__}.{function.__qualname__}-{name}" for function, name, _ in PARAMETERS]


@pytest.mark.parametrize(("function", "name", "known"), PARAMETERS, ids=NAMES)
def test_a_parameter_of_a_closed_set_names_its_members(function, name, known):
    """The set itself, or the set and any text, where words of a configuration are handed on."""
    annotation = inspect.signature(function).parameters[name].annotation
    assert annotation == known or set(get_args(annotation)) == {known, str}
