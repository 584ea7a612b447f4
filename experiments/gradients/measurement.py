"""Gradients of one attention, drawn at random from its names and verified in every input."""

import zlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.gradients.config import SHAPES
from hopfield import metrics, separations
from hopfield.attention import masks
from hopfield.attention.verification import verify_gradients

WIDTH, KEY_WIDTH, RANK, VALUES = 4, 5, 3, 2


def checks_of_case(seed: int, dtype: str, separation: str, metric: str, mask: str, shape: str) -> dict[str, dict]:
    """Deviations of the gradients of one random attention, by input; all number types round the same draw."""
    rng = np.random.default_rng([seed, zlib.crc32("/".join((separation, metric, mask, shape)).encode())])
    leading, key_leading, queries, keys = SHAPES[shape]
    heads = leading[-1:]
    maps = {"softmax": separations.LogSumExp(), "sparsemax": separations.Sparsemax()}
    with jax.enable_x64(dtype == "float64"):
        width = KEY_WIDTH if metric in ("full", "projected", "biased") else WIDTH
        shapes = ((*leading, queries, WIDTH), (*key_leading, keys, width), (*key_leading, keys, VALUES))
        drawn = [jnp.asarray(rng.normal(size=size), dtype) for size in shapes]
        beta, temperature = np.exp(0.3 * rng.normal(size=heads)), np.exp(0.3 * rng.normal())
        options: dict[str, Any] = {"beta": jnp.asarray(beta, dtype), "temperature": jnp.asarray(temperature, dtype)}
        options["metric"] = _metric(metric, rng, heads, dtype)
        options |= _mask(mask, rng, leading, queries, keys, dtype)
        chosen = maps[separation] if separation in maps else separations.entmax(1.5)
        checks = verify_gradients(*drawn, separation=chosen, seed=int(rng.integers(2**32)), **options)
    return {check["input"]: check for check in checks.table()}


def _metric(name: str, rng: np.random.Generator, heads: tuple[int, ...], dtype: str) -> Any:
    """A random metric with one value per head, of typical score 1."""

    def normal(*shape: int, scale: float = 1.0) -> Any:
        return jnp.asarray(scale * rng.normal(size=(*heads, *shape)), dtype)

    half = WIDTH // 2
    make = {
        "none": lambda: None,
        "scaled": lambda: metrics.scaled(WIDTH, jnp.asarray(np.exp(0.3 * rng.normal(size=heads)) / 2, dtype)),
        "diagonal": lambda: metrics.diagonal(normal(WIDTH)),
        "full": lambda: metrics.full(normal(WIDTH, KEY_WIDTH, scale=0.3)),
        "low_rank": lambda: metrics.low_rank(normal(half, WIDTH, scale=0.5)),
        "projected": lambda: metrics.projected(normal(WIDTH, RANK, scale=0.5), normal(KEY_WIDTH, RANK, scale=0.5)),
        "biased": lambda: metrics.projected(
            normal(WIDTH, RANK, scale=0.5), normal(KEY_WIDTH, RANK, scale=0.5), normal(RANK), normal(RANK)
        ),
        "block": lambda: metrics.block(metrics.diagonal(normal(half)), metrics.low_rank(normal(1, half))),
    }
    return make[name]()


def _mask(name: str, rng: np.random.Generator, leading: tuple[int, ...], queries: int, keys: int, dtype: str) -> dict:
    """Mask and additive mask of a case. The random mask leaves one query without a readable key."""
    if name == "bias":
        return {"bias": jnp.asarray(rng.normal(size=(queries, keys)), dtype)}
    made = {
        "none": lambda: None,
        "causal": masks.causal,
        "window": lambda: masks.sliding_window(1, 1),
        "padding": lambda: masks.padding(jnp.asarray(rng.integers(1, keys + 1, size=leading))),
        "random": lambda: jnp.asarray(rng.random((queries, keys)) < 0.6).at[0].set(False),
    }
    return {"mask": made[name]()}
