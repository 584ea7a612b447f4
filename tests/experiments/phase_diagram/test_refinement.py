"""Refinement follows boundaries and nothing else, and a run that refines goes on after a stop."""

import pytest

from experiments.phase_diagram.refinement import Cell, coarse, further_cells, further_places, leaves


def inside(cell: Cell, columns: int = 4, rows: int = 4) -> bool:
    """True if the middle of a cell lies below the parabola y = x²."""
    left, right, lower, upper = cell.bounds(columns, rows)
    return (lower + upper) / 2 < ((left + right) / 2) ** 2


def refined(levels: int) -> list[Cell]:
    """All cells that are measured to find the parabola."""
    cells = coarse(4, 4)
    while further := further_cells({cell: inside(cell) for cell in cells}, levels):
        cells += further
    return cells


@pytest.mark.parametrize("levels", [0, 1, 3])
def test_leaves_cover_the_map_once(levels: int) -> None:
    cells = refined(levels)
    assert len(set(cells)) == len(cells)
    area = sum((b[1] - b[0]) * (b[3] - b[2]) for b in (cell.bounds(4, 4) for cell in leaves(cells)))
    assert area == pytest.approx(1, abs=1e-12)
    assert max(cell.level for cell in cells) == levels
    assert set(cells) == set(leaves(cells)) | {cell.parent() for cell in cells if cell.level}


def test_boundary_is_traced_by_the_finest_cells_at_the_cost_of_a_line() -> None:
    """Two leaves beside each other that differ are both of the finest size; the cost doubles with each level."""
    used = leaves(refined(4))
    edges = {cell: cell.bounds(4, 4) for cell in used}
    for cell, (left, right, lower, upper) in edges.items():
        for other, (left_, right_, lower_, upper_) in edges.items():
            beside = right == left_ and lower < upper_ and lower_ < upper
            above = upper == lower_ and left < right_ and left_ < right
            if (beside or above) and inside(cell) != inside(other):
                assert cell.level == other.level == 4
    counts = [len(refined(levels)) for levels in (3, 4, 5)]
    assert 1.5 < (counts[2] - counts[1]) / (counts[1] - counts[0]) < 2.5
    assert counts[2] < 0.2 * 16 * 4**5


def test_a_single_cell_that_differs_cuts_its_neighbours_but_not_the_corners() -> None:
    cross = {Cell(0, 1, 1), Cell(0, 0, 1), Cell(0, 2, 1), Cell(0, 1, 0), Cell(0, 1, 2)}
    found = {cell: cell == Cell(0, 1, 1) for cell in coarse(3, 3)}
    assert {cell.parent() for cell in further_cells(found, 1)} == cross


def test_a_curve_is_halved_where_the_share_changes() -> None:
    shares = {(0.1, 0): 1.0, (0.2, 0): 1.0, (0.3, 0): 0.6, (0.4, 0): 0.0, (0.5, 0): 0.01}
    assert further_places(shares, 1) == [(0.25, 1), (0.35, 1)]
    assert further_places(shares, 0) == []
    shares |= {(0.25, 1): 0.99, (0.35, 1): 0.2}
    assert further_places(shares, 1) == []
    assert [place for place, _ in further_places(shares, 2)] == pytest.approx([0.275, 0.325, 0.375])
    assert {level for _, level in further_places(shares, 2)} == {2}
