"""Functions of all Triton kernels of attention: rows of arrays, scores with their masks, powers of positive numbers."""

import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]

LOWEST = tl.constexpr(-1e30)
"""Start of the maximum; a masked score is below it."""


@triton.jit
def positive(v):
    """[v]₊; not a number stays what it is."""
    return tl.maximum(v, 0.0, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def powers(v, E: tl.constexpr):
    """[v]₊^E, and [v]₊^(E − 1) for E ≥ 1."""
    if E == 0:
        power = tl.where(v > 0, 1.0, tl.where(v <= 0, 0.0, v))
        lower = power
    elif E == 1:
        power = positive(v)
        lower = tl.where(v > 0, 1.0, 0.0)
    elif E == 2:
        lower = positive(v)
        power = lower * lower
    else:
        power = positive(v)
        lower = tl.where(v <= 0, 0.0, tl.exp2((E - 1) * tl.log2(tl.where(v <= 0, 1.0, v))))
        power = power * lower
    return power, lower


@triton.jit
def tile(start, rows, count, WIDTH: tl.constexpr, PADDED: tl.constexpr):
    """Rows [R, PADDED] of an array, zeros beyond its ends."""
    columns = tl.arange(0, PADDED)
    inside = (rows[:, None] < count) & (columns[None, :] < WIDTH)
    return tl.load(start + rows[:, None] * WIDTH + columns[None, :], mask=inside, other=0.0)


@triton.jit
def of_rows(TAU, FACTOR, COMMON, BESIDE, places, inside):
    """τ, c, m and n of rows, zero beyond their end."""
    tau = tl.load(TAU + places, mask=inside, other=0.0)
    factor = tl.load(FACTOR + places, mask=inside, other=0.0)
    common = tl.load(COMMON + places, mask=inside, other=0.0)
    beside = tl.load(BESIDE + places, mask=inside, other=0.0)
    return tau, factor, common, beside


@triton.jit
def put(start, rows, count, x, WIDTH: tl.constexpr, PADDED: tl.constexpr):
    columns = tl.arange(0, PADDED)
    inside = (rows[:, None] < count) & (columns[None, :] < WIDTH)
    tl.store(start + rows[:, None] * WIDTH + columns[None, :], x.to(start.dtype.element_ty), mask=inside)


@triton.jit
def scores(
    q, k, rows, columns, length, SCALE: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, MASKED: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """a s [R, C] of queries and keys, below LOWEST where they are masked."""
    s = SCALE * tl.dot(q, tl.trans(k), input_precision=PRECISION)
    if MASKED:
        allowed = (columns < length)[None, :] & (rows >= 0)[:, None]
        if LEFT >= 0:
            allowed = allowed & (columns[None, :] >= rows[:, None] - LEFT)
        if RIGHT >= 0:
            allowed = allowed & (columns[None, :] <= rows[:, None] + RIGHT)
        s = tl.where(allowed, s, 4 * LOWEST)
    return s


@triton.jit
def reach(
    first, length, LEFT: tl.constexpr, RIGHT: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, EDGE: tl.constexpr
):
    """Blocks low ≤ mid ≤ high of keys of BT queries from `first` on. Up to mid every query reads every key."""
    low = first * 0
    end = length
    if RIGHT >= 0:
        end = tl.minimum(length, first + BT + RIGHT)
    high = (end + BS - 1) // BS
    mid = high
    if EDGE:
        if LEFT >= 0:
            low = tl.minimum(tl.maximum(first - LEFT, 0) // BS, high)
            mid = low
        else:
            if RIGHT >= 0:
                end = tl.minimum(length, first + RIGHT + 1)
            mid = end // BS
    return low, mid, high
