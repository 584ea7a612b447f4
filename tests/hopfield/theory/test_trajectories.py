"""Overlaps in time: the closed second step, drawn trajectories, and networks simulated in plain numpy."""

import numpy as np
import pytest

from hopfield.theory import basins, dense, trajectories


def simulated(degree: int, load: float, overlap: float, steps: int, neurons: int, draws: int) -> np.ndarray:
    """Overlaps of networks [draws, steps], with fields of the exact energy difference."""
    rng, found = np.random.default_rng(1), []
    for _ in range(draws):
        patterns = rng.choice([-1.0, 1.0], size=(round(load * neurons ** (degree - 1)), neurons)).astype(np.float32)
        state = patterns[0] * np.where(rng.permutation(neurons) < round(neurons * (1 - overlap) / 2), -1, 1)
        along = []
        for _ in range(steps):
            rest = (patterns @ state)[:, None] - patterns * state
            state = np.where(np.sum((rest + patterns) ** degree - (rest - patterns) ** degree, axis=0) > 0, 1.0, -1.0)
            along.append(state @ patterns[0] / neurons)
        found.append(along)
    return np.array(found)


@pytest.mark.parametrize(("degree", "load"), [(2, 0.12), (3, 0.08), (4, 0.012)])
@pytest.mark.parametrize("start", [0.5, 1.0])
def test_two_drawn_steps_are_the_closed_forms(degree: int, load: float, start: float) -> None:
    found = trajectories.course(load, degree, start, 2, draws=2**14)
    first = 1 - 2 * dense.one_step_error_asymptotic(load, degree, (1 - start) / 2)
    closed = [start, float(first), float(trajectories.second_step(load, degree, start))]
    np.testing.assert_allclose(found.overlap, closed, atol=0.008)
    assert found.stderr[0] == 0
    assert np.all(found.stderr[1:] < 0.012)


def test_the_second_step_is_that_of_amari_and_maginu_but_for_the_own_past() -> None:
    """A start without overlap ends without any, and at small loads a spin does not hear itself."""
    assert trajectories.second_step(0.1, 2, 0.0) == pytest.approx(0.0, abs=1e-15)
    assert trajectories.second_step(0.02, 2, 0.9) == pytest.approx(basins.neurodynamics(0.02, 0.9, 2), abs=1e-6)
    np.testing.assert_array_less(
        basins.neurodynamics(0.15, [0.3, 0.6, 1.0], 2), trajectories.second_step(0.15, 2, [0.3, 0.6, 1.0])
    )


@pytest.mark.physics
@pytest.mark.parametrize(
    ("degree", "load", "start", "neurons", "draws"),
    [(2, 0.12, 0.3, 3000, 12), (2, 0.15, 1.0, 3000, 12), (3, 0.08, 0.7, 100, 30)],
)
def test_steps_of_networks_are_those_of_theory(
    degree: int, load: float, start: float, neurons: int, draws: int
) -> None:
    """Within 3.5 errors, and a part of 1/√N for its size, where Amari & Maginu, or the map, are off by ten."""
    steps = 6
    along = simulated(degree, load, start, steps, neurons, draws)
    found = trajectories.course(load, degree, start, steps)
    spread = np.hypot(along.std(axis=0, ddof=1) / np.sqrt(draws), found.stderr[1:])
    apart = np.abs(along.mean(axis=0) - found.overlap[1:])
    assert np.all(apart < 3.5 * spread + 2 / neurons)
