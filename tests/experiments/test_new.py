"""What `hopfield new` begins: each kind runs by its printed commands, and keeps the contract of its part."""

import runpy
import shlex
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

from experiments import new
from experiments.run import main as run
from hopfield import memories, separations, similarities, spaces
from hopfield.dynamics import sweep
from hopfield.layers import AssociationOptions, HopfieldAttention

SMALL = {
    "conf=capacity": ("samples=1", "queries=2", "neurons=[10]"),
    "conf=capacity_images": ("samples=1", "queries=2", "patterns=[5]"),
    "conf=training": ("seeds=1", "epochs=1", "width=4", "baselines=false"),
    "conf=./own_part": ("samples=1", "neurons=[20]"),
}
"""Options of small runs by experiment, in place of those of the printed commands."""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    return tmp_path


def smaller(words: list[str]) -> list[str]:
    return list({word.partition("=")[0]: word for word in (*words, *SMALL[words[0]])}.values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", new.KINDS)
def test_every_kind_runs_by_the_commands_that_are_printed(
    kind: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new.main([kind, "own_part"]) == 0
    target, _, commands = capsys.readouterr().out.partition(": ")
    assert (mine / target).exists()
    for command in commands.splitlines():
        match shlex.split(command):
            case ["hopfield", *words]:
                assert run(smaller(words)) == 0
            case other:
                pytest.fail(f"nothing runs {other}")


@pytest.mark.slow
def test_weights_of_the_separation_are_the_gradient_of_its_potential(mine: Path) -> None:
    new.main(["separation", "own_part"])
    separation = separations.find("./own_part.py:OwnPart")
    mask = jnp.array([True, True, False, True, True])
    for scores in 3.0 * jax.random.normal(jax.random.key(0), (20, 5)):
        for used in (None, mask):
            weights = separation.weights(scores, used)
            np.testing.assert_allclose(weights, jax.grad(separation.potential)(scores, used), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(separation.shares(scores, used), jnp.abs(weights) / jnp.abs(weights).sum())
        assert separation.weights(scores, mask)[2] == 0
        assert jnp.linalg.eigvalsh(jax.hessian(separation.potential)(scores)).min() > -1e-12
        np.testing.assert_allclose(separation.weights(-scores), -separation.weights(scores))
    nothing = jnp.zeros(5, bool)
    assert separation.potential(scores, nothing) == -jnp.inf
    np.testing.assert_array_equal(separation.weights(scores, nothing), 0)
    assert jnp.isfinite(separation.weights(1e4 * scores)).all()


def test_similarity_scores_the_patterns_and_what_a_flip_changes(mine: Path) -> None:
    new.main(["similarity", "own_part"])
    similarity = similarities.find("./own_part.py:OwnPart")
    patterns = jax.random.normal(jax.random.key(0), (4, 9)).at[3].set(2.0)
    state = jnp.sign(jax.random.normal(jax.random.key(1), (9,)))
    scores = similarity(state, patterns)
    assert scores.shape == (4,)
    assert scores[3] == 0
    np.testing.assert_allclose(similarity(state, 5.0 * patterns + 1.0), scores, atol=1e-12)
    flipped = similarity(state.at[2].multiply(-1), patterns)
    change = similarity.spin_flip(state, state[2], -state[2], similarity.keys(patterns)[:, 2])
    np.testing.assert_allclose(flipped - scores, change, atol=1e-12)
    slope = jax.jacobian(similarity)(state, patterns).sum(0)
    sphere = spaces.Sphere(3.0)
    moment = similarity.summed(patterns).sum(0)
    stepped = similarity.minimiser(state, moment, jnp.asarray(4.0), space=sphere)
    np.testing.assert_allclose(stepped, 3.0 * slope / jnp.linalg.norm(slope), rtol=1e-9)


def test_the_space_is_projected_on_by_the_minimiser_of_its_potential(mine: Path) -> None:
    new.main(["space", "own_part"])
    space = runpy.run_path("own_part.py")["OwnPart"]()
    field, state = 2.0 * jax.random.normal(jax.random.key(0), (2, 9))
    known = jnp.arange(9) < 3
    cost = lambda x: space.potential(x) + 0.25 * jnp.sum(x**2) - field @ x
    for held in (None, known):
        best = space.project(field, jnp.tanh(state), 0.5, held)
        assert space.violation(best) == 0
        for other in jnp.clip(best[None] + 0.1 * jax.random.normal(jax.random.key(1), (20, 9)), -1, 1):
            other = other if held is None else jnp.where(held, best, other)
            assert cost(best) <= cost(other)
    np.testing.assert_array_equal(best[:3], jnp.tanh(state)[:3])
    assert space.violation(jnp.array([0.5, -1.25])) == 0.25


def test_the_metric_is_the_form_of_its_matrix(mine: Path) -> None:
    new.main(["metric", "own_part"])
    metric = runpy.run_path("own_part.py")["OwnPart"](jnp.array([0.5, 1.0, 3.0]))
    x, y = jax.random.normal(jax.random.key(0), (2, 4, 3))
    np.testing.assert_allclose(metric.form(x, y), x @ metric.dense() @ y.T, rtol=1e-9)
    layer = HopfieldAttention(1, 3, options=AssociationOptions(metric=metric), rngs=nnx.Rngs(0))
    assert layer(x[None]).shape == (1, 4, 3)


@pytest.mark.parametrize("kind", ["memory", "separation", "similarity"])
def test_no_sweep_of_single_spins_raises_the_energy(kind: str, mine: Path) -> None:
    new.main([kind, "own_part"])
    patterns, starts = (jnp.sign(jax.random.normal(jax.random.key(n), (12, 16))) for n in range(2))
    memory = memories.find("./own_part.py:own_part").build(patterns)
    assert memory.descends("sequential")
    ends = jax.vmap(lambda state: sweep(memory, state, jnp.arange(16)))(starts)
    fall = jax.vmap(memory.energy)(starts) - jax.vmap(memory.energy)(ends)
    assert fall.min() > -1e-9
    assert fall.max() > 0


def test_the_layer_keeps_shapes_and_learns_its_scale(mine: Path) -> None:
    new.main(["layer", "own_part"])
    made = runpy.run_path("own_part.py")["own_part"]
    layer = made(HopfieldAttention(2, 8, rngs=nnx.Rngs(0)), rngs=nnx.Rngs(1))
    x = jax.random.normal(jax.random.key(0), (2, 5, 8))
    grads = nnx.grad(lambda layer: jnp.sum(layer(x) ** 2))(layer)
    assert grads["scale"][...] != 0
    layer.scale[...] = jnp.zeros(())
    np.testing.assert_array_equal(layer(x), x)


def test_the_optimiser_lowers_a_loss_by_steps_of_its_length(mine: Path) -> None:
    new.main(["optimiser", "own_part"])
    made = runpy.run_path("own_part.py")["own_part"]
    inputs = jax.random.normal(jax.random.key(0), (30, 3)) @ jnp.diag(jnp.array([1.0, 2.0, 4.0]))
    labels = jax.random.randint(jax.random.key(1), (30,), 0, 2)
    model = lambda params, x: x @ params
    loss = lambda params: optax.softmax_cross_entropy_with_integer_labels(model(params, inputs), labels).mean()
    optimiser, params = made(0.1), jnp.arange(6.0).reshape(3, 2) ** 2 / 9
    state, losses = optimiser.init(params), [loss(params)]
    for _ in range(10):
        updates, state = optimiser.update(jax.grad(loss)(params), state, params, model_fn=model, inputs=inputs)
        p, change = jax.nn.softmax(model(params, inputs)), model(updates, inputs)
        variance = jnp.sum(p * change**2, axis=1) - jnp.sum(p * change, axis=1) ** 2  # of logits: the Fisher metric
        np.testing.assert_allclose(jnp.sqrt(variance.mean()), 0.1, rtol=1e-6)
        params = optax.apply_updates(params, updates)
        losses.append(loss(params))
    assert (np.diff(losses) < 0).all()
    still, _ = optimiser.update(jnp.zeros((3, 2)), state, params, model_fn=model, inputs=inputs)
    np.testing.assert_array_equal(still, 0)
