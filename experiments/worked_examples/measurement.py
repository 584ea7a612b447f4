"""Measurement of the worked examples: attention, temperature and softmax, read from a memory."""

import jax.numpy as jnp

from experiments.worked_examples.printed import KEYS, LOGITS, PRINTED, QUERIES, SCORES, VALUES
from hopfield.memory import Memory
from hopfield.observables import stability, thermodynamics


def attention() -> dict[tuple[str, str], list[float]]:
    """Scaled dot-product attention of the queries, read from a memory of the keys at β = 1/√d."""
    memory = Memory.create(jnp.asarray(KEYS), len(KEYS[0]) ** -0.5, values=jnp.asarray(VALUES))
    printed = {("1/sqrt(d)", ""): [float(memory.beta)]}
    for number, query in enumerate(jnp.asarray(QUERIES), start=1):
        scores = memory.beta * memory.scores(query)
        exponentials = jnp.exp(scores)
        row = {"S": scores, "exp S": exponentials, "Z": jnp.sum(exponentials)[None]}
        row |= {"A": memory.weights(query), "O": memory.read(query)}
        printed |= {(quantity, f"query {number}"): list(map(float, values)) for quantity, values in row.items()}
    return printed


def temperature() -> dict[tuple[str, str], list[float]]:
    """Gibbs weights of the scores and their entropy at the temperatures that are printed."""
    printed = {}
    for _, row in PRINTED["guide", "temperature"]:
        weights = thermodynamics.gibbs(jnp.asarray(SCORES), 1 / float(row.removeprefix("T=")))
        printed["p", row] = list(map(float, weights))
        printed["H", row] = [float(thermodynamics.entropy(weights))]
    return printed


def jacobian() -> dict[tuple[str, str], list[float]]:
    """Softmax and its Jacobian: weights and susceptibility of a memory whose patterns are the unit vectors at β = 1."""
    memory, logits = Memory.create(jnp.eye(len(LOGITS))), jnp.asarray(LOGITS)
    printed = {("a", ""): list(map(float, memory.weights(logits)))}
    for number, row in enumerate(stability.susceptibility(memory, logits), start=1):
        printed["J", f"row {number}"] = list(map(float, row))
    return printed
