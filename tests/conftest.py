"""Strict numerics for the whole suite: 64-bit types available, no silent rank promotion, no GPU needed."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("WANDB_MODE", "disabled")

import jax
import matplotlib

matplotlib.use("Agg")
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
