"""Names of separations, which the files that define them give."""

import sys

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Memory, separations
from hopfield._names import Table
from hopfield.separations._named import collected

FILE = """
import jax
import jax.numpy as jnp

from hopfield._names import Named
from hopfield.separations.base import Separation


class Softplus(Separation):
    def potential(self, z, mask=None):
        return jnp.sum(jax.nn.softplus(z) if mask is None else jnp.where(mask, jax.nn.softplus(z), 0.0))

    def weights(self, z, mask=None):
        return jax.nn.sigmoid(z) if mask is None else jnp.where(mask, jax.nn.sigmoid(z), 0.0)


NAMES = {"%s": Named(Softplus)}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(separations, "__path__", [*separations.__path__, str(tmp_path)])
    yield tmp_path
    sys.modules.pop("hopfield.separations.own_part", None)
    vars(separations).pop("own_part", None)


def test_a_file_in_the_folder_is_all_that_a_new_separation_needs(folder):
    (folder / "own_part.py").write_text(FILE % "softplus")
    found = Table(separations.Separation, "separations", collected()).find("softplus")
    memory = Memory(jnp.eye(3), separation=found)
    np.testing.assert_allclose(memory.weights(jnp.zeros(3)), 0.5)


class Doubled(separations.Separation):
    """Softplus with weights that are not the gradient of its potential."""

    def potential(self, z, mask=None):
        return jnp.sum(jnp.logaddexp(z, 0.0) if mask is None else jnp.where(mask, jnp.logaddexp(z, 0.0), 0.0))

    def weights(self, z, mask=None):
        half = 0.5 * (1.0 + jnp.tanh(0.5 * z))
        return 2.0 * (half if mask is None else jnp.where(mask, half, 0.0))


class Softplus(Doubled):
    def weights(self, z, mask=None):
        return 0.5 * super().weights(z, mask)


def test_weights_of_ones_own_that_are_no_gradient_are_refused_before_an_energy_rises():
    Memory(jnp.eye(4), 1.0, separation=Softplus())
    with pytest.raises(ValueError, match="weights of Doubled must be the gradient of its potential"):
        Memory(jnp.eye(4), 1.0, separation=Doubled())
