"""Arguments of pictures that would be drawn as what they are not: one sentence each."""

import numpy as np
import pytest

from hopfield import plots


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda: plots.weights(np.eye(2) * 1j), "values must be weights"),
        (lambda: plots.attention_mask(np.where(np.eye(2) > 0, 0, -np.inf)), "values must be boolean, or 0 and 1"),
        (lambda: plots.landscape(sum, directions=((1, 0), (2, 0))), "directions must be finite and span a plane"),
        (lambda: plots.spectrum(np.full((2, 2), np.nan)), "values must be finite for a metric"),
        (lambda: plots.gradients(np.ones((2, 3)), np.ones((3, 2))), "by_hand must have the shape of automatic"),
    ],
)
def test_what_cannot_be_drawn_as_it_is_is_one_sentence(draw, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}[^\n]*$"):
        draw()
