"""Pictures of arrays, for notebooks: images, weights, masks, entropies, temperatures, energies, landscapes, metrics.

Each function takes arrays or a report of the library and returns Matplotlib's Axes, on which everything may be changed
afterwards. The one module of the library that imports Matplotlib; `import hopfield` does not import it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

try:
    import matplotlib
    from matplotlib import pyplot, rcsetup
    from matplotlib.axes import Axes
except ModuleNotFoundError as error:
    sentence = "hopfield.plots needs Matplotlib, which this environment has not: pip install matplotlib"
    raise ImportError(sentence) from error
from scipy.special import entr, softmax

from hopfield._arguments import instance, integer
from hopfield._pictures import energies as energies_of
from hopfield._pictures import numbers, plane, square

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STYLE: dict[Any, Any] = {
    "axes.grid": False,
    "axes.prop_cycle": rcsetup.cycler(color=_COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "legend.frameon": False,
}


def weights(values: Any, *, head: int | None = None, axes: Axes | Sequence[Axes] | None = None) -> Any:
    """Attention weights as a map of queries down and patterns across, from 0 to 1 or to the largest weight.

    Args:
        values: weights [Q, M], or of several heads [H, Q, M], or an AssociationReport of one example.
        head: which head; all of them side by side if None.
        axes: where to draw; new axes if None.

    Returns:
        The axes, a list of them for several heads.
    """
    maps = numbers("values", getattr(values, "weights", values), "weights [Q, M] or [H, Q, M]", (2, 3))
    if head is not None:
        heads = len(maps) if maps.ndim == 3 else 0
        if not heads or not 0 <= integer("head", head, 0) < heads:
            raise ValueError(f"head must lie in [0, {heads}), got {head}")
        maps = maps[head]
    several = maps if maps.ndim == 3 else maps[None]
    panels = _panels(axes, len(several))
    sound = maps[np.isfinite(maps)]
    low, high = sound.min(initial=0.0), sound.max(initial=1.0)
    for number, (ax, part) in enumerate(zip(panels, several, strict=True)):
        image = ax.imshow(part, vmin=low, vmax=high, cmap="cividis", aspect="auto", interpolation="nearest")
        ax.set(xlabel="pattern", ylabel="query" if number == 0 else "")
        ax.set_title(_head(maps, number, head), loc="left")
        ax.figure.colorbar(image, ax=ax, label="weight")
    return panels if maps.ndim == 3 else panels[0]


def images(
    values: Any, *, shape: tuple[int, int] | None = None, titles: Sequence[str] = (), axes: Any = None
) -> list[Axes]:
    """Patterns or states as grey images side by side, all on one scale; a missing pixel (NaN) is red.

    Args:
        values: images [R, height, width], or patterns or states [R, N].
        shape: height and width of patterns [R, N]; a square if None.
        titles: what stands above each.
        axes: where to draw, R of them; new axes if None.
    """
    pixels = numbers("values", values, "images [R, height, width] or patterns [R, N]", (2, 3))
    if pixels.ndim == 2:
        side = round(pixels.shape[1] ** 0.5)
        height, width = (side, side) if shape is None else shape
        if height * width != pixels.shape[1]:
            raise ValueError(f"shape must hold the {pixels.shape[1]} units of a pattern, got {(height, width)}")
        pixels = pixels.reshape(-1, height, width)
    colours = matplotlib.colormaps["gray"].with_extremes(bad="#D55E00")
    panels = _panels(axes, len(pixels))
    for number, (ax, image) in enumerate(zip(panels, pixels, strict=True)):
        ax.imshow(image, cmap=colours, vmin=np.nanmin(pixels), vmax=np.nanmax(pixels), interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        ax.set_title(titles[number] if number < len(titles) else "", loc="left")
    return panels


def attention_mask(values: Any, *, axes: Axes | None = None) -> Axes:
    """A mask [Q, M] of truth values, or of 0 and 1: dark where a query may read a pattern."""
    entries = numbers("values", values, "a mask [Q, M]", (2,))
    if not np.isin(entries, (0, 1)).all():
        raise ValueError("values must be boolean, or 0 and 1, got other numbers")
    (ax,) = _panels(axes, 1)
    ax.imshow(entries != 0, cmap="Greys", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    ax.set(xlabel="pattern", ylabel="query", title="readable (dark)")
    return ax


def entropies(values: Any, *, axes: Axes | None = None) -> Axes:
    """Entropy of weights by head and layer: a line for each layer, with the spread over queries.

    Args:
        values: entropies in nats [L, H], or with queries [L, H, Q], or a list of AssociationReports, one a layer.
        axes: where to draw; new axes if None.
    """
    by_layer = [getattr(each, "entropy", each) for each in (values if np.iterable(values) else [values])]
    by_layer = numbers("values", by_layer, "entropies [L, H] or [L, H, Q], of as many heads in every layer", (2, 3))
    (ax,) = _panels(axes, 1)
    for layer, rows in enumerate(by_layer if by_layer.ndim == 3 else by_layer[..., None]):
        low, middle, high = np.quantile(rows, (0.1, 0.5, 0.9), axis=-1)
        bars = np.array([middle - low, high - middle])
        ax.errorbar(np.arange(len(rows)), middle, bars, marker="o", capsize=2, label=f"layer {layer}")
    ax.set(xlabel="head", ylabel="entropy $H$ (nats)")
    ax.set_xticks(range(by_layer.shape[1]))
    ax.legend()
    return ax


def temperatures(scores: Any, values: Any, *, axes: Axes | None = None) -> Axes:
    """Softmax weights of one query against the inverse temperature β, and their entropy on the right.

    Args:
        scores: scores of the patterns [M].
        values: inverse temperatures β > 0 [B].
        axes: where to draw; new axes if None.
    """
    scores, betas = numbers("scores", scores, "a vector [M]", (1,)), numbers("values", values, "a vector [B]", (1,))
    if not ((betas > 0) & (betas < np.inf)).all():
        raise ValueError(f"values must be inverse temperatures above 0 and finite, got {betas}")
    betas = np.sort(betas)
    with np.errstate(invalid="ignore", over="ignore"):  # infinite scores have no weights
        columns = softmax(betas[:, None] * (scores - scores.max()), axis=-1)
    (ax,) = _panels(axes, 1)
    for number, column in enumerate(columns.T):
        ax.plot(betas, column, label=f"pattern {number}" if len(scores) <= 8 else None)
    right = ax.twinx()
    right.plot(betas, entr(columns).sum(axis=-1), color="0.3", linestyle=":", label="entropy")
    right.set_ylabel("entropy $H$ (nats)")
    ax.set(xscale="log", xlabel=r"inverse temperature $\beta$", ylabel="weight")
    if len(scores) <= 8:
        ax.legend()
    return ax


def energies(model: Any, states: Any, *, axes: Axes | None = None) -> Axes:
    """Energy along retrievals, as `trajectory` returns them.

    Args:
        model: Memory, Couplings or another `dynamics.Model`.
        states: states [T, N] of one retrieval, or of several [R, T, N].
        axes: where to draw; new axes if None.
    """
    courses = numbers("states", states, "[T, N] or [R, T, N]", (2, 3))
    courses = courses if courses.ndim == 3 else courses[None]
    levels = [energies_of("model.energy", getattr(model, "energy", None), course) for course in courses]
    (ax,) = _panels(axes, 1)
    for course in levels:
        ax.plot(course, marker="o", markersize=3)
    ax.set(xlabel="update", ylabel="energy $E$")
    return ax


def landscape(
    energy: Callable[[Any], Any],
    trajectories: Sequence[Any] = (),
    *,
    origin: Any = (0.0, 0.0),
    directions: Any = ((1.0, 0.0), (0.0, 1.0)),
    limits: tuple[float, float, float, float] = (-1.5, 1.5, -1.5, 1.5),
    resolution: int = 80,
    axes: Axes | None = None,
) -> Axes:
    """Energy over a plane through states, with trajectories projected onto it.

    Args:
        energy: of one state [N], such as `memory.energy`.
        trajectories: states [T, N] each.
        origin, directions: the plane: origin + x · directions[0] + y · directions[1].
        limits: least and largest x, least and largest y.
        resolution: points of the grid along each side.
        axes: where to draw; new axes if None.
    """
    origin, directions = plane(origin, directions)
    ends = numbers("limits", limits, "four numbers", (1,))
    if len(ends) != 4 or not (np.isfinite(ends).all() and ends[0] < ends[1] and ends[2] < ends[3]):
        raise ValueError(f"limits must be least and largest x, least and largest y, got {limits}")
    instance("trajectories", trajectories, Iterable)
    courses = [numbers("trajectories", course, f"states [T, {origin.size}] each", (2,)) for course in trajectories]
    for course in courses:
        if course.shape[1] != origin.size:
            raise ValueError(f"trajectories must be states [T, {origin.size}] each, got shape {course.shape}")
    integer("resolution", resolution, 2)
    x, y = (np.linspace(low, high, resolution) for low, high in (ends[:2], ends[2:]))
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    levels = energies_of("energy", energy, origin + grid @ directions)
    levels = np.ma.masked_invalid(levels.reshape(resolution, resolution))
    (ax,) = _panels(axes, 1)
    filled = ax.contourf(x, y, levels, levels=24, cmap="cividis")
    ax.figure.colorbar(filled, ax=ax, label="energy $E$")
    inverse = np.linalg.pinv(directions)
    for course in courses:
        path = (course - origin) @ inverse
        ax.plot(*path.T, color="white", linewidth=1.2, marker="o", markersize=3)
        ax.plot(*path[-1], color="white", marker="*", markersize=10)
    ax.set(xlabel="first direction", ylabel="second direction")
    return ax


def metric(values: Any, *, axes: Axes | None = None) -> Axes:
    """A metric g [N, N] as a map, white at zero."""
    matrix = square(values)
    size = float(np.abs(matrix[np.isfinite(matrix)]).max(initial=0.0)) or 1.0
    (ax,) = _panels(axes, 1)
    image = ax.imshow(matrix, cmap="RdBu_r", vmin=-size, vmax=size, interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="$g_{ij}$")
    ax.set(xlabel="$j$", ylabel="$i$", title="metric $g$")
    return ax


def spectrum(values: Any, *, axes: Axes | None = None) -> Axes:
    """Eigenvalues of a symmetric metric [N, N], the largest first. Negative ones are crosses at their size."""
    matrix = square(values)
    if not np.isfinite(matrix).all():
        raise ValueError("values must be finite for a metric to have eigenvalues, got NaN or infinite entries")
    if not np.allclose(matrix, matrix.T, rtol=1e-5, atol=1e-6 * np.max(np.abs(matrix), initial=0.0), equal_nan=True):
        raise ValueError("values must be a symmetric metric for its eigenvalues to be real, got another")
    eigenvalues = np.linalg.eigvalsh(matrix)[::-1]
    order = np.arange(1, len(eigenvalues) + 1)
    (ax,) = _panels(axes, 1)
    ax.plot(order[eigenvalues >= 0], eigenvalues[eigenvalues >= 0], "o-", label="not negative")
    if (eigenvalues < 0).any():
        ax.plot(order[eigenvalues < 0], -eigenvalues[eigenvalues < 0], "x", label="negative, sign changed")
        ax.legend()
    ax.set(xlabel="rank", ylabel="eigenvalue", yscale="log" if (eigenvalues != 0).all() else "linear")
    return ax


def gradients(by_hand: Any, automatic: Any, *, axes: Axes | None = None) -> Axes:
    """Components of a gradient by hand against components by automatic differentiation, with the line of equality."""
    hand, auto = numbers("by_hand", by_hand, "an array"), numbers("automatic", automatic, "an array")
    if hand.shape != auto.shape:
        raise ValueError(f"by_hand must have the shape of automatic, got {hand.shape} and {auto.shape}")
    hand, auto = hand.ravel(), auto.ravel()
    (ax,) = _panels(axes, 1)
    ends = [min(hand.min(), auto.min()), max(hand.max(), auto.max())]
    ax.plot(ends, ends, color="0.6", linewidth=1, label="equal")
    ax.plot(auto, hand, ".", label=f"largest difference {np.abs(hand - auto).max():.2g}")
    ax.set(xlabel="automatic", ylabel="by hand")
    ax.legend()
    return ax


def _panels(axes: Any, number: int) -> list[Axes]:
    """The given axes, or new ones side by side in the house style."""
    if axes is None:
        with matplotlib.rc_context(_STYLE):
            figure = pyplot.figure(figsize=(4.2 * number, 3.4), layout="constrained")
            return list(figure.subplots(1, number, squeeze=False)[0])
    panels = list(axes) if np.iterable(axes) else [axes]
    for each in panels:
        instance("axes", each, Axes)
    if len(panels) != number:
        raise ValueError(f"axes must be {number}, got {len(panels)}")
    return panels


def _head(maps: np.ndarray, number: int, head: int | None) -> str:
    if maps.ndim == 3:
        return f"head {number}"
    return "" if head is None else f"head {head}"
