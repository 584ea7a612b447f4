"""Arguments of pictures that cannot be drawn: one sentence each, before anything is drawn."""

import numpy as np
import pytest

from hopfield import plots

PLANE = {"resolution": 5}


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda: plots.weights(np.zeros((0, 3))), "values must be weights"),
        (lambda: plots.weights([[1, 2], [3]]), "values must be weights"),
        (lambda: plots.weights(np.eye(2) * 1j), "values must be weights"),
        (lambda: plots.weights(np.eye(2), head=0), r"head must lie in \[0, 0\), got 0"),
        (lambda: plots.weights(np.eye(2), axes="a"), "axes must be an Axes, got 'a'"),
        (lambda: plots.mask(np.where(np.eye(2) > 0, 0, -np.inf)), "values must be boolean, or 0 and 1"),
        (lambda: plots.mask([["a", "b"]]), "values must be a mask"),
        (lambda: plots.entropies([np.ones(3), np.ones(2)]), "values must be entropies"),
        (lambda: plots.entropies(np.ones((2, 3, 0))), "values must be entropies"),
        (lambda: plots.entropies(3.0), "values must be entropies"),
        (lambda: plots.temperatures([1.0], [0.0, 1.0]), "values must be inverse temperatures above 0"),
        (lambda: plots.temperatures([], [1.0]), "scores must be a vector"),
        (lambda: plots.energies(None, np.ones((2, 2))), "model.energy must be a function, got NoneType"),
        (lambda: plots.energies(None, np.ones((0, 2))), "states must be"),
        (lambda: plots.landscape(sum, limits=(0, 0, 0, 1)), "limits must be least and largest x"),
        (lambda: plots.landscape(sum, limits=(0, 1)), "limits must be least and largest x"),
        (lambda: plots.landscape(sum, resolution=1), "resolution must be an integer of at least 2"),
        (lambda: plots.landscape(sum, [np.ones((3, 3))], **PLANE), "trajectories must be states"),
        (lambda: plots.landscape(sum, np.ones((3, 2)), **PLANE), "trajectories must be states"),
        (lambda: plots.landscape(sum, directions=((1, 0), (2, 0))), "directions must be finite and span a plane"),
        (lambda: plots.landscape(lambda x: x, **PLANE), r"energy must be one number for a state, got shape \(2,\)"),
        (lambda: plots.landscape(lambda x: x[0] + 1j, **PLANE), "energy must be one real number for a state"),
        (lambda: plots.landscape(np.array, **PLANE), "energy must be a function that JAX can trace"),
        (lambda: plots.landscape(sum, None, **PLANE), "trajectories must be an Iterable, got None"),
        (lambda: plots.landscape(3.0, **PLANE), "energy must be a function, got float"),
        (lambda: plots.spectrum(np.full((2, 2), np.nan)), "values must be finite for a metric"),
        (lambda: plots.metric(np.zeros((0, 0))), "values must be a metric"),
        (lambda: plots.gradients(np.ones((2, 3)), np.ones((3, 2))), "by_hand must have the shape of automatic"),
        (lambda: plots.gradients([], []), "by_hand must be an array, not empty"),
    ],
)
def test_what_cannot_be_drawn_as_it_is_is_one_sentence(draw, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{sentence}[^\n]*$"):
        draw()
