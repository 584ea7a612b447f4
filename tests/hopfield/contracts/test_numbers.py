"""Numbers outside an argument's range: truth values are refused, traced numbers that cannot be are NaN."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import (
    Couplings,
    Memory,
    attention,
    fisher,
    glauber,
    large,
    layers,
    memories,
    metrics,
    patterns,
    retrieve,
    separations,
    spaces,
)
from hopfield.fisher import Gaussian
from hopfield.observables import overlaps, thermodynamics
from hopfield.patterns import datasets
from hopfield.theory import classical

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
SPINS = np.sign(RNG.normal(size=(3, 8)))
UP = SPINS > 0
ROWS = RNG.normal(size=(3, 4))
SCORES = np.array([0.3, -0.2, 0.9])
NETWORK = memories.find("classical").build(SPINS)
WEIGHTS = {"w": jnp.asarray(RNG.normal(size=(4, 3)))}


def model(params, x):
    return x @ params["w"]


INFORMATION = fisher.fisher(model, WEIGHTS, likelihood="categorical", inputs=ROWS)

TRUTHS = {
    "patterns": lambda: Memory(UP),
    "values": lambda: Memory(SPINS, values=UP),
    "matrix": lambda: Couplings(np.ones((3, 3), bool)),
    "state": lambda: retrieve(NETWORK, UP[0]),
    "corrupted state": lambda: patterns.flip(KEY, UP[0], 0.2),
    "rows of a large memory": lambda: large.read(Memory(SPINS), UP[:1]),
    "query": lambda: attention.attend(UP, SPINS, SPINS),
    "scores": lambda: attention.softmax(UP),
    "overlap": lambda: overlaps.overlap(UP[0], SPINS[0]),
    "tokens": lambda: layers.HopfieldAttention(2, 4, rngs=nnx.Rngs(0))(ROWS > 0),
    "load": lambda: classical.retrieval_overlap(True),
    "beta of a memory": lambda: Memory(SPINS, True),
    "beta of attention": lambda: attention.attend(ROWS, ROWS, ROWS, beta=True),
    "temperature": lambda: glauber(NETWORK, SPINS[0], KEY, True),
}


@pytest.mark.parametrize("case", TRUTHS)
def test_truth_values_are_no_numbers(case):
    """True is 1 to some; of spins, True and False are 1 and −1 to some and 1 and 0 to others."""
    with pytest.raises(ValueError, match=r" must .*got (bool|True|.*True)"):
        TRUTHS[case]()


TRACED = {
    "memory": (lambda x: Memory(ROWS, x).read(ROWS[0]), 0.0),
    "attend": (lambda x: attention.attend(ROWS, ROWS, ROWS, beta=x), -1.0),
    "attend_blockwise": (lambda x: attention.attend_blockwise(ROWS, ROWS, ROWS, beta=x), -1.0),
    "betas": (lambda x: attention.scores(ROWS[None], ROWS[None], beta=x[None]), -1.0),
    "layer": (
        lambda x: layers.HopfieldAssociation(1, 4, layers.AssociationOptions(beta=x))(*[ROWS[:, None]] * 3),
        -1.0,
    ),
    "large": (lambda x: large.read(Memory(ROWS, x), ROWS), -1.0),
    "glauber": (lambda x: glauber(NETWORK, SPINS[0], KEY, x, sweeps=2).mean, -1.0),
    "bandwidth": (lambda x: attention.kernel_regression(ROWS, ROWS, ROWS, bandwidth=x), -1.0),
    "temperature": (lambda x: attention.weights(ROWS, temperature=x), 0.0),
    "sphere": (lambda x: spaces.Sphere(x).project(ROWS[0], ROWS[0]), -1.0),
    "box": (lambda x: spaces.Box(x).project(ROWS[0], ROWS[0]), -1.0),
    "entmax": (lambda x: separations.Entmax(x).weights(SCORES), 3.5),
    "normmax": (lambda x: separations.Normmax(x).weights(SCORES), 1.0),
    "gibbs": (lambda x: thermodynamics.boltzmann_weights(SCORES, x), -1.0),
    "renyi": (lambda x: thermodynamics.renyi_entropy(SCORES, x), -1.0),
    "tsallis": (lambda x: thermodynamics.tsallis_entropy(SCORES, x), 0.0),
    "scale": (lambda x: metrics.Scaled(4, x).form(ROWS, ROWS), -1.0),
    "norm": (lambda x: datasets.to_norm(ROWS, x), -1.0),
    "variance": (lambda x: Gaussian(x).score(ROWS, ROWS + 1.0), -1.0),
    "damping": (lambda x: INFORMATION.solve(WEIGHTS, x)[0], -1.0),
    "damping of a factor": (lambda x: INFORMATION.solve(WEIGHTS, x, solver="cholesky")[0], -1.0),
}


@pytest.mark.parametrize("case", TRACED)
def test_traced_numbers_out_of_range_are_lost(case):
    """Numbers refused by a constructor outside jit give none within: a plain negative β would anti-retrieve."""
    function, outside = TRACED[case]
    for leaf in jax.tree.leaves(jax.jit(function)(outside)):
        assert np.isnan(leaf).all()
    with pytest.raises(ValueError, match=" must "):
        function(np.float64(outside))
