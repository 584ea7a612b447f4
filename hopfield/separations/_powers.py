"""Powers [u]₊^e with the closed forms of a few exponents, chosen while a program runs, and derivatives in both."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array

from hopfield._numerics import by_its_rule


def cases(function: Callable) -> list[Callable]:
    """A function of `power` for any exponent, then for the exponents 0, 1 and 2; `by_exponent` chooses."""
    return [partial(function, power=power) for power in (None, 0, 1, 2)]


def power_of(u: Array, exponent: Array, power: int | None) -> Array:
    """Power [u]₊^exponent of every entry, the exponent being `power` unless that is None."""
    above = jnp.maximum(u, 0.0)
    if power is None:
        cut = above == 0
        return jnp.where(cut, 0.0, jnp.exp(exponent * jnp.log(jnp.where(cut, 1.0, above))))
    return jnp.sign(above) if power == 0 else above if power == 1 else above * above


POWERS = cases(power_of)


@jax.custom_jvp
def clipped_power(u: Array, exponent: Array) -> Array:
    """[u]₊^exponent, 0 for u ≤ 0, with derivatives that stay finite there; quick where the exponent is 0, 1 or 2."""
    return by_exponent(exponent, POWERS, u)


def by_exponent(exponent: Array, functions: Sequence[Callable], *arguments: Array) -> Any:
    """Choice of the closed form, `functions[1:]`, for exponents 0, 1 and 2, and of `functions[0]` otherwise."""
    case = jnp.where(exponent == 0, 1, jnp.where(exponent == 1, 2, jnp.where(exponent == 2, 3, 0)))
    return jax.lax.switch(case, functions, *arguments, exponent)


def _clipped_power_jvp(primals, tangents):
    (u, exponent), (du, d_exponent) = primals, tangents
    clipped = by_its_rule(clipped_power)
    power = clipped(u, exponent)
    tangent = jnp.zeros_like(power)
    if not isinstance(du, SymbolicZero):
        tangent += exponent * clipped(u, exponent - 1.0) * du
    if not isinstance(d_exponent, SymbolicZero):
        tangent += power * jnp.log(jnp.where(u <= 0, 1.0, u)) * d_exponent
    return power, tangent


clipped_power.defjvp(_clipped_power_jvp, symbolic_zeros=True)


def _slope(p: Array, exponent: Array, power: int | None) -> Array:
    """Slope p^(1 − 1/exponent) of weights p = v^exponent in v, up to the factor `exponent`; zero where p is."""
    if power == 2:
        return jnp.where(p == 0, 0.0, jnp.sqrt(jnp.where(p == 0, 1.0, p)))
    return power_of(p, 1.0 - 1.0 / exponent, 0 if power == 1 else None)


SLOPES = cases(_slope)


@jax.custom_jvp
def slope_of(p: Array, gap: Array) -> Array:
    """p^(1 − gap), 0 where p is, quick for some gaps and with a derivative in every one."""
    return by_exponent(1.0 / gap, SLOPES, p)


@slope_of.defjvp
def _slope_of_jvp(primals, tangents):
    (p, gap), (dp, d_gap) = primals, tangents
    slope = by_its_rule(slope_of)(p, gap)
    moved = (1.0 - gap) * by_its_rule(clipped_power)(p, -gap) * dp
    return slope, moved - slope * jnp.log(jnp.where(p <= 0, 1.0, p)) * d_gap
