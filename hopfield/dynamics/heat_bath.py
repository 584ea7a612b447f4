"""Heat-bath (Glauber) dynamics at a temperature, one neuron at a time, and the Gibbs averages along it."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import one_of, positive_scalar, random_key, step_limit
from hopfield._numerics import accumulation_dtype, fori_loop, scan
from hopfield.couplings import Couplings
from hopfield.dynamics.asynchronous import ORDERS, Order, visit_each, visiting_order
from hopfield.dynamics.models import SpinModel, as_spin_model
from hopfield.memory import Dynamics
from hopfield.spaces import Known, State, as_known


class HeatBath(NamedTuple):
    """Final state [N], mean state over the sweeps after burn-in [N], and their mean energy.

    Example:
        >>> from hopfield import Memory, glauber, separations, spaces
        >>> memory = Memory(jnp.ones((1, 8)), 1 / 8, separation=separations.Linear(), space=spaces.Spins())
        >>> glauber(memory, jnp.ones(8), key=jax.random.key(0), temperature=0.01, sweeps=10).mean.tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """

    state: State
    mean: Float[Array, "N"]
    energy: Float[Array, ""]


VISITS_AT_ONCE = 64
"""Visits of a heat-bath sweep whose effect on all other neurons is applied at once, as one matrix product."""


def glauber(
    model: SpinModel,
    state: State,
    key,
    temperature: float,
    *,
    sweeps: int = 100,
    burn_in: int = 0,
    dynamics: Dynamics = "asynchronous",
    known: Known = None,
    order_key=None,
) -> HeatBath:
    """Heat-bath dynamics: neuron i becomes +1 with probability 1 / (1 + exp(−2 h_i / T)) (Glauber 1963).

    Args:
        model: Memory on Spins, Couplings or another `SpinModel`.
        state: starting spins [N].
        key: JAX random key, third by position or by name as in `retrieve`; `temperature` follows in the same way.
        temperature: T > 0 in the units of the energy; may be traced.
        sweeps: sweeps made after `burn_in` further ones that are not averaged.
        dynamics: "asynchronous", "sequential", or "synchronous" (all neurons at once; Little 1974).
        known: units held fixed [N].
        order_key: random key of the visiting orders, from `key` by default. Chains in one network that share it
            under `jax.vmap` (temperatures, starts) visit the same neurons together, which on Couplings is several
            times as fast; a chain on its own gains nothing.
    """
    one_of("dynamics", dynamics, (*ORDERS, "synchronous"))
    sweeps, burn_in = step_limit("sweeps", sweeps), step_limit("burn_in", burn_in, 0)
    random_key("key", key)
    if order_key is not None:
        random_key("order_key", order_key)
    state = as_spin_model("model", model).as_state(state)
    scale = jnp.asarray(positive_scalar("temperature", temperature))
    known = jnp.zeros(state.shape, bool) if known is None else as_known(known, state)
    return _glauber(model, state, (key, order_key), scale, (burn_in, sweeps), known, dynamics=dynamics)


@partial(jax.jit, static_argnames="dynamics")
def _glauber(model: SpinModel, state: State, keys, scale, lengths, known, *, dynamics: Dynamics) -> HeatBath:
    (key, order_key), (burn_in, sweeps) = keys, lengths
    dtype = accumulation_dtype(state.dtype)  # of chances and sums: bfloat16 counts to 256
    own_key, key = jax.random.split(key)
    shared = order_key is not None and isinstance(model, Couplings)
    order_key = own_key if order_key is None else order_key

    def turn(number, carry):
        state, cache, total, energy, excess = carry
        order = None if dynamics == "synchronous" else visiting_order(order_key, number, state.size, dynamics)
        own = jax.random.fold_in(key, number)
        state, cache = heat_bath_sweep(model, (state, cache), own, scale, order, known, shared=shared)
        counted = number >= burn_in
        more = jnp.where(counted, energy_of(model, state, cache), 0.0) - excess  # what the sum so far was rounded by
        energy, before = energy + more, energy
        return state, cache, total + jnp.where(counted, state, 0.0), energy, (energy - before) - more

    zero = jnp.zeros((), model.energy(state).dtype)
    start = (state, model.cache(state), jnp.zeros_like(state, dtype), zero, zero)
    state, _, total, energy, _ = fori_loop(0, burn_in + sweeps, turn, start)
    return HeatBath(state, total / sweeps, energy / sweeps)


def heat_bath_sweep(
    model: SpinModel, at: tuple[State, Any], key, scale, order: Order | None, known: Any, *, shared: bool
) -> tuple[State, Any]:
    """State and cache after one sweep at temperature `scale`, of all neurons at once where there is no order.

    `shared`: many chains on Couplings share the order, and visit its neurons in blocks.
    """
    state, cache = at
    chance = jax.random.uniform(key, state.shape, accumulation_dtype(state.dtype))

    def draw_spins(field, spin, chance, known):
        up = jax.nn.sigmoid(2.0 * field / scale)
        new = jnp.where(jnp.isnan(up), up, jnp.where(chance < up, 1.0, -1.0))
        return jnp.where(known, spin, new).astype(state.dtype)

    if order is None:
        state = draw_spins(model.local_field(state), state, chance, known)
        return state, model.cache(state)
    visit = _visit_blocks if shared else visit_each
    return visit(model, state, cache, order, lambda field, spin, i: draw_spins(field, spin, chance[i], known[i]))


def energy_of(model: Any, state: State, cache: Any) -> Float[Array, ""]:
    """Energy of a state: from the fields of Couplings, anew for a Memory, whose cache may have drifted."""
    return model.energy_at(cache, state) if isinstance(model, Couplings) else model.energy(state)


def _visit_blocks(model: Any, state: State, field, order: Order, drawn: Callable) -> tuple[State, Any]:
    """Visits on Couplings in blocks. A spin acts on its block at once, on the others by one product at the block's end.

    The spins equal the spins of `visit_each` where sums are exact, as for Hebb's integer matrix.
    """
    size = min(VISITS_AT_ONCE, state.size)
    blocks = jnp.pad(order, (0, -state.size % size), constant_values=state.size).reshape(-1, size)

    def visit_block(carry, block):
        state, field = carry
        rows = model.matrix.at[block].get(mode="fill", fill_value=0.0)
        among = rows.at[:, block].get(mode="fill", fill_value=0.0)
        spins = state.at[block].get(mode="fill", fill_value=1.0)

        def visit(local, k):
            new = drawn(model.scale * local[k], spins[k], block[k])
            return local + (new - spins[k]) * among[k], new

        local = field.at[block].get(mode="fill", fill_value=0.0)
        _, new = scan(visit, local, jnp.arange(size))
        return (state.at[block].set(new, mode="drop"), field + (new - spins) @ rows), None

    return scan(visit_block, (state, field), blocks)[0]
