"""The explorer's script follows the library: the same sweeps, energies and weights, spin by spin."""

import json
import shutil
import subprocess
from pathlib import Path

import jax
import numpy as np
import pytest

from hopfield import Memory
from hopfield.dynamics import sweep
from hopfield.separations import Exponential, LogSumExp, Polynomial
from hopfield.spaces import Euclidean, Spins

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "_static" / "explorer" / "memory.js"
NODE = shutil.which("node")
N, BETA = 40, 9.0
PROGRAM = """
const memory = require(process.argv[1]);
const { name, patterns, state, beta } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const X = patterns.map((row) => Float64Array.from(row));
const x = Float64Array.from(state);
const found = memory.sweep(name, X, x, beta, Array.from(x.keys()));
console.log(JSON.stringify({
  state: Array.from(found), weights: memory.weights(name, X, x, beta),
  fall: memory.energy(name, X, x, beta) - memory.energy(name, X, found, beta),
}));
"""
MODELS = {
    "classical": (lambda X: Memory(X, 1 / N, separation=Polynomial(2), space=Spins()), 1.0),
    "dense": (lambda X: Memory(X, 1 / N, separation=Polynomial(3), space=Spins()), 1.0),
    "exponential": (lambda X: Memory(X, BETA / N, separation=Exponential(), space=Spins()), np.exp(-BETA)),
    "modern": (lambda X: Memory(X, BETA / N, separation=LogSumExp(), space=Euclidean()), 1.0),
}


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("name", MODELS)
def test_the_script_sweeps_as_the_library_does(name):
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (6, N)).astype(np.float32)
    start = X[0] * np.where(rng.random(N) < 0.2, -1, 1).astype(np.float32)
    given = json.dumps({"name": name, "patterns": X.tolist(), "state": start.tolist(), "beta": BETA})
    ran = subprocess.run([NODE, "-e", PROGRAM, SCRIPT], input=given, capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    build, scale = MODELS[name]
    model = build(X)
    ours = model.update(start) if name == "modern" else sweep(model, start, np.arange(N))
    state = getattr(ours, "state", ours)
    np.testing.assert_allclose(found["state"], state, atol=1e-5)
    np.testing.assert_allclose(found["weights"], jax.jit(model.shares)(start), atol=1e-5)
    fall = (model.energy(start) - model.energy(state)) * scale / N
    np.testing.assert_allclose(found["fall"], fall, rtol=1e-4, atol=1e-6)
