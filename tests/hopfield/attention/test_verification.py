"""The verification of gradients: right ones pass against both routes, wrong ones are found out by both."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import metrics, separations
from hopfield.attention import Agreement, _in_numpy, core, verification
from hopfield.attention.gradients import attention_gradients
from hopfield.attention.verification import verify_gradients

RNG = np.random.default_rng(3)


def drawn():
    rng = np.random.default_rng(3)  # the same rows whichever tests run before: of others a slope may be next to zero
    return [jnp.asarray(rng.normal(size=shape)) for shape in ((3, 4), (5, 4), (5, 2))]


METRIC = metrics.Projected(*(jnp.asarray(RNG.normal(size=s)) for s in ((4, 3), (4, 3), (3,), (3,))))


def test_the_worked_example_is_verified():
    found = verify_gradients(
        jnp.eye(2), jnp.asarray([[1.0, 0], [0, 1], [1, 1]]), jnp.asarray([[2.0, 0], [0, 2], [1, 1]])
    )
    assert found.passed
    assert found.dtype == "float64"
    assert {check.input for check in found.checks} == {"query", "key", "value", "beta", "bias", "temperature"}
    assert "6 of 6 gradients agree in float64" in str(found)
    assert all(row["autodiff"] < 1e-14 and row["difference"] < 1e-10 for row in found.table())


def test_every_parameter_of_a_metric_is_verified():
    found = verify_gradients(*drawn(), metric=METRIC, mask=jnp.tri(3, 5, dtype=bool))
    assert found.passed, str(found)
    assert {f"metric.{name}" for name in ("w_query", "w_key", "b_query", "b_key")} < {c.input for c in found.checks}


@pytest.mark.parametrize("name", ["query", "key", "value", "metric", "beta", "bias", "temperature"])
def test_a_wrong_gradient_is_found_out_by_both_routes(name, monkeypatch):
    def wrong(*args, **kwargs):
        found = attention_gradients(*args, **kwargs)
        if name == "metric":
            return found._replace(metric=metrics.Full(1.000001 * found.metric.matrix))
        return found._replace(**{name: 1.000001 * getattr(found, name)})

    monkeypatch.setattr(verification, "attention_gradients", wrong)
    found = verify_gradients(*drawn(), metric=jnp.eye(4), temperature=0.5)
    assert not found.passed
    differs = [check for check in found.checks if not check.passed]
    assert [check.input.partition(".")[0] for check in differs] == [name]
    assert all(check.autodiff > 1e-8 and check.difference > 1e-9 for check in differs)


@pytest.mark.parametrize(
    "separation",
    [
        separations.LogSumExp(),
        separations.Sparsemax(),
        separations.Entmax(1.3),
        separations.Normmax(2.0),
        separations.TopK(3),
    ],
    ids=["softmax", "sparsemax", "entmax", "normmax", "top_k"],
)
def test_attention_in_numpy_is_that_of_the_library(separation):
    q, k, v = drawn()
    mask = np.asarray(RNG.random((3, 5)) < 0.7)
    mask[1] = False
    given = {"query": q, "key": k, "value": v, "metric": None, "beta": jnp.asarray(0.8)}
    given = {key: value if value is None else np.asarray(value) for key, value in given.items()}
    given |= {"bias": np.zeros((3, 5)), "temperature": np.asarray(1.0)}
    output = core.attend(q, k, v, beta=0.8, separation=separation, mask=jnp.asarray(mask))
    np.testing.assert_allclose(_in_numpy.output_and_weights(given, separation, mask)[0], output, atol=1e-14)


class Softplus(separations.Separation):
    """F(z) = Σ ln(1 + e^z), whose weights are logistic functions; their factor and their slopes' must be 1."""

    weight: ClassVar[float] = 1.0
    slope: ClassVar[float] = 1.0

    def potential(self, z, mask=None):
        each = jax.nn.softplus(z)
        return jnp.sum(each if mask is None else jnp.where(mask, each, 0.0))

    def weights(self, z, mask=None):
        each = self.weight * jax.nn.sigmoid(z)
        return each if mask is None else jnp.where(mask, each, 0.0)

    def jacobian_product(self, p, v):
        return self.slope * p * (1.0 - p / self.weight) * v


class Flatter(separations.LogSumExp):
    """A softmax of half the scores, whose potential says so: no softmax in spite of its base."""

    gibbs: ClassVar[bool] = False

    def potential(self, z, mask=None):
        return 2.0 * separations.LogSumExp().potential(0.5 * z, mask)

    def weights(self, z, mask=None):
        return separations.LogSumExp().weights(0.5 * z, mask)

    def jacobian_product(self, p, v):
        return 0.5 * p * (v - jnp.sum(p * v, axis=-1, keepdims=True))


@pytest.mark.parametrize("separation", [Softplus(), Flatter()], ids=["softplus", "flatter"])
def test_a_user_defined_separation_is_verified_by_its_potential(separation):
    mask = jnp.ones((3, 5), bool).at[0, 2:].set(False).at[1].set(False)
    for agreement in (Agreement(), Agreement(components=True)):
        found = verify_gradients(*drawn(), separation=separation, mask=mask, temperature=0.7, agreement=agreement)
        assert found.passed, str(found)
    with jax.enable_x64(False):
        single = verify_gradients(*(x.astype(jnp.float32) for x in drawn()), separation=separation, mask=mask)
    assert single.passed, str(single)
    assert single.dtype == "float32"


def test_finite_differences_step_short_of_a_kink():
    """|x − 3e-5|: the shorter step stays on the left of the kink, where the slope is −1."""
    slope = verification._slope(lambda t: (abs(t - 3e-5), np.asarray([t > 3e-5])))
    assert slope == pytest.approx(-1, rel=1e-9)


@pytest.mark.parametrize(("separation", "second"), [("sparsemax", 3.0), ("entmax:1.5", 2.0)])
def test_gradients_agree_where_a_score_meets_the_threshold(separation, second):
    """One key has all of the weight, the other stands at the kink: all routes take the side on which it is not read."""
    query, keys = jnp.array([[1.0, 0.0]]), jnp.array([[4.0, 0.0], [second, 0.0]])
    found = verify_gradients(query, keys, keys, beta=1.0, separation=separation)
    assert found.passed, str(found)
