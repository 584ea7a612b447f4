"""Triton kernels of attention whose weights are powers above a threshold, p = c [a s − τ]₊^e, one program for each.

`search` finds τ by Newton's method, passing over the keys in each step; `read` sums p v, and with u = ∂p/∂s also u v
and u; `queries_slope` and `keys_slope` form p and u again for dS = u (dO·v − m) − p n. No score leaves the chip. Blocks
of keys that may have weight stand in a list for each block of queries, LIST, of which the first COUNT[0] hold no masked
score and COUNT[1] are all: `search` writes those that reach above the lowest τ there can be.
"""

import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]

LOWEST = tl.constexpr(-1e30)
"""Start of the maximum; a masked score is below it."""


@triton.jit
def _positive(v):
    """[v]₊; not a number stays what it is."""
    return tl.maximum(v, 0.0, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _powers(v, E: tl.constexpr):
    """[v]₊^E, and [v]₊^(E − 1) for E ≥ 1."""
    if E == 0:
        power = tl.where(v > 0, 1.0, tl.where(v <= 0, 0.0, v))
        lower = power
    elif E == 1:
        power = _positive(v)
        lower = tl.where(v > 0, 1.0, 0.0)
    elif E == 2:
        lower = _positive(v)
        power = lower * lower
    else:
        power = _positive(v)
        lower = tl.where(v <= 0, 0.0, tl.exp2((E - 1) * tl.log2(tl.where(v <= 0, 1.0, v))))
        power = power * lower
    return power, lower


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
def _scores(
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
def _reach(
    first, length, LEFT: tl.constexpr, RIGHT: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, EDGE: tl.constexpr
):
    """Ends low ≤ mid ≤ high of the keys of BT queries from `first` on. Up to mid every query reads every key."""
    low = first * 0
    high = length
    if RIGHT >= 0:
        high = tl.minimum(length, first + BT + RIGHT)
    mid = high
    if EDGE:
        if LEFT >= 0:
            low = tl.maximum(first - LEFT, 0) // BS * BS
            mid = low
        else:
            if RIGHT >= 0:
                mid = tl.minimum(length, first + RIGHT + 1)
            mid = mid // BS * BS
    return low, mid, high


@triton.jit
def search(
    Q, K, LENGTH, TAU, LIST, COUNT,
    HEADS: tl.constexpr, GROUP: tl.constexpr, T: tl.constexpr, S: tl.constexpr, D: tl.constexpr, BD: tl.constexpr,
    BT: tl.constexpr, BS: tl.constexpr, SCALE: tl.constexpr, E: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr,
    EDGE: tl.constexpr, PRECISION: tl.constexpr, STEPS: tl.constexpr, GIVEN: tl.constexpr, REST: tl.constexpr,
):  # fmt: skip
    """τ with Σ [a s − τ]₊^E = 1, E ≥ 1, from the largest a s − 1 on; τ is GIVEN without STEPS.

    A step of Newton's method in the norm, which is convex, ends below τ. One in the logarithm goes further, mostly
    beyond τ, and is where the next sum is taken. The search rests where Newton's step is less than REST of the way.
    """
    head = tl.program_id(1)
    rows = tl.program_id(0) * BT + tl.arange(0, BT)
    q = _tile(Q + head * T * D, rows, T, D, BD)
    key = K + head // GROUP * S * D
    length = tl.load(LENGTH + head // HEADS)
    low, mid, high = _reach(tl.program_id(0) * BT, length, LEFT, RIGHT, BT, BS, EDGE)
    blocks = (S + BS - 1) // BS
    place = head * tl.num_programs(0) + tl.program_id(0)
    tau = tl.full([BT], GIVEN, tl.float32)
    if STEPS > 0:
        top = tl.full([BT], LOWEST, tl.float32)
        for PHASE in tl.static_range(2):
            for start in range(low if PHASE == 0 else mid, mid if PHASE == 0 else high, BS):
                columns = start + tl.arange(0, BS)
                k = _tile(key, columns, S, D, BD)
                s = _scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, PHASE == 1, PRECISION)
                top = tl.maximum(top, tl.max(s, 1))
        tau = top - 1.0
    low_end = tau
    size = tl.zeros([BT], tl.float32)
    slope = tl.zeros([BT], tl.float32)
    count = low * 0
    for PHASE in tl.static_range(2):
        for start in range(low if PHASE == 0 else mid, mid if PHASE == 0 else high, BS):
            columns = start + tl.arange(0, BS)
            k = _tile(key, columns, S, D, BD)
            s = _scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, PHASE == 1, PRECISION)
            v = s - tau[:, None]
            if STEPS > 0:
                power, lower = _powers(v, E)
                size += tl.sum(power, 1)
                slope += tl.sum(lower, 1)
            tl.store(LIST + place * blocks + count, start // BS)
            count += (tl.max(tl.max((v <= 0).to(tl.int32) ^ 1, 1), 0) > 0).to(tl.int32)
        tl.store(COUNT + place * 2 + PHASE, count)
        if PHASE == 0:
            plain = count
    if STEPS > 0:
        tl.debug_barrier()
        step = 1
        rises = 1
        while rises > 0:
            empty = slope == 0
            size = tl.where(empty, 1.0, size)
            slope = tl.where(empty, 1.0, slope)
            change = (size - tl.exp2((1.0 - 1.0 / E) * tl.log2(size))) / slope
            low_end = tl.maximum(low_end, tl.where(empty, low_end, tau + change), propagate_nan=tl.PropagateNan.ALL)
            away = empty | (tl.abs(change) > REST * (top - tau))
            further = tl.minimum(tau + size * tl.log(size) / (E * slope), 0.5 * (top + tau))
            tau = tl.maximum(low_end, tl.where(empty, 0.5 * (low_end + tau), further))
            tau = tl.where(away, tau, low_end)
            rises = tl.max((away & (top > LOWEST)).to(tl.int32), 0)
            if step >= STEPS:
                rises = 0
            if rises > 0:
                size = tl.zeros([BT], tl.float32)
                slope = tl.zeros([BT], tl.float32)
                for PHASE in tl.static_range(2):
                    for i in range(low * 0 if PHASE == 0 else plain, plain if PHASE == 0 else count):
                        columns = tl.load(LIST + place * blocks + i) * BS + tl.arange(0, BS)
                        k = _tile(key, columns, S, D, BD)
                        s = _scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, PHASE == 1, PRECISION)
                        power, lower = _powers(s - tau[:, None], E)
                        size += tl.sum(power, 1)
                        slope += tl.sum(lower, 1)
            step += 1
    tl.store(TAU + head * T + rows, low_end, mask=rows < T)


@triton.jit
def read(
    Q, K, V, LENGTH, TAU, LIST, COUNT, OUTPUT, FACTOR, MOMENT, MASS,
    HEADS: tl.constexpr, GROUP: tl.constexpr, T: tl.constexpr, S: tl.constexpr, D: tl.constexpr, BD: tl.constexpr,
    W: tl.constexpr, BW: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, SCALE: tl.constexpr, RATE: tl.constexpr,
    E: tl.constexpr, TOTAL: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, EDGE: tl.constexpr,
    PRECISION: tl.constexpr, SLOPES: tl.constexpr,
):  # fmt: skip
    """Σ p v with c = 1 / Σ [a s − τ]₊^TOTAL; if SLOPES, also Σ u v and Σ u, where u = c a E [a s − τ]₊^(E − 1)."""
    head = tl.program_id(1)
    rows = tl.program_id(0) * BT + tl.arange(0, BT)
    q = _tile(Q + head * T * D, rows, T, D, BD)
    key, value = K + head // GROUP * S * D, V + head // GROUP * S * W
    length = tl.load(LENGTH + head // HEADS)
    tau = tl.load(TAU + head * T + rows, mask=rows < T, other=0.0)
    place = head * tl.num_programs(0) + tl.program_id(0)
    blocks = (S + BS - 1) // BS
    plain = tl.load(COUNT + place * 2)
    every = tl.load(COUNT + place * 2 + 1)
    output = tl.zeros([BT, BW], tl.float32)
    moment = tl.zeros([BT, BW], tl.float32)
    total = tl.zeros([BT], tl.float32)
    mass = tl.zeros([BT], tl.float32)
    for PHASE in tl.static_range(2):
        for i in range(plain * 0 if PHASE == 0 else plain, plain if PHASE == 0 else every):
            columns = tl.load(LIST + place * blocks + i) * BS + tl.arange(0, BS)
            k = _tile(key, columns, S, D, BD)
            rows_of_value = _tile(value, columns, length, W, BW)
            s = _scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, PHASE == 1, PRECISION)
            v = s - tau[:, None]
            p, u = _powers(v, E)
            if TOTAL == E:
                total += tl.sum(p, 1)
            else:
                total += tl.sum(_powers(v, TOTAL)[0], 1)
            output += tl.dot(p.to(rows_of_value.dtype), rows_of_value, input_precision=PRECISION)
            if SLOPES and E > 0:
                mass += tl.sum(u, 1)
                moment += tl.dot(u.to(rows_of_value.dtype), rows_of_value, input_precision=PRECISION)
    factor = 1.0 / tl.where(total == 0, 1.0, total)
    _put(OUTPUT + head * T * W, rows, T, output * factor[:, None], W, BW)
    tl.store(FACTOR + head * T + rows, factor, mask=rows < T)
    if SLOPES:
        _put(MOMENT + head * T * W, rows, T, moment * (RATE * E * factor)[:, None], W, BW)
        tl.store(MASS + head * T + rows, mass * (RATE * E * factor), mask=rows < T)


@triton.jit
def _slopes(s, dot_v, tau, factor, common, beside, RATE: tl.constexpr, E: tl.constexpr, TILTED: tl.constexpr):
    """p and dS = u (dO·v − m) − p n of a block, zero in rows without weight."""
    power, lower = _powers(s - tau[:, None], E)
    p = factor[:, None] * power
    if E > 0:
        slope = ((RATE * E * factor)[:, None] * lower) * (dot_v - common[:, None])
        if TILTED:
            slope -= p * beside[:, None]
    else:
        slope = -p * beside[:, None]
    return p, slope


@triton.jit
def queries_slope(
    Q, K, V, LENGTH, TAU, LIST, COUNT, FACTOR, SLOPE, COMMON, BESIDE, DQ,
    HEADS: tl.constexpr, GROUP: tl.constexpr, T: tl.constexpr, S: tl.constexpr, D: tl.constexpr, BD: tl.constexpr,
    W: tl.constexpr, BW: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, SCALE: tl.constexpr, RATE: tl.constexpr,
    E: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, EDGE: tl.constexpr, PRECISION: tl.constexpr,
    TILTED: tl.constexpr,
):  # fmt: skip
    """Σ dS k of a block of queries, over the blocks of keys in LIST."""
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
    place = head * tl.num_programs(0) + tl.program_id(0)
    blocks = (S + BS - 1) // BS
    plain = tl.load(COUNT + place * 2)
    every = tl.load(COUNT + place * 2 + 1)
    d_q = tl.zeros([BT, BD], tl.float32)
    for PHASE in tl.static_range(2):
        for i in range(plain * 0 if PHASE == 0 else plain, plain if PHASE == 0 else every):
            columns = tl.load(LIST + place * blocks + i) * BS + tl.arange(0, BS)
            k = _tile(key, columns, S, D, BD)
            v = _tile(value, columns, length, W, BW)
            s = _scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, PHASE == 1, PRECISION)
            dot_v = tl.dot(slope, tl.trans(v), input_precision=PRECISION)
            _, d_s = _slopes(s, dot_v, tau, factor, common, beside, RATE, E, TILTED)
            d_q += tl.dot(d_s.to(k.dtype), k, input_precision=PRECISION)
    _put(DQ + head * T * D, rows, T, d_q * (SCALE / RATE), D, BD)


@triton.jit
def keys_slope(
    Q, K, V, LENGTH, TAU, LIST, COUNT, FACTOR, SLOPE, COMMON, BESIDE, DK, DV,
    HEADS: tl.constexpr, GROUP: tl.constexpr, T: tl.constexpr, S: tl.constexpr, D: tl.constexpr, BD: tl.constexpr,
    W: tl.constexpr, BW: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, SCALE: tl.constexpr, RATE: tl.constexpr,
    E: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, EDGE: tl.constexpr, PRECISION: tl.constexpr,
    TILTED: tl.constexpr,
):  # fmt: skip
    """Σ dS q and Σ p dO of a block of keys, over those blocks of queries of all heads that share it that LIST holds."""
    stored = tl.program_id(1)
    columns = tl.program_id(0) * BS + tl.arange(0, BS)
    length = tl.load(LENGTH + stored * GROUP // HEADS)
    k = _tile(K + stored * S * D, columns, S, D, BD)
    rows_of_value = _tile(V + stored * S * W, columns, length, W, BW)
    blocks = (T + BT - 1) // BT
    d_k = tl.zeros([BS, BD], tl.float32)
    d_v = tl.zeros([BS, BW], tl.float32)
    for head in range(stored * GROUP, stored * GROUP + GROUP):
        place = head * tl.num_programs(0) + tl.program_id(0)
        for i in range(0, tl.load(COUNT + place)):
            rows = tl.load(LIST + place * blocks + i) * BT + tl.arange(0, BT)
            inside = rows < T
            q = _tile(Q + head * T * D, rows, T, D, BD)
            slope = _tile(SLOPE + head * T * W, rows, T, W, BW)
            tau = tl.load(TAU + head * T + rows, mask=inside, other=0.0)
            factor = tl.load(FACTOR + head * T + rows, mask=inside, other=0.0)
            common = tl.load(COMMON + head * T + rows, mask=inside, other=0.0)
            beside = tl.load(BESIDE + head * T + rows, mask=inside, other=0.0)
            s = _scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, EDGE, PRECISION)
            dot_v = tl.dot(slope, tl.trans(rows_of_value), input_precision=PRECISION)
            p, d_s = _slopes(s, dot_v, tau, factor, common, beside, RATE, E, TILTED)
            d_k += tl.dot(tl.trans(d_s).to(q.dtype), q, input_precision=PRECISION)
            d_v += tl.dot(tl.trans(p).to(slope.dtype), slope, input_precision=PRECISION)
    _put(DK + stored * S * D, columns, S, d_k * (SCALE / RATE), D, BD)
    _put(DV + stored * S * W, columns, S, d_v, W, BW)
