"""Closed sets of words: the members that a type checker and an editor know are those that the check lets through."""

from typing import Literal, get_args, get_origin

import pytest

from hopfield import memories, memory
from hopfield.attention import encodings, fast_weights, positions
from hopfield.dynamics import asynchronous
from hopfield.fisher import operator
from hopfield.layers import learned_positions as places
from hopfield.layers import metrics, options
from hopfield.memories import unlearning
from hopfield.networks.random_features import FEATURES, FeatureKind
from hopfield.optim import natural
from hopfield.patterns import corruptions, ensembles
from hopfield.theory import averages, base, linear, spherical

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


@pytest.mark.parametrize("name", SETS)
def test_the_members_that_editors_know_are_those_that_are_checked(name):
    known, checked = SETS[name]
    assert get_origin(known) is Literal
    assert get_args(known) == tuple(checked)
