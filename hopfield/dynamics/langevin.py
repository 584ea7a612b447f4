"""Langevin dynamics of continuous states at a temperature, each step accepted by Metropolis' rule."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import integer, positive_scalar, random_key, step_limit
from hopfield._numerics import fori_loop, safe_norm, scan, wide
from hopfield.dynamics.models import Model, as_model
from hopfield.spaces import Euclidean, Sphere, State

ACCEPTED = 0.574
"""Share of accepted steps that the step size is set for: the best in many dimensions (Roberts & Rosenthal 1998)."""


class Thermal(NamedTuple):
    """States of one chain [S, N], their energies [S], the share of steps accepted, and the step size.

    Example:
        >>> from hopfield import Memory
        >>> from hopfield.dynamics import langevin
        >>> memory = Memory(jnp.eye(3), beta=4.0, space="sphere:1")
        >>> chain = langevin(memory, jnp.eye(3)[0], jax.random.key(0), 0.1, samples=50)
        >>> chain.states.shape, bool(jnp.allclose(jnp.linalg.norm(chain.states, axis=1), 1.0, atol=1e-5))
        ((50, 3), True)
    """

    states: Float[Array, "S N"]
    energies: Float[Array, "S"]
    accepted: Float[Array, ""]
    step_size: Float[Array, ""]


class _Chain(NamedTuple):
    """State of a chain: x, E(x), its slope within the space, and ln of the step size."""

    state: State
    energy: Array
    slope: State
    log_step: Array
    accepted: Array


def langevin(
    model: Model,
    state: State,
    key,
    temperature: float,
    *,
    samples: int = 1000,
    every: int = 10,
    burn_in: int = 1000,
    step_size: float | None = None,
) -> Thermal:
    """Samples of exp(−E(x)/T) on ℝᴺ or on a sphere: v = −(h²/2T) ∇E + h ξ, x' = exp_x(v), accepted by Metropolis' rule.

    On a sphere slopes and noise are tangents, and steps follow great circles. During the burn-in the step size h is
    adapted until 57 % of the steps are accepted; it stays what it is then. Chains are batched with `jax.vmap`.

    Args:
        model: a `Model` of continuous states, such as a Memory in Euclidean space or on a sphere.
        state: start [N]; on a sphere its direction.
        key: JAX random key.
        temperature: T > 0, in units of the energy; may be traced.
        samples, every: how many states are kept, and steps between two of them.
        burn_in: steps before the first.
        step_size: h at the start; √T/N^(1/6) if None.
    Raises:
        ValueError: states are neither in Euclidean space nor on a sphere; `glauber` is for spins.
    Source: Roberts & Tweedie 1996; on manifolds, Girolami & Calderhead 2011.
    """
    space = getattr(as_model("model", model, Model), "space", None)
    if not isinstance(space, Euclidean | Sphere):
        raise ValueError(f"model must have states in Euclidean space or on a sphere, got {type(space).__name__}")
    start = wide(model.as_state(state))
    start = space.project(start, start) if isinstance(space, Sphere) else start
    heat = jnp.asarray(positive_scalar("temperature", temperature), start.dtype)
    usual = jnp.sqrt(heat) / start.size ** (1 / 6)
    step = usual if step_size is None else jnp.asarray(positive_scalar("step_size", step_size), start.dtype)
    sizes = {"samples": integer("samples", samples), "every": integer("every", every)}
    return _run(model, start, random_key("key", key), (heat, step), step_limit("burn_in", burn_in, 0), **sizes)


@partial(jax.jit, static_argnames=("samples", "every"))
def _run(model, start, key, scales, burn_in, *, samples: int, every: int) -> Thermal:
    (heat, length), slope_of = scales, jax.value_and_grad(model.energy)

    def at(x: State, log_step: Array, accepted: Array) -> _Chain:
        energy, slope = slope_of(x)
        return _Chain(x, energy, _tangent(model.space, x, slope), log_step, accepted)

    def advance(chain: _Chain, number: Array) -> tuple[_Chain, Array]:
        noise_key, chance_key = jax.random.split(jax.random.fold_in(key, number))
        h = jnp.exp(chain.log_step)
        noise = _tangent(model.space, chain.state, jax.random.normal(noise_key, start.shape, start.dtype))
        step = h * noise - 0.5 * h**2 / heat * chain.slope
        moved, back, near = _moved(model.space, chain.state, step)
        new = at(moved, chain.log_step, chain.accepted)
        forth = jnp.sum(noise**2)
        rebound = jnp.sum((back + 0.5 * h**2 / heat * new.slope) ** 2) / h**2
        log_chance = (chain.energy - new.energy) / heat + 0.5 * (forth - rebound)
        chance = jnp.where(near, jnp.minimum(jnp.exp(jnp.minimum(log_chance, 0.0)), 1.0), 0.0)
        taken = jax.random.uniform(chance_key) < chance
        return jax.tree.map(lambda a, b: jnp.where(taken, a, b), new, chain), jnp.nan_to_num(chance)

    def warm(number: Array, chain: _Chain) -> _Chain:
        chain, chance = advance(chain, number)
        rate = 1.0 / jnp.sqrt(number + 1.0)
        return chain._replace(log_step=chain.log_step + rate * (chance - ACCEPTED))

    def sample(chain: _Chain, index: Array) -> tuple[_Chain, tuple[State, Array]]:
        def one(k: Array, chain: _Chain) -> _Chain:
            chain, chance = advance(chain, burn_in + index * every + k)
            return chain._replace(accepted=chain.accepted + chance / (samples * every))

        chain = fori_loop(0, every, one, chain)
        return chain, (chain.state, chain.energy)

    chain = fori_loop(0, burn_in, warm, at(start, jnp.log(length), jnp.zeros((), start.dtype)))
    chain, (states, energies) = scan(sample, chain, jnp.arange(samples))
    return Thermal(states, energies, chain.accepted, jnp.exp(chain.log_step))


def _tangent(space, x: State, vector: State) -> State:
    """Part of a vector within the space at x: on a sphere its tangent."""
    return vector - jnp.dot(vector, x) / jnp.dot(x, x) * x if isinstance(space, Sphere) else vector


def _moved(space, x: State, step: State) -> tuple[State, State, Array]:
    """exp_x(step), the step that leads back, and whether it is the only one, of less than half a great circle."""
    if not isinstance(space, Sphere):
        return x + step, -step, jnp.ones((), bool)
    radius, length = safe_norm(x), safe_norm(step)
    angle = length / radius
    along = step / jnp.where(length == 0, 1.0, length)
    moved = jnp.cos(angle) * x + radius * jnp.sin(angle) * along
    back = -length * (jnp.cos(angle) * along - jnp.sin(angle) * x / radius)
    return moved * (radius / safe_norm(moved)), back, angle < jnp.pi
