"""Pictures of arrays: what is drawn are the numbers that were given."""

from collections.abc import Iterator

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from hopfield import plots
from hopfield.layers.association import AssociationReport


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def images(ax) -> np.ndarray:
    return np.asarray(ax.images[0].get_array())


def test_weights_of_all_heads_of_one_and_of_a_report() -> None:
    values = np.random.default_rng(0).dirichlet(np.ones(4), (3, 2))
    panels = plots.weights(values)
    assert [ax.get_title(loc="left") for ax in panels] == ["head 0", "head 1", "head 2"]
    np.testing.assert_allclose([images(ax) for ax in panels], values)
    nothing = np.zeros((3, 2))
    report = AssociationReport(values, nothing, nothing, nothing, nothing)
    np.testing.assert_allclose(images(plots.weights(report, head=1)), values[1])
    ax = Figure().subplots()
    assert plots.weights(values[0], axes=ax) is ax
    with pytest.raises(ValueError, match=r"head must lie in \[0, 3\), got 3"):
        plots.weights(values, head=3)
    with pytest.raises(ValueError, match="axes must be 3, got 1"):
        plots.weights(values, axes=ax)


def test_masks_and_metrics_are_maps_and_spectra_eigenvalues() -> None:
    np.testing.assert_array_equal(images(plots.attention_mask(np.tri(3))), np.tri(3) != 0)
    g = np.diag([4.0, 1.0, -0.5])
    np.testing.assert_array_equal(images(plots.metric(g)), g)
    ax = plots.spectrum(g)
    positive, negative = ax.lines
    np.testing.assert_allclose(positive.get_xydata(), [[1, 4], [2, 1]])
    np.testing.assert_allclose(negative.get_xydata(), [[3, 0.5]])
    with pytest.raises(ValueError, match=r"metric \[N, N\]"):
        plots.metric(np.ones((2, 3)))


class Bowl:
    """An energy ½‖x‖²."""

    def energy(self, state):
        return 0.5 * (state**2).sum()


def test_energies_and_landscapes_show_the_energy_and_the_way() -> None:
    course = np.array([[1.0, 1.0], [0.5, 0.5], [0.0, 0.0]])
    np.testing.assert_allclose(plots.energies(Bowl(), course).lines[0].get_ydata(), [1.0, 0.25, 0.0])
    ax = plots.landscape(Bowl().energy, [course], limits=(-1, 1, -1, 1), resolution=9)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), course, atol=1e-12)
    with pytest.raises(ValueError, match="directions must be two"):
        plots.landscape(Bowl().energy, origin=np.zeros(3))


def test_weights_of_large_scores_are_those_of_double_precision() -> None:
    first, second = (line.get_ydata() for line in plots.temperatures([1e8, 1e8 + 1], [1.0, 1e9]).lines)
    np.testing.assert_allclose([first, second], [[1 / (1 + np.e), 0.0], [np.e / (1 + np.e), 1.0]])
