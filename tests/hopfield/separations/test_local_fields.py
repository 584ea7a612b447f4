"""Local fields: signs, ties and digits that they keep beyond overflow and at small β."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.memory import Memory
from hopfield.separations import (
    Exponential,
    Polynomial,
)
from hopfield.spaces import Spins
from tests.hopfield.contracts.parts import quick


@partial(quick, static_argnums=0)
def _rise(separation, up, down, beta):
    return separation.potential_difference(up, down, beta)


@partial(quick, static_argnums=0)
def _field(separation, scores, step, spin, beta):
    return separation.fields(scores, step[:, None], spin[None], beta)[0]


def rise(separation, up, down, beta=1.0) -> float:
    """[F(β up) − F(β down)] / β in float32."""
    return float(_rise(separation, *(jnp.asarray(a, jnp.float32) for a in (up, down, beta))))


def field(separation, scores, step, spin, beta=1.0) -> float:
    """Half the rise of F from spin −1 to +1, which moves the scores by `step`, in float32."""
    return float(_field(separation, *(jnp.asarray(a, jnp.float32) for a in (scores, step, spin, beta))))


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
def test_polynomial_rise_of_opposed_integers_is_an_exact_tie(degree):
    """Σ aⁿ − bⁿ over scores that are permuted among the patterns is zero, though β itself is rounded."""
    up, down = [17.0, -12.0, 5.0, 8.0], [5.0, 17.0, 8.0, -12.0]
    assert rise(Polynomial(degree), up, down, beta=1 / 37) == 0.0


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_fields_of_powers_leave_masked_patterns_out_whatever_their_steps(degree):
    # Their score counts as 0, the power 0 of which is 1.
    used, rng = np.array([True, False, True]), np.random.default_rng(0)
    scores, steps, state = rng.normal(size=3), rng.normal(size=(3, 4)), jnp.array([1.0, -1.0, 1.0, 1.0])
    found = Polynomial(degree).fields(jnp.asarray(scores), jnp.asarray(steps), state, 0.7, jnp.asarray(used))
    expected = Polynomial(degree).fields(jnp.asarray(scores[used]), jnp.asarray(steps[used]), state, 0.7)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("degree", [2, 3, 8, 40])
@pytest.mark.parametrize("beta", [1e-6, 1e-3])
def test_high_degrees_neither_overflow_nor_lose_the_sign(degree, beta):
    """1000⁴⁰ is far beyond float32: the energy difference of a spin must still say which way is down."""
    separation = Polynomial(degree)
    up, down = [1000.0, 20.0, 10.0], [998.0, 22.0, 8.0]
    got = rise(separation, up, down, beta)
    assert 0 < got < np.inf
    assert rise(separation, down, up, beta) == pytest.approx(-got, rel=1e-6)
    expected = sum((beta * a) ** degree - (beta * b) ** degree for a, b in zip(up, down, strict=True)) / degree / beta
    if expected > 1e-20:
        assert got == pytest.approx(expected, rel=1e-4)
    assert field(separation, up, np.subtract(up, down), 1.0, beta) == pytest.approx(0.5 * got, rel=1e-3)


@pytest.mark.parametrize(
    ("separation", "summand"),
    [
        (Exponential(), lambda s: np.exp(np.longdouble(s))),
        (Polynomial(20), lambda s: s**20),
        (Polynomial(150), lambda s: s**150),
        (Polynomial(150, rectified=True), lambda s: np.maximum(s, 0) ** 150),
    ],
    ids=["exponential", "20", "150", "150 rectified"],
)
def test_fields_have_the_sign_of_exact_sums_however_far_one_spin_moves_the_scores(separation, summand):
    """One spin counts sixty times in every score: e^−120 beside its term is lost, ½^150 is below every float32."""
    rng = np.random.default_rng(6)
    patterns, states = rng.choice([-7, -5, -3, 2, 4, 6], (8, 4, 6)), rng.choice([-1, 1], (8, 6))
    steps = (2 * patterns * np.array([1, 1, 1, 60, 1, 1])).astype(object)
    scores = np.einsum("bmn,bn->bm", steps, states) // 2
    up = scores[..., None] + (1 - states[:, None]) * steps // 2
    expected = np.sign((summand(up) - summand(up - steps)).sum(1).astype(np.longdouble))
    fields = jax.vmap(lambda s, t, x: separation.fields(s, t, x, jnp.float32(1.0)))
    found = np.asarray(quick(fields)(*(np.asarray(a, np.float32) for a in (scores, steps, states))))
    np.testing.assert_array_equal(np.sign(found), expected)


def test_exponential_rise_is_signed_beyond_every_overflow():
    """F overflows at z = 88 and vanishes at z = −104 in float32; differences keep their sign."""
    separation = Exponential()
    assert rise(separation, [500.0], [498.0]) == np.inf
    assert rise(separation, [498.0, 500.0], [500.0, 498.0]) == 0.0
    assert 0 < rise(separation, [-498.0], [-500.0]) < 1e-20
    assert -1e-20 < rise(separation, [-500.0], [-498.0]) < 0
    up, down = jnp.float32([-498.0, 1e9]), jnp.float32([-500.0, -1e9])
    masked = separation.potential_difference(up, down, jnp.float32(1.0), jnp.array([True, False]))
    assert float(masked) == rise(separation, [-498.0], [-500.0])


def test_fields_that_balance_are_ties():
    """Pairs of patterns that differ in one spin alone leave it alone: at small β, no rounding remains."""
    rest = np.random.default_rng(1).choice([-1.0, 1.0], (5, 3))
    patterns = np.concatenate([np.insert(rest, 0, spin, axis=1) for spin in (1.0, -1.0)]).astype(np.float32)
    for name in ("softmax", "softmax1", "sparsemax", "entmax:1.5"):
        for beta in (0.1, 1e-3, 1e-6) if name.startswith("softmax") else (1e-4, 1e-6):
            memory = Memory(patterns, beta, separation=name, space=Spins())
            assert memory.local_field(np.array([1.0, 1.0, 1.0, 1.0], np.float32))[0] == 0.0
