"""Triton kernels of attention whose weights are powers above a threshold, p = c [a s − τ]₊^e, one program for each.

`search` finds τ by Newton's method, passing over the keys in each step; `read` sums p v, and with u = ∂p/∂s also u v
and u; `queries_slope` and `keys_slope` form p and u again for dS = u (dO·v − m) − p n. No score leaves the chip.
float32 is multiplied in full. A block in which all weights are zero ends with its scores.
"""

import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]

LOWEST = tl.constexpr(-1e30)
"""Start of the maximum; a masked score is below it."""


@triton.jit
def _power(v, E: tl.constexpr):
    """[v]₊^E; not a number stays what it is."""
    if E == 0:
        found = tl.where(v > 0, 1.0, tl.where(v <= 0, 0.0, v))
    elif E == 1:
        found = tl.where(v <= 0, 0.0, v)
    elif E == 2:
        found = tl.where(v <= 0, 0.0, v)
        found = found * found
    else:
        found = tl.where(v <= 0, 0.0, tl.exp2(E * tl.log2(tl.where(v <= 0, 1.0, v))))
    return found


@triton.jit
def _tile(start, rows, count, WIDTH: tl.constexpr, PADDED: tl.constexpr):
    """Rows [R, PADDED] of an array, zeros beyond its ends."""
    columns = tl.arange(0, PADDED)
    inside = (rows[:, None] < count) & (columns[None, :] < WIDTH)
    return tl.load(start + rows[:, None] * WIDTH + columns[None, :], mask=inside, other=0.0)


@triton.jit
def _put(start, rows, count, x, WIDTH: tl.constexpr, PADDED: tl.constexpr):
    columns = tl.arange(0, PADDED)
    inside = (rows[:, None] < count) & (columns[None, :] < WIDTH)
    tl.store(start + rows[:, None] * WIDTH + columns[None, :], x.to(start.dtype.element_ty), mask=inside)


@triton.jit
def _scores(q, k, rows, columns, length, SCALE: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr):
    """a s [R, C] of queries and keys, below LOWEST where they are masked."""
    s = SCALE * tl.dot(q, tl.trans(k), input_precision="ieee")
    allowed = (columns < length)[None, :] & (rows >= 0)[:, None]
    if LEFT >= 0:
        allowed = allowed & (columns[None, :] >= rows[:, None] - LEFT)
    if RIGHT >= 0:
        allowed = allowed & (columns[None, :] <= rows[:, None] + RIGHT)
    return tl.where(allowed, s, 4 * LOWEST)


@triton.jit
def _reach(first, count, end, LEFT: tl.constexpr, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    """Ends of the places, a multiple of BLOCK first, that `count` others from `first` on are compared with."""
    low = first * 0
    high = end
    if LEFT >= 0:
        low = tl.maximum(first - LEFT, 0) // BLOCK * BLOCK
    if RIGHT >= 0:
        high = tl.minimum(end, first + count + RIGHT)
    return low, high


@triton.jit
def search(
    Q, K, LENGTH, TAU,
    HEADS: tl.constexpr, GROUP: tl.constexpr, T: tl.constexpr, S: tl.constexpr, D: tl.constexpr, BD: tl.constexpr,
    BT: tl.constexpr, BS: tl.constexpr, SCALE: tl.constexpr, E: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr,
    STEPS: tl.constexpr,
):  # fmt: skip
    """τ with Σ [a s − τ]₊^E = 1, E ≥ 1: steps of Newton's method in the norm rise to it from the largest a s − 1."""
    head = tl.program_id(1)
    rows = tl.program_id(0) * BT + tl.arange(0, BT)
    q = _tile(Q + head * T * D, rows, T, D, BD)
    key = K + head // GROUP * S * D
    length = tl.load(LENGTH + head // HEADS)
    low, high = _reach(tl.program_id(0) * BT, BT, length, LEFT, RIGHT, BS)
    top = tl.full([BT], LOWEST, tl.float32)
    for start in range(low, high, BS):
        columns = start + tl.arange(0, BS)
        s = _scores(q, _tile(key, columns, S, D, BD), rows, columns, length, SCALE, LEFT, RIGHT)
        top = tl.maximum(top, tl.max(s, 1))
    tau = tl.full([BT], -1.0, tl.float32)
    rises = 1
    step = 0
    while (rises > 0) & (step < STEPS):
        size = tl.zeros([BT], tl.float32)
        slope = tl.zeros([BT], tl.float32)
        for start in range(low, high, BS):
            columns = start + tl.arange(0, BS)
            s = _scores(q, _tile(key, columns, S, D, BD), rows, columns, length, SCALE, LEFT, RIGHT)
            v = s - top[:, None] - tau[:, None]
            power = _power(v, E - 1)
            slope += tl.sum(power, 1)
            size += tl.sum(power * tl.where(v <= 0, 0.0, v), 1)
        empty = slope == 0
        size = tl.where(empty, 1.0, size)
        new = tau + (size - tl.exp2((1.0 - 1.0 / E) * tl.log2(size))) / tl.where(empty, 1.0, slope)
        rises = tl.max((new - tau > 1e-4 * tl.abs(tau)).to(tl.int32), 0)
        tau = tl.where(new > tau, new, tau)
        step += 1
    tl.store(TAU + head * T + rows, top + tau, mask=rows < T)


@triton.jit
def read(
    Q, K, V, LENGTH, TAU, OUTPUT, FACTOR, MOMENT, MASS,
    HEADS: tl.constexpr, GROUP: tl.constexpr, T: tl.constexpr, S: tl.constexpr, D: tl.constexpr, BD: tl.constexpr,
    W: tl.constexpr, BW: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, SCALE: tl.constexpr, RATE: tl.constexpr,
    E: tl.constexpr, TOTAL: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, SLOPES: tl.constexpr,
):  # fmt: skip
    """Σ p v with c = 1 / Σ [a s − τ]₊^TOTAL; if SLOPES, also Σ u v and Σ u, where u = c a E [a s − τ]₊^(E − 1)."""
    head = tl.program_id(1)
    rows = tl.program_id(0) * BT + tl.arange(0, BT)
    q = _tile(Q + head * T * D, rows, T, D, BD)
    key, value = K + head // GROUP * S * D, V + head // GROUP * S * W
    length = tl.load(LENGTH + head // HEADS)
    tau = tl.load(TAU + head * T + rows, mask=rows < T, other=0.0)
    low, high = _reach(tl.program_id(0) * BT, BT, length, LEFT, RIGHT, BS)
    output = tl.zeros([BT, BW], tl.float32)
    moment = tl.zeros([BT, BW], tl.float32)
    total = tl.zeros([BT], tl.float32)
    mass = tl.zeros([BT], tl.float32)
    for start in range(low, high, BS):
        columns = start + tl.arange(0, BS)
        s = _scores(q, _tile(key, columns, S, D, BD), rows, columns, length, SCALE, LEFT, RIGHT)
        v = s - tau[:, None]
        if tl.max(tl.max((v <= 0).to(tl.int32) ^ 1, 1), 0) > 0:
            rows_of_value = _tile(value, columns, length, W, BW)
            p = _power(v, E)
            total += tl.sum(_power(v, TOTAL), 1)
            output += tl.dot(p.to(rows_of_value.dtype), rows_of_value, input_precision="ieee")
            if SLOPES and E > 0:
                u = _power(v, E - 1)
                mass += tl.sum(u, 1)
                moment += tl.dot(u.to(rows_of_value.dtype), rows_of_value, input_precision="ieee")
    factor = 1.0 / tl.where(total == 0, 1.0, total)
    _put(OUTPUT + head * T * W, rows, T, output * factor[:, None], W, BW)
    tl.store(FACTOR + head * T + rows, factor, mask=rows < T)
    if SLOPES:
        _put(MOMENT + head * T * W, rows, T, moment * (RATE * E * factor)[:, None], W, BW)
        tl.store(MASS + head * T + rows, mass * (RATE * E * factor), mask=rows < T)


@triton.jit
def _slopes(s, dot_v, tau, factor, common, beside, RATE: tl.constexpr, E: tl.constexpr):
    """p and dS = u (dO·v − m) − p n of a block, zero in rows without weight."""
    v = s - tau[:, None]
    p = factor[:, None] * _power(v, E)
    slope = -p * beside[:, None]
    if E > 0:
        slope += (RATE * E * factor)[:, None] * _power(v, E - 1) * (dot_v - common[:, None])
    return p, slope


@triton.jit
def queries_slope(
    Q, K, V, LENGTH, TAU, FACTOR, SLOPE, COMMON, BESIDE, DQ,
    HEADS: tl.constexpr, GROUP: tl.constexpr, T: tl.constexpr, S: tl.constexpr, D: tl.constexpr, BD: tl.constexpr,
    W: tl.constexpr, BW: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, SCALE: tl.constexpr, RATE: tl.constexpr,
    E: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr,
):  # fmt: skip
    """Σ dS k of a block of queries."""
    head = tl.program_id(1)
    rows = tl.program_id(0) * BT + tl.arange(0, BT)
    inside = rows < T
    q = _tile(Q + head * T * D, rows, T, D, BD)
    slope = _tile(SLOPE + head * T * W, rows, T, W, BW)
    key, value = K + head // GROUP * S * D, V + head // GROUP * S * W
    length = tl.load(LENGTH + head // HEADS)
    tau = tl.load(TAU + head * T + rows, mask=inside, other=0.0)
    factor = tl.load(FACTOR + head * T + rows, mask=inside, other=0.0)
    common = tl.load(COMMON + head * T + rows, mask=inside, other=0.0)
    beside = tl.load(BESIDE + head * T + rows, mask=inside, other=0.0)
    low, high = _reach(tl.program_id(0) * BT, BT, length, LEFT, RIGHT, BS)
    d_q = tl.zeros([BT, BD], tl.float32)
    for start in range(low, high, BS):
        columns = start + tl.arange(0, BS)
        k = _tile(key, columns, S, D, BD)
        s = _scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT)
        if tl.max(tl.max((s - tau[:, None] <= 0).to(tl.int32) ^ 1, 1), 0) > 0:
            dot_v = tl.dot(slope, tl.trans(_tile(value, columns, length, W, BW)), input_precision="ieee")
            _, d_s = _slopes(s, dot_v, tau, factor, common, beside, RATE, E)
            d_q += tl.dot(d_s.to(k.dtype), k, input_precision="ieee")
    _put(DQ + head * T * D, rows, T, d_q * (SCALE / RATE), D, BD)


@triton.jit
def keys_slope(
    Q, K, V, LENGTH, TAU, FACTOR, SLOPE, COMMON, BESIDE, DK, DV,
    HEADS: tl.constexpr, GROUP: tl.constexpr, T: tl.constexpr, S: tl.constexpr, D: tl.constexpr, BD: tl.constexpr,
    W: tl.constexpr, BW: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, SCALE: tl.constexpr, RATE: tl.constexpr,
    E: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr,
):  # fmt: skip
    """Σ dS q and Σ p dO of a block of keys, over the queries of all heads that share it."""
    stored = tl.program_id(1)
    columns = tl.program_id(0) * BS + tl.arange(0, BS)
    length = tl.load(LENGTH + stored * GROUP // HEADS)
    k = _tile(K + stored * S * D, columns, S, D, BD)
    rows_of_value = _tile(V + stored * S * W, columns, length, W, BW)
    low, high = _reach(tl.program_id(0) * BS, BS, T, RIGHT, LEFT, BT)
    d_k = tl.zeros([BS, BD], tl.float32)
    d_v = tl.zeros([BS, BW], tl.float32)
    for head in range(stored * GROUP, stored * GROUP + GROUP):
        for start in range(low, high, BT):
            rows = start + tl.arange(0, BT)
            inside = rows < T
            q = _tile(Q + head * T * D, rows, T, D, BD)
            tau = tl.load(TAU + head * T + rows, mask=inside, other=0.0)
            s = _scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT)
            if tl.max(tl.max((s - tau[:, None] <= 0).to(tl.int32) ^ 1, 1), 0) > 0:
                slope = _tile(SLOPE + head * T * W, rows, T, W, BW)
                factor = tl.load(FACTOR + head * T + rows, mask=inside, other=0.0)
                common = tl.load(COMMON + head * T + rows, mask=inside, other=0.0)
                beside = tl.load(BESIDE + head * T + rows, mask=inside, other=0.0)
                dot_v = tl.dot(slope, tl.trans(rows_of_value), input_precision="ieee")
                p, d_s = _slopes(s, dot_v, tau, factor, common, beside, RATE, E)
                d_k += tl.dot(tl.trans(d_s).to(q.dtype), q, input_precision="ieee")
                d_v += tl.dot(tl.trans(p).to(slope.dtype), slope, input_precision="ieee")
    _put(DK + stored * S * D, columns, S, d_k * (SCALE / RATE), D, BD)
    _put(DV + stored * S * W, columns, S, d_v, W, BW)
