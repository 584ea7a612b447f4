"""Angles place · rate of positional encodings, exact at every whole place: products in parts of a turn, not of radians.

In float32 the product itself is off by 0.06 at place 10⁶, and neighbouring places coincide from 2²⁴ on. Here a rate
becomes a whole number of 2⁻⁶⁰ turns, whose product with a whole place wraps round as the angle does.
"""

import math

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int

DIGITS = (651, 3680, 3513, 913, 84, 2687)
"""1/2π in base 4096, behind the point: products with twelve bits of a rate are exact in float32."""


def angles(places: Array, rates: Array, dtype: DTypeLike) -> Array:
    """Angles place · rate in radians, up to whole turns, of arrays that broadcast.

    Whole places: to 1e-6 up to 2³¹, with rates as float32 has them (in float64 where that is switched on). Places that
    are not whole: to the rounding of the product, 6e-8 of the angle.
    """
    if jnp.issubdtype(places.dtype, jnp.integer) and dtype == jnp.float32:
        if jnp.result_type(float) == jnp.float64:
            return jnp.remainder(places.astype(float) * rates.astype(float), 2 * math.pi).astype(dtype)
        return whole_angles(places, rates.astype(dtype))
    return places.astype(dtype) * rates.astype(dtype)


@jax.custom_jvp
def whole_angles(places: Int[Array, "*#s"], rates: Float[Array, "*#s"]) -> Float[Array, "*s"]:
    """Angles in [−π, π] at whole places of at most 32 bits, of float32 rates."""
    upper, lower = _turns(jnp.abs(rates))
    behind = places < 0
    size = places.astype(jnp.uint32)
    size = jnp.where(behind, jnp.uint32(0) - size, size)
    phase = jax.lax.bitcast_convert_type(size * upper + _upper_half(size, lower), jnp.int32)
    angle = phase.astype(jnp.float32) * jnp.where(behind, -1.0, 1.0) * jnp.sign(rates) * (2 * math.pi / 2**32)
    return jnp.where(jnp.isfinite(rates), angle, jnp.nan)


@whole_angles.defjvp
def _whole_angles_jvp(primals, tangents):
    (places, rates), (_, moved) = primals, tangents
    return whole_angles(places, rates), places.astype(moved.dtype) * moved


def _turns(rates: Array) -> tuple[Array, Array]:
    """Turns per place: rate/2π modulo 1 in units of 2⁻³² turns, and the remainder in units of 2⁻⁶⁴ turns."""
    bits = jax.lax.bitcast_convert_type(rates, jnp.uint32)
    first = jax.lax.bitcast_convert_type(bits & jnp.uint32(0xFFFFF000), jnp.float32)
    upper = lower = jnp.zeros(rates.shape, jnp.uint32)
    for part in (first, rates - first):  # twelve bits each
        for place, digit in enumerate(DIGITS):
            turns = part * (digit * 2.0 ** (-12 * (place + 1)))
            units = (turns - jnp.floor(turns)) * 2.0**32
            upper += jnp.floor(units).astype(jnp.uint32)
            lower += ((units - jnp.floor(units)) * 2.0**28).astype(jnp.uint32)
    return upper + (lower >> 28), lower << 4


def _upper_half(a: Array, b: Array) -> Array:
    """The upper 32 of the 64 bits of a product."""
    (a_high, a_low), (b_high, b_low) = ((x >> 16, x & jnp.uint32(0xFFFF)) for x in (a, b))
    middle = a_high * b_low + (a_low * b_low >> 16)
    return a_high * b_high + (middle >> 16) + (a_low * b_high + (middle & jnp.uint32(0xFFFF)) >> 16)
