"""Dynamics of graphs: steps that never raise the energy, and the continuous flow by an adaptive solver."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental.ode import odeint
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from hopfield._arguments import boolean_array, instance, integer, nearest, positive_scalar, real_array, real_scalar
from hopfield._numerics import scan, tolerance, violated, while_loop
from hopfield.dynamics import settling
from hopfield.dynamics.settling import CONVERGED, NOT_A_NUMBER, STEP_LIMIT
from hopfield.graphs.graph import Graph, States

HALVINGS = 12
"""Halvings of a step that raises the energy, after which the states stay; the next step begins where they ended."""

SLACK = 4.0
"""Rounding of an energy that is no rise, in units in the last place."""


class Descent(NamedTuple):
    """End of a descent: state by layer, steps made, its energy and status, and energies along it [steps + 1].

    `status` is an index of `dynamics.STATUS`, converged where the slope is zero to rounding; `energies` begin before
    the first step.

    Example:
        >>> from hopfield import graphs
        >>> graph = graphs.Graph({"x": graphs.Layer((1,))}, [("x", graphs.Bias(jnp.array([2.0])))])
        >>> end = graphs.descend(graph, graph.zeros(), 3)
        >>> end.energies.tolist(), end.advice
        ([0.0, -2.0, -2.0, -2.0], 'at rest')
    """

    state: States
    steps: Int[Array, ""]
    energy: Float[Array, ""]
    status: Int[Array, ""]
    energies: Float[Array, "T"]

    converged = settling.converged
    advice = settling.advice


def descend(
    graph: Graph,
    states: Mapping[str, Array],
    steps: int,
    *,
    step_size: ArrayLike = 1.0,
    clamped: Mapping[str, ArrayLike] | None = None,
) -> Descent:
    """Steps x ← x − s (x + ∂ΣS/∂g), s halved until the energy does not rise and doubled again up to `step_size`.

    At s = 1 a step puts every layer at the field of the others, which is the update of a `Memory`. No energy is above
    the lowest one before it by more than its own rounding.

    Args:
        graph: layers and synapses.
        states: by layer.
        steps: how many.
        step_size: the largest s, > 0; may be traced.
        clamped: units that must not move, booleans of the layer's shape or one for all of it, by layer.
    Returns:
        Its end, with the energies before the first and after every step.
    Raises:
        ValueError: states or clamps of other layers or shapes, or a number out of range.
    """
    states, clamped = instance("graph", graph, Graph).as_states(states), _clamped_masks(graph, clamped)
    size = jnp.asarray(positive_scalar("step_size", step_size), jnp.result_type(float))
    return _descend(graph, states, clamped, size, steps=integer("steps", steps, 0))


@partial(jax.jit, static_argnames="steps")
def _descend(graph: Graph, states: States, clamped: States, largest: Array, *, steps: int) -> Descent:
    def step(carry, _):
        states, energy, lowest, size = carry
        most = lowest + SLACK * jnp.finfo(lowest.dtype).eps * jnp.abs(lowest)
        slope = _slope_of_free_units(graph.slope(states), clamped)

        def after_step(size):
            new = jax.tree.map(lambda x, d: x - (size * d).astype(x.dtype), states, slope)
            return new, graph.energy(new)

        def shorter(trial):
            size, _, _, count = trial
            return 0.5 * size, *after_step(0.5 * size), count + 1

        def rises(trial):
            return ~(trial[2] <= most) & (trial[3] < HALVINGS)

        size, new, reached, _ = while_loop(rises, shorter, (size, *after_step(size), jnp.zeros((), int)))
        better = reached <= most
        states = jax.tree.map(lambda old, x: jnp.where(better, x, old), states, new)
        energy = jnp.where(better, reached, energy)
        return (states, energy, jnp.minimum(energy, lowest), jnp.minimum(2.0 * size, largest)), energy

    start = graph.energy(states)
    (states, last, *_), energies = scan(step, (states, start, start, largest), length=steps)
    slopes = [jnp.max(jnp.abs(d), initial=0.0) for d in _slope_of_free_units(graph.slope(states), clamped).values()]
    sizes = [jnp.max(jnp.abs(x), initial=1.0) for x in states.values()]
    still = jnp.max(jnp.stack(slopes)) <= tolerance(last.dtype) * jnp.max(jnp.stack(sizes))
    status = jnp.where(jnp.isnan(last), NOT_A_NUMBER, jnp.where(still, CONVERGED, STEP_LIMIT))
    return Descent(states, jnp.asarray(steps), last, status, jnp.concatenate([start[None], energies]))


def flow(
    graph: Graph,
    states: Mapping[str, Array],
    times: ArrayLike,
    *,
    rates: Mapping[str, ArrayLike] | None = None,
    clamped: Mapping[str, ArrayLike] | None = None,
    rtol: float = 1e-6,
) -> States:
    """States along dx/dt = −rate (x + ∂ΣS/∂g) at given times, by an adaptive Runge–Kutta method (Dormand & Prince).

    Args:
        graph: layers and synapses.
        states: by layer, at the first of the times.
        times: ascending [T], finite.
        rates: 1/τ of layers, > 0; 1 where none is given.
        clamped: as for `descend`.
        rtol: relative error of a step, and absolute one, > 0.
    Returns:
        States by layer, each [T, ...]; NaN from the first time on that 100 000 steps do not reach, as the energy tells,
        which never rises along the flow, and where the energy is NaN.
    Raises:
        ValueError: states, rates or clamps of other layers or shapes, or times that are no ascending vector.
    """
    states, clamped = instance("graph", graph, Graph).as_states(states), _clamped_masks(graph, clamped)
    times = real_array("times", times)
    if times.ndim != 1 or times.size < 1:
        raise ValueError(f"times must be a vector of at least one time, got shape {times.shape}")
    if violated(lambda x: abs(x) < jnp.inf, times) or violated(lambda x: x[1:] > x[:-1], times):
        raise ValueError(f"times must be finite and ascending, got {times.tolist()}")
    _among(graph, "rates", rates)
    speeds = {name: positive_scalar(f"rates[{name!r}]", (rates or {}).get(name, 1.0)) for name in graph.layers}
    return _flow(
        graph, states, clamped, times, speeds, rtol=float(real_scalar("rtol", rtol, "positive and finite", 1e-300))
    )


@partial(jax.jit, static_argnames="rtol")
def _flow(graph: Graph, states: States, clamped: States, times: Array, rates: States, *, rtol: float) -> States:
    def velocity(states, _, graph, clamped, rates):
        slope = _slope_of_free_units(graph.slope(states), clamped)
        return {name: -(rates[name] * slope[name]).astype(states[name].dtype) for name in slope}

    visited = odeint(velocity, states, times, graph, clamped, rates, rtol=rtol, atol=rtol, mxstep=100_000)
    # Beyond its last step the solver extrapolates, and the energy of that is as large as any; from NaN it is anything.
    energies = jax.lax.stop_gradient(jax.vmap(graph.energy)(visited))
    before = jnp.concatenate([energies[:1], energies[:-1]])
    lost = jnp.cumsum(~(energies <= before + 1e-3 * (1.0 + jnp.abs(before)))) > 0
    return jax.tree.map(lambda x: jnp.where(lost.reshape(-1, *[1] * (x.ndim - 1)), jnp.nan, x), visited)


def _slope_of_free_units(slope: States, clamped: States) -> States:
    """The slope of the units that are not clamped."""
    return {name: jnp.where(clamped[name], 0.0, d) if name in clamped else d for name, d in slope.items()}


def _clamped_masks(graph: Graph, clamped: Mapping[str, ArrayLike] | None) -> States:
    """Clamped units as booleans of the shapes of their layers."""
    _among(graph, "clamped", clamped)
    masks = {}
    for name, units in (clamped or {}).items():
        shape, what = graph.layers[name].shape, f"clamped[{name!r}]"
        truths = boolean_array(what, units)
        if truths.shape not in ((), shape):
            raise ValueError(f"{what} must be one truth value or have shape {shape}, got shape {truths.shape}")
        masks[name] = jnp.broadcast_to(truths, shape)
    return masks


def _among(graph: Graph, what: str, by_layer: Mapping[str, ArrayLike] | None) -> None:
    for name in by_layer or ():
        if name not in graph.layers:
            known = f"layers among {', '.join(graph.layers)}"
            raise ValueError(f"{what} must name {known}, got {name!r}{nearest(name, graph.layers)}")
