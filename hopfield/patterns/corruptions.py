"""Corruptions, which turn a stored pattern into the start of a retrieval.

Numbers (fraction, deviation) may be traced; where one is out of range the state is NaN and no unit is known.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from hopfield import outside
from hopfield._arguments import (
    instance,
    nearest,
    number_scalar,
    one_of,
    parse_number,
    random_key,
    real_scalar,
    real_vector,
    shown,
)
from hopfield._names import unknown_name
from hopfield._numerics import accumulation_dtype, nan_outside
from hopfield.patterns.ensembles import Scalar, State, spins

Region = Literal["random", "upper", "lower"]

REGIONS: tuple[str, ...] = get_args(Region)


class Corrupted(NamedTuple):
    """A corrupted pattern, and which of its units were left untouched, so that they may be clamped.

    Example:
        >>> from hopfield import patterns
        >>> start = patterns.corrupt(jax.random.key(0), jnp.ones(8), "mask", 0.5)
        >>> start.known.sum().item(), start.state.sum().item()
        (4, 4.0)
    """

    state: State
    known: Bool[Array, "N"]


class Corruption(NamedTuple):
    """A kind of corruption and its amount: a fraction of the units, or for noise a standard deviation.

    Example:
        >>> from hopfield import patterns
        >>> patterns.corruption("flip:0.25")
        Corruption(kind='flip', amount=0.25)
    """

    kind: str
    amount: float

    def __str__(self) -> str:
        return f"{self.kind}:{self.amount:.12g}"


def _state_and_count(state: State, fraction: Scalar) -> tuple[State, Int[Array, ""], Bool[Array, ""]]:
    """The state, round(fraction · N), halves to even, and whether the fraction is in its range.

    A product within 10⁻⁴ of a half is one: no precision holds 0.07 exactly.
    """
    state, fraction = real_vector("state", state), real_scalar("fraction", fraction, "in [0, 1]", 0.0, 1.0)
    share = jnp.asarray(fraction, accumulation_dtype(jnp.result_type(float, fraction)))
    return state, jnp.round(jnp.round(share * state.size, 4)).astype(jnp.int32), ~jnp.isnan(share)


def _nan_unless_counted(state: State, known: Bool[Array, "N"], counted: Bool[Array, ""]) -> Corrupted:
    """A corrupted state and its known units. A fraction out of range gives NaN and no known units."""
    return Corrupted(nan_outside(state, counted), known & counted)


def _choose(key: PRNGKeyArray, neurons: int, count: Int[Array, ""]) -> Bool[Array, "N"]:
    """Exactly `count` units, all sets equally likely; with one key a larger count chooses a superset."""
    return jax.random.permutation(key, neurons) < count


def flip(key: PRNGKeyArray, state: State, fraction: Scalar) -> State:
    """Reverse the sign of exactly k = round(fraction · N) random units: overlap 1 − 2k/N for a spin pattern.

    Args:
        state: the pattern to corrupt.
        fraction: share of units to flip, in [0, 1].
    """
    return _flipped(key, state, fraction).state


def _flipped(key: PRNGKeyArray, state: State, fraction: Scalar) -> Corrupted:
    random_key("key", key)
    state, count, counted = _state_and_count(state, fraction)
    flipped = _choose(key, state.size, count)
    return _nan_unless_counted(jnp.where(flipped, -state, state), ~flipped, counted)


def hide(
    key: PRNGKeyArray | None,
    state: State,
    fraction: Scalar,
    *,
    fill: Scalar | Literal["random"] = 0.0,
    region: Region = "random",
) -> State:
    """Hide exactly round(fraction · N) units: overwrite them with `fill`.

    Args:
        key: random key; None will do when neither `region` nor `fill` is random.
        state: the pattern to corrupt.
        fraction: share of units to hide, in [0, 1].
        fill: what a hidden unit shows, a number or "random" for a random sign ±1.
        region: which units: "random", or the "upper" (first) or "lower" (last) ones, for a flattened image
            its upper or lower rows.
    """
    return _hidden(key, state, fraction, fill, region).state


def _hidden(key: PRNGKeyArray | None, state: State, fraction: Scalar, fill: Any, region: str = "random") -> Corrupted:
    if key is not None:
        random_key("key", key)
    state, count, counted = _state_and_count(state, fraction)
    one_of("region", region, REGIONS)
    if not isinstance(fill, str) or fill != "random":
        number_scalar("fill", fill, "a number or random")
    units = jnp.arange(state.size)
    hidden = units < count if region == "upper" else units >= state.size - count
    shown = jnp.asarray(0.0 if isinstance(fill, str) else fill, state.dtype)
    if region == "random" or isinstance(fill, str):
        if key is None:
            raise ValueError("key must be a random key where region or fill is random, got None")
        choose_key, fill_key = jax.random.split(key)
        hidden = _choose(choose_key, state.size, count) if region == "random" else hidden
        shown = spins(fill_key, 1, state.size, dtype=state.dtype)[0] if isinstance(fill, str) else shown
    return _nan_unless_counted(jnp.where(hidden, shown, state), ~hidden, counted)


def noise(key: PRNGKeyArray, state: State, sigma: Scalar) -> State:
    """Add Gaussian noise of standard deviation `sigma` ≥ 0 to every unit."""
    random_key("key", key)
    sigma = real_scalar("sigma", sigma, "at least 0 and finite", 0.0)
    state = real_vector("state", state)
    return state + jnp.asarray(sigma, state.dtype) * jax.random.normal(key, state.shape, state.dtype)


_KINDS: dict[str, Callable[..., Corrupted]] = {
    "flip": lambda key, state, amount, fill: _flipped(key, state, amount),
    "mask": _hidden,
    "lower": lambda key, state, amount, fill: _hidden(key, state, amount, fill, "lower"),
    "noise": lambda key, state, amount, fill: Corrupted(noise(key, state, amount), jnp.zeros(np.shape(state), bool)),
}
CORRUPTIONS = tuple(_KINDS)


def corrupt(
    key: PRNGKeyArray,
    state: State,
    kind: str | float,
    amount: Scalar | None = None,
    *,
    fill: Scalar | Literal["random"] = 0.0,
) -> Corrupted:
    """Corrupt a pattern by kind and amount, apart or in one text such as "flip:0.1", as `corruption` reads it.

    Args:
        kind: "flip", "mask" (random units), "lower" (the last units: the lower part of an image) or "noise".
        amount: fraction of the units in [0, 1], for noise the standard deviation; None if `kind` includes the amount.
        fill: what hidden units show, as in `hide`; flips and noise have no use for it.
    Raises:
        ValueError: an unknown kind, an amount out of its range, two amounts, or none.

    Example:
        >>> from hopfield import patterns
        >>> patterns.corrupt(jax.random.key(0), jnp.ones(8), "flip:0.25").state.sum().item()
        4.0
    """
    if amount is None:
        if kind in CORRUPTIONS:
            raise ValueError(f"amount must be given, or with the kind as {kind}:0.1, got None")
        kind, amount = _kind_and_amount(kind)
    name: str = instance("kind", kind, str)
    if name in CORRUPTIONS:
        return _KINDS[name](key, state, amount, fill)
    entry = outside.find("corruptions", name)
    if name.rpartition(":")[0].strip() in CORRUPTIONS or (entry is not None and entry.parameter is not None):
        raise ValueError(f"amount must be left out beside the one in the kind {name!r}, got {shown(amount)}")
    if entry is None:
        raise unknown_name("kind", name, (*CORRUPTIONS, *outside.plugged("corruptions")))
    result = outside.called("corruption", name, entry.value, key, state, amount)
    shape = np.shape(result.state if isinstance(result, Corrupted) else result)
    if shape != np.shape(state):
        raise ValueError(f"corruption must return a state {list(np.shape(state))}, got shape {shape} from {name!r}")
    return result if isinstance(result, Corrupted) else Corrupted(result, result == state)


def corruption(spec: str | float) -> Corruption:
    """Read "flip:0.2", "mask:0.5", "lower:0.5", "noise:0.3", or a bare number, which means flips.

    "./file.py:name:0.3" is a function of a key, a state and an amount ≥ 0 that stands elsewhere.

    Raises:
        ValueError: unknown kind, no number, a fraction outside [0, 1], a negative or infinite deviation.
    """
    kind, amount = _kind_and_amount(spec)
    if kind not in CORRUPTIONS:  # what its code raises, it raises here
        state = jnp.where(jnp.arange(16) % 3 == 0, -1.0, 1.0)
        corrupted = np.asarray(corrupt(jax.random.key(0), state, kind, amount).state, float)
        if not np.all(np.isfinite(corrupted)):
            raise ValueError(f"corruption must return finite numbers, got {shown(corrupted.tolist())} from {spec!r}")
    return Corruption(kind, amount)


def _kind_and_amount(spec: str | float) -> tuple[str, float]:
    """Kind and amount of a corruption; code from a file is not run. Raises as `corruption` does."""
    kind, colon, number = spec.rpartition(":") if isinstance(spec, str) else ("flip", ":", spec)
    kind = kind.strip() if colon else "flip"
    try:
        number = parse_number(float, number) if isinstance(number, str) else number
        amount = math.nan if isinstance(number, bool) else float(number)
    except (TypeError, ValueError):
        amount = math.nan
    built_in = kind in CORRUPTIONS
    if math.isnan(amount) or (not built_in and outside.find("corruptions", kind) is None):
        known = f"a number or kind:number, kind one of {', '.join(CORRUPTIONS)}"
        raise ValueError(f"corruption must be {known}, got {spec!r}{'' if built_in else nearest(spec, CORRUPTIONS)}")
    if not 0.0 <= amount <= (1.0 if built_in and kind != "noise" else math.inf) or math.isinf(amount):
        allowed = (
            "a fraction in [0, 1]" if built_in and kind != "noise" else "a finite standard deviation of at least 0"
        )
        raise ValueError(f"corruption must have {allowed} after {kind}, got {spec!r}")
    return kind, abs(amount)
