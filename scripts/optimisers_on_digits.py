"""Natural gradients beside first-order optimisers on a two-layer transformer that reads digits.

    python scripts/optimisers_on_digits.py [--seeds 3] [--rules "adam;muon"] [--json FILE]

16 patches of 4 pixels, width 32, 26474 parameters, batches of 256 of 1400 images; 397 are held out. First-order rules
take the best of four rates on the first seed, natural gradients their defaults. Loss is that of all training images,
seconds are those of steps, medians over seeds; `first` is the first call, which compiles, and `most` the highest loss
of any seed over that at its start.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from sklearn.datasets import load_digits

from hopfield.layers import HopfieldAttention
from hopfield.optim import kronecker_natural_gradient, natural_gradient

TARGETS = (1.0, 0.5, 0.2)
BATCH, TRAINED = 256, 1400
SHORT, LONG, LOOKS = 40, 120, 24
"""Steps of natural gradients and of first-order rules, and how often their loss is looked at."""


class Block(nnx.Module):
    """Attention and two dense layers, each after a norm and added to what it read."""

    def __init__(self, width: int, rngs: nnx.Rngs) -> None:
        self.norms = nnx.List([nnx.LayerNorm(width, rngs=rngs) for _ in range(2)])
        self.attention = HopfieldAttention(4, width, rngs=rngs)
        self.up, self.down = nnx.Linear(width, 4 * width, rngs=rngs), nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = x + self.attention(self.norms[0](x))
        return x + self.down(nnx.gelu(self.up(self.norms[1](x))))


class Network(nnx.Module):
    """Logits of ten digits, from 16 patches of 4 pixels."""

    def __init__(self, rngs: nnx.Rngs, width: int = 32) -> None:
        self.embed = nnx.Linear(4, width, rngs=rngs)
        self.places = nnx.Param(0.02 * jax.random.normal(rngs.params(), (16, width)))
        self.blocks = nnx.List([Block(width, rngs) for _ in range(2)])
        self.norm, self.head = nnx.LayerNorm(width, rngs=rngs), nnx.Linear(width, 10, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = self.embed(x) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


GRAPH = nnx.graphdef(Network(nnx.Rngs(0)))


def model(params: nnx.State, x: jax.Array) -> jax.Array:
    """Logits [B, 10] of patches [B, 16, 4]."""
    return nnx.merge(GRAPH, params)(x)


@jax.jit
def loss(params: nnx.State, x: jax.Array, y: jax.Array) -> jax.Array:
    """Mean cross entropy."""
    return optax.softmax_cross_entropy_with_integer_labels(model(params, x), y).mean()


@jax.jit
def accuracy(params: nnx.State, x: jax.Array, y: jax.Array) -> jax.Array:
    """Share of images that are read as what they are."""
    return jnp.mean(model(params, x).argmax(1) == y)


class Rule(NamedTuple):
    """An optimiser: init(params) -> state, and step(params, state, x, y) -> both after it."""

    init: Callable
    step: Callable
    steps: int


def first_order(transform: optax.GradientTransformation) -> Rule:
    """An optax transform in a compiled step."""

    @jax.jit
    def step(params: Any, state: Any, x: jax.Array, y: jax.Array) -> tuple[Any, Any]:
        updates, state = transform.update(jax.grad(loss)(params, x, y), state, params)
        return optax.apply_updates(params, updates), state

    return Rule(transform.init, step, LONG)


def natural(factory: Callable, **options: Any) -> Rule:
    """A natural gradient of the model."""
    optimiser = factory(model, "categorical", **options)
    return Rule(optimiser.init, optimiser.step, SHORT)


RULES: dict[str, list[Callable[[], Rule]]] = {
    "sgd": [partial(lambda rate: first_order(optax.sgd(rate, momentum=0.9)), r) for r in (0.01, 0.03, 0.1, 0.3)],
    "adam": [partial(lambda rate: first_order(optax.adam(rate)), r) for r in (1e-3, 3e-3, 1e-2, 3e-2)],
    "muon": [partial(lambda rate: first_order(optax.contrib.muon(rate)), r) for r in (3e-3, 1e-2, 3e-2, 0.1)],
    "natural": [partial(natural, natural_gradient)],
    "natural, 10 iterations": [partial(natural, natural_gradient, max_iterations=10)],
    "natural, trust radius": [partial(natural, natural_gradient, damping=1e-2, trust_radius=0.5, max_iterations=20)],
    "natural, 64 examples": [partial(natural, natural_gradient, fisher="monte_carlo", examples=64)],
    "kronecker": [partial(natural, kronecker_natural_gradient)],
    "kronecker, 64 examples": [partial(natural, kronecker_natural_gradient, fisher="monte_carlo", examples=64)],
}


def data() -> tuple[jax.Array, jax.Array]:
    """Patches [1797, 16, 4] and classes, shuffled."""
    images, labels = load_digits(return_X_y=True)
    patches = (images / 16.0).reshape(-1, 4, 2, 4, 2).swapaxes(2, 3).reshape(-1, 16, 4)
    order = np.random.default_rng(0).permutation(len(labels))
    return jnp.asarray(patches[order], jnp.float32), jnp.asarray(labels[order], jnp.int32)


def run(rule: Rule, seed: int, x: jax.Array, y: jax.Array) -> dict[str, list[float]]:
    """Steps, seconds of them, loss and held-out accuracy, at the start and at about LOOKS steps."""
    params = nnx.state(Network(nnx.Rngs(seed)))
    state, total = rule.init(params), 0.0
    found: dict[str, list[float]] = {"steps": [], "seconds": [], "loss": [], "accuracy": []}

    def look(step: int) -> None:
        now = float(loss(params, x[:TRAINED], y[:TRAINED])), float(accuracy(params, x[TRAINED:], y[TRAINED:]))
        for row, value in zip(found.values(), (step, total, *now), strict=True):
            row.append(value)

    look(0)
    for step, rows in enumerate(batches(seed, rule.steps), 1):
        before = time.perf_counter()
        params, state = jax.block_until_ready(rule.step(params, state, x[rows], y[rows]))
        total += time.perf_counter() - before
        if step % max(1, rule.steps // LOOKS) == 0:
            look(step)
    return found


def batches(seed: int, steps: int) -> Iterator[np.ndarray]:
    """Rows of every batch."""
    rng = np.random.default_rng(seed)
    return (rng.permutation(TRAINED)[:BATCH] for _ in range(steps))


def measured(rules: list[Callable[[], Rule]], seeds: int, x: jax.Array, y: jax.Array) -> dict[str, Any]:
    """The best of some rules on the first seed: medians over seeds of what it reaches."""
    tried = []
    for make in rules:
        rule, params = make(), nnx.state(Network(nnx.Rngs(0)))
        before = time.perf_counter()
        jax.block_until_ready(rule.step(params, rule.init(params), x[:BATCH], y[:BATCH]))
        tried.append((make, rule, time.perf_counter() - before, run(rule, 0, x, y)))
    make, rule, first, begun = min(
        tried, key=lambda each: (reached(each[3], "seconds", TARGETS[1]), each[3]["loss"][-1])
    )
    runs = [begun, *(run(rule, seed, x, y) for seed in range(1, seeds))]
    place = runs[0]["steps"].index(20)
    middle = lambda values: float(np.median(list(values)))
    entry: dict[str, Any] = {"rate": make.args[0] if rule.steps == LONG else None, "first": first, "runs": runs}
    entry["step"] = middle(each["seconds"][-1] / rule.steps for each in runs)
    entry["most"] = max(max(each["loss"]) / each["loss"][0] for each in runs)
    entry |= {f"{name}_20": middle(each[name][place] for each in runs) for name in ("loss", "accuracy")}
    marks = [(mark, target) for mark in ("steps", "seconds") for target in TARGETS]
    return entry | {f"{mark}_{target}": middle(reached(each, mark, target) for each in runs) for mark, target in marks}


def reached(found: dict[str, list[float]], mark: str, target: float) -> float:
    """Steps or seconds until the loss is first seen to be at most the target, infinite if it is not."""
    return next((at for loss, at in zip(found["loss"], found[mark], strict=True) if loss <= target), np.inf)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rules", default=";".join(RULES), help="names, with a semicolon between them")
    parser.add_argument("--json", type=Path, help="file for all that was measured")
    given = parser.parse_args()
    x, y = data()
    found = {}
    targets = "".join(f"  steps, s to {target:g}" for target in TARGETS)
    print(f"{'rule':26} {'rate':>6} {'first':>6} {'ms':>6} {'loss 20':>8} {'acc 20':>7} {'most':>6}{targets}")
    for name in given.rules.split(";"):
        row = found[name] = measured(RULES[name], given.seeds, x, y)
        cells = "".join(f"  {row[f'steps_{t}']:6.0f} {row[f'seconds_{t}']:8.2f}" for t in TARGETS)
        rate = "" if row["rate"] is None else f"{row['rate']:g}"
        numbers = f"{row['first']:6.1f} {1e3 * row['step']:6.0f} {row['loss_20']:8.3f} {row['accuracy_20']:7.3f}"
        print(f"{name:26} {rate:>6} {numbers} {row['most']:6.2f}{cells}", flush=True)
    if given.json:
        given.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
