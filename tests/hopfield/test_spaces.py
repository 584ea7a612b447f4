import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize

from hopfield.spaces import Box, Euclidean, Sphere, Spins
from tests.hopfield.contracts.parts import SPACES, quick

RNG = np.random.default_rng(3)
FIELDS = RNG.normal(size=(6, 5)) * np.array([0.1, 0.5, 1, 2, 5, 30])[:, None]
STATE = jnp.array([0.5, -0.5, 0.2, 0.9, -0.1])
KNOWN = jnp.array([True, False, False, True, False])


def project(space, fields, curvature=0.0, known=None):
    return np.asarray(quick(jax.vmap(lambda h: space.project(h, STATE, curvature, known)))(jnp.asarray(fields)))


@pytest.mark.parametrize("curvature", [0.0, 0.3, 20.0])
def test_euclidean_projection_divides_by_the_stiffness(curvature):
    """∇(½‖x‖² + ½c‖x‖² − h·x) = 0 at x = h/(1 + c), and without R at h/c."""
    np.testing.assert_allclose(project(Euclidean(), FIELDS, curvature), FIELDS / (1 + curvature), rtol=1e-14)
    expected = FIELDS / curvature if curvature else np.broadcast_to(STATE, FIELDS.shape)
    np.testing.assert_allclose(project(Euclidean(confined=False), FIELDS, curvature), expected, rtol=1e-14)


@pytest.mark.parametrize("curvature", [0.0, 0.4, 50.0])
@pytest.mark.parametrize("temperature", [0.02, 0.5, 3.0])
def test_box_projection_minimises_coordinate_by_coordinate(temperature, curvature):
    def objective(x, h):
        entropy = scipy.special.xlogy((1 + x) / 2, (1 + x) / 2) + scipy.special.xlogy((1 - x) / 2, (1 - x) / 2)
        return temperature * entropy + 0.5 * curvature * x * x - h * x

    def best(h):
        options = {"bounds": (-1, 1), "method": "bounded", "options": {"xatol": 1e-12}}
        return scipy.optimize.minimize_scalar(objective, args=(h,), **options).x

    found = project(Box(temperature), FIELDS, curvature)
    np.testing.assert_allclose(found, np.vectorize(best)(FIELDS), atol=3e-7)


def test_box_lagrangian_and_potential_are_legendre_transforms():
    """L(h) + R(x) = h·x and ∇L(h) = x at x = project(h); ∇R(x) = h undoes it."""
    space = Box(0.7)
    fields = jnp.asarray(FIELDS[:5])
    x = project(space, fields)
    lagrangian = quick(jax.vmap(space.lagrangian))(fields)
    potential = quick(jax.vmap(space.potential))(x)
    np.testing.assert_allclose(lagrangian + potential, np.sum(FIELDS[:5] * x, axis=1), rtol=1e-12)
    np.testing.assert_allclose(quick(jax.vmap(jax.grad(space.lagrangian)))(fields), x, rtol=1e-12)
    np.testing.assert_allclose(quick(jax.vmap(jax.grad(space.potential)))(x), FIELDS[:5], rtol=1e-6)


def test_spins_take_the_sign_and_keep_the_spin_on_a_tie():
    state = jnp.array([1.0, -1.0, 1.0, -1.0])
    new = Spins().project(jnp.array([-0.1, 1e-30, 0.0, -0.0]), state)
    np.testing.assert_array_equal(new, [-1.0, 1.0, 1.0, -1.0])


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_sphere_projects_to_its_radius_whatever_the_size_of_the_field(scale):
    fields = (scale * FIELDS).astype(np.float32)
    x = project(Sphere(2.0), fields)
    np.testing.assert_allclose(x, 2 * FIELDS / np.linalg.norm(FIELDS, axis=1, keepdims=True), rtol=1e-5)


def test_clamped_units_of_a_sphere_keep_their_part_of_the_radius():
    """The best point with x₁, x₄ given: the rest of the radius along the rest of the field."""
    space = Sphere(1.5)
    x = project(space, FIELDS, known=KNOWN)
    free = ~np.asarray(KNOWN)
    np.testing.assert_array_equal(x[:, ~free], np.broadcast_to(STATE[KNOWN], (6, 2)))
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.5, rtol=1e-14)
    np.testing.assert_allclose(
        np.sum(x[:, free] * FIELDS[:, free], axis=1),
        np.linalg.norm(x[:, free], axis=1) * np.linalg.norm(FIELDS[:, free], axis=1),
        rtol=1e-13,
    )


@pytest.mark.parametrize("name", SPACES)
def test_clamped_units_do_not_move(name):
    space = SPACES[name]
    x = project(space, FIELDS, 0.3, KNOWN)
    np.testing.assert_array_equal(x[:, KNOWN], np.broadcast_to(STATE[KNOWN], (6, 2)))
    if not isinstance(space, Sphere):
        np.testing.assert_allclose(x[:, ~KNOWN], project(space, FIELDS, 0.3)[:, ~KNOWN], rtol=1e-14)


@pytest.mark.parametrize("name", SPACES)
def test_projections_lie_in_the_space_and_keep_the_dtype(name):
    space = SPACES[name]
    states = jnp.sign(STATE) if isinstance(space, Spins) else STATE
    for dtype in (jnp.float32, jnp.float64):
        x = quick(jax.vmap(lambda h: space.project(h, states.astype(h.dtype))))(jnp.asarray(FIELDS, dtype))
        assert x.dtype == dtype
        assert float(space.violation(x)) < 4 * float(jnp.finfo(dtype).eps)
        assert space.potential(x[0]).dtype == dtype


@pytest.mark.parametrize(
    ("space", "states", "expected"),
    [
        (Euclidean(), [[5.0, -7.0]], 0.0),
        (Spins(), [[1.0, -1.0], [1.0, 0.25]], 0.75),
        (Sphere(2.0), [[2.0, 0.0], [0.0, 1.5]], 0.5),
        (Box(), [[1.0, -0.3], [-1.25, 0.0]], 0.25),
    ],
    ids=["euclidean", "spins", "sphere", "box"],
)
def test_violation_is_the_distance_from_the_space(space, states, expected):
    assert float(space.violation(jnp.array(states))) == pytest.approx(expected)
