"""Memories of ten lines, whose files say nothing of theory: what they do lies on lines that nobody derived."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf, erfinv

from hopfield import memories
from hopfield.memories._derived import derived_theory
from tests.hopfield.contracts.parts import quick

SEPARATIONS = {
    "clipped": "jnp.where(z < 0.5, jnp.maximum(z, 0.0) ** 3, 0.75 * z - 0.25)",
    "mixed": "z**2 / 2 + z**4 / 4",
    "steep": "jnp.cosh(3.0 * z)",
    "saturated": "jnp.clip(z, 0.0, 0.4) ** 3",
}
FILE = """
from typing import Any

import jax
import jax.numpy as jnp
from hopfield.memory import Memory
from hopfield.separations import Separation
from hopfield.spaces import Spins


class Own(Separation):
    def potential(self, z, mask=None):
        terms = {potential}
        return jnp.sum(terms if mask is None else jnp.where(mask, terms, 0.0))

    def weights(self, z, mask=None):
        return jax.grad(self.potential)(z, mask)


ENSEMBLE = "spins"


def {name}(patterns, *, mask=None) -> Memory:
    return Memory(patterns, 1.0 / patterns.shape[1], mask=mask, separation=Own(), space=Spins())
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    for name, potential in SEPARATIONS.items():
        (tmp_path / f"{name}.py").write_text(FILE.format(name=name, potential=potential))
    monkeypatch.setattr(memories, "__path__", [*memories.__path__, str(tmp_path)])
    memories.names.cache_clear()
    yield memories.find
    memories.names.cache_clear()


def one_step_errors(blueprint, neurons: int, patterns: int, flipped: int, samples: int) -> np.ndarray:
    """Share of wrong spins after one step from the first pattern, of each of many draws."""
    stored = np.random.default_rng(7).choice([-1.0, 1.0], size=(samples, patterns, neurons))
    starts = stored[:, 0] * np.where(np.arange(neurons) < flipped, -1.0, 1.0)
    update = quick(jax.vmap(lambda rows, start: blueprint.build(rows).update(start)))
    ends = update(jnp.asarray(stored, jnp.float32), jnp.asarray(starts, jnp.float32))
    return np.mean(np.asarray(ends) != stored[:, 0], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "patterns"), [("clipped", 31), ("mixed", 31), ("steep", 41)])
@pytest.mark.parametrize("flipped", [0, 5])
def test_measured_one_step_errors_lie_on_the_derived_line(own, name, patterns, flipped):
    blueprint = own(name)
    errors = one_step_errors(blueprint, 32, patterns, flipped, 1500)
    mean, stderr = errors.mean(), errors.std() / np.sqrt(errors.size)
    theory = float(blueprint.theory.one_step_error(32, patterns, corruption=flipped / 32))
    assert 0 < stderr < 0.08 * theory
    assert abs(mean - theory) < 3 * stderr
    wrong = float(blueprint.theory.one_step_error(32, 2 * patterns, corruption=flipped / 32))
    assert abs(mean - wrong) > 6 * stderr


@pytest.mark.slow
def test_load_of_a_clipped_cube_by_hand(own):
    """Signal 0.75·2/N, noise ½⟨(6t²/N³)²⟩ = 54/N⁴: a = 24 M/N², and 0.5 % wrong at 1/(2·erfc⁻¹(0.01)²·24)."""
    theory = own("clipped").theory
    assert theory.critical_load("one_step_error") == pytest.approx(0.150718 / 24, rel=1e-3)
    assert theory.kind("one_step_error") == "Gaussian noise"
    # The signal is that of the pattern down to m = ½, where m = erf(1/√(2aα)) ends.
    last = theory.critical_load("retained", cut=0.0)
    assert last == pytest.approx(1 / (48 * erfinv(0.5) ** 2), rel=1e-3)
    assert theory.retained_overlap(0.5 * last) == pytest.approx(erf(np.sqrt(2) * erfinv(0.5)), rel=1e-3)
    assert np.isnan(theory.retained_overlap(1.01 * last))


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["dense:3", "dense:4", "exponential"])
def test_limits_of_the_derived_theory_are_those_of_the_published_one(spec):
    blueprint = memories.find(spec)
    derived = derived_theory(blueprint, blueprint.scaling.load)
    assert derived is not None
    for criterion in ("retained", "one_step_error", "target_weight"):
        for corruption in (0.0, 0.1):
            arguments = {"corruption": corruption, "beta": blueprint.beta}
            expected = blueprint.theory.critical_load(criterion, **arguments)
            found = derived.critical_load(criterion, **arguments)
            assert expected is None or found == pytest.approx(expected, abs=1e-9)
    for neurons, patterns in ((12, 31), (20, 200)):
        expected = blueprint.theory.one_step_error(neurons, patterns, beta=1.0)
        assert derived.one_step_error(neurons, patterns, beta=1.0) == pytest.approx(expected, abs=1e-9)
    overlap = blueprint.theory.retained_overlap(0.01)
    assert overlap is None or derived.retained_overlap(0.01) == pytest.approx(overlap, abs=1e-6)
