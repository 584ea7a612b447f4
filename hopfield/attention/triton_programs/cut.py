"""Triton kernels of attention whose weights are powers above a threshold, p = c [a s − τ]₊^e, one program for each.

`search` finds τ by Newton's method, passing over the keys in each step; `read` sums p v, and with u = ∂p/∂s also u v
and u; `queries_slope` and `keys_slope` form p and u again for dS = u (dO·v − m) − p n. No score leaves the chip. For
each block of queries LIST names the blocks of keys that may have weight: COUNT[0] blocks without a masked score first,
COUNT[1] in all. `search` writes the blocks that reach above the lowest possible τ.
"""

import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]

from hopfield.attention.triton_programs.scores import LOWEST, of_rows, powers, put, reach, scores, tile


@triton.jit
def _top(
    q, key, rows, low, mid, high, length, S: tl.constexpr, D: tl.constexpr, BD: tl.constexpr, BT: tl.constexpr,
    BS: tl.constexpr, SCALE: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Largest score of each row."""
    top = tl.full([BT], LOWEST, tl.float32)
    for PHASE in tl.static_range(2):
        for i in range(low if PHASE == 0 else mid, mid if PHASE == 0 else high):
            columns = i * BS + tl.arange(0, BS)
            k = tile(key, columns, S, D, BD)
            s = scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, PHASE == 1, PRECISION)
            top = tl.maximum(top, tl.max(s, 1))
    return top


@triton.jit
def _sums(
    q, key, rows, listed, low, mid, high, length, tau, LISTED: tl.constexpr, S: tl.constexpr, D: tl.constexpr,
    BD: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr, SCALE: tl.constexpr, E: tl.constexpr, LEFT: tl.constexpr,
    RIGHT: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Σ [a s − τ]₊^E and Σ [a s − τ]₊^(E − 1) of each row, over blocks from low to high, from mid on masked.

    They are LISTED, or else all and those that reach above τ are listed: those before mid, and all.
    """
    size = tl.zeros([BT], tl.float32)
    slope = tl.zeros([BT], tl.float32)
    count = low * 0
    plain = count
    for PHASE in tl.static_range(2):
        for i in range(low if PHASE == 0 else mid, mid if PHASE == 0 else high):
            block = tl.load(listed + i) if LISTED else i
            columns = block * BS + tl.arange(0, BS)
            k = tile(key, columns, S, D, BD)
            v = scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, PHASE == 1, PRECISION) - tau[:, None]
            power, lower = powers(v, E)
            size += tl.sum(power, 1)
            slope += tl.sum(lower, 1)
            if not LISTED:
                tl.store(listed + count, block)
                count += (tl.max(tl.max((v <= 0).to(tl.int32) ^ 1, 1), 0) > 0).to(tl.int32)
        if PHASE == 0:
            plain = count
    return size, slope, plain, count


@triton.jit
def _step(tau, below, top, size, slope, E: tl.constexpr, REST: tl.constexpr):
    """Next τ, the highest one that is known to lie below the threshold, and whether any row goes on.

    A step of Newton's method in the norm, which is convex, ends below the threshold. One in the logarithm goes further,
    mostly beyond it. A row rests where Newton's step is less than REST of the way to the largest score.
    """
    empty = slope == 0
    size = tl.where(empty, 1.0, size)
    slope = tl.where(empty, 1.0, slope)
    change = (size - tl.exp2((1.0 - 1.0 / E) * tl.log2(size))) / slope
    below = tl.maximum(below, tl.where(empty, below, tau + change), propagate_nan=tl.PropagateNan.ALL)
    away = empty | (tl.abs(change) > REST * (top - tau))
    further = tl.minimum(tau + size * tl.log(size) / (E * slope), 0.5 * (top + tau))
    further = tl.maximum(below, tl.where(empty, 0.5 * (below + tau), further))
    return tl.where(away, further, below), below, tl.max((away & (top > LOWEST)).to(tl.int32), 0)


@triton.jit
def search(
    Q, K, LENGTH, TAU, LIST, COUNT,
    HEADS: tl.constexpr, GROUP: tl.constexpr, T: tl.constexpr, S: tl.constexpr, D: tl.constexpr, BD: tl.constexpr,
    BT: tl.constexpr, BS: tl.constexpr, SCALE: tl.constexpr, E: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr,
    EDGE: tl.constexpr, PRECISION: tl.constexpr, STEPS: tl.constexpr, GIVEN: tl.constexpr, REST: tl.constexpr,
):  # fmt: skip
    """τ with Σ [a s − τ]₊^E = 1, E ≥ 1, in STEPS from the largest a s − 1 on, or GIVEN; and LIST above the first."""
    head = tl.program_id(1)
    rows = tl.program_id(0) * BT + tl.arange(0, BT)
    q = tile(Q + head * T * D, rows, T, D, BD)
    key = K + head // GROUP * S * D
    length = tl.load(LENGTH + head // HEADS)
    low, mid, high = reach(tl.program_id(0) * BT, length, LEFT, RIGHT, BT, BS, EDGE)
    place = head * tl.num_programs(0) + tl.program_id(0)
    listed = LIST + place * ((S + BS - 1) // BS)
    tau = tl.full([BT], GIVEN, tl.float32)
    if STEPS > 0:
        top = _top(q, key, rows, low, mid, high, length, S, D, BD, BT, BS, SCALE, LEFT, RIGHT, PRECISION)
        tau = top - 1.0
    below = tau
    size, slope, plain, count = _sums(
        q, key, rows, listed, low, mid, high, length, tau, False, S, D, BD, BT, BS, SCALE, E, LEFT, RIGHT, PRECISION
    )
    tl.store(COUNT + place * 2, plain)
    tl.store(COUNT + place * 2 + 1, count)
    if STEPS > 0:
        tl.debug_barrier()
        tau, below, rises = _step(tau, below, top, size, slope, E, REST)
        step = 1
        while (rises > 0) & (step < STEPS):
            size, slope, _, _ = _sums(
                q, key, rows, listed, low * 0, plain, count, length, tau, True, S, D, BD, BT, BS, SCALE, E, LEFT, RIGHT,
                PRECISION,
            )  # fmt: skip
            tau, below, rises = _step(tau, below, top, size, slope, E, REST)
            step += 1
    tl.store(TAU + head * T + rows, below, mask=rows < T)


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
    q = tile(Q + head * T * D, rows, T, D, BD)
    key, value = K + head // GROUP * S * D, V + head // GROUP * S * W
    length = tl.load(LENGTH + head // HEADS)
    tau = tl.load(TAU + head * T + rows, mask=rows < T, other=0.0)
    place = head * tl.num_programs(0) + tl.program_id(0)
    blocks = (S + BS - 1) // BS
    plain, every = tl.load(COUNT + place * 2), tl.load(COUNT + place * 2 + 1)
    output, moment = tl.zeros([BT, BW], tl.float32), tl.zeros([BT, BW], tl.float32)
    total, mass = tl.zeros([BT], tl.float32), tl.zeros([BT], tl.float32)
    for PHASE in tl.static_range(2):
        for i in range(plain * 0 if PHASE == 0 else plain, plain if PHASE == 0 else every):
            columns = tl.load(LIST + place * blocks + i) * BS + tl.arange(0, BS)
            k = tile(key, columns, S, D, BD)
            rows_of_value = tile(value, columns, length, W, BW)
            s = scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, PHASE == 1, PRECISION)
            v = s - tau[:, None]
            p, u = powers(v, E)
            if TOTAL == E:
                total += tl.sum(p, 1)
            else:
                total += tl.sum(powers(v, TOTAL)[0], 1)
            output += tl.dot(p.to(rows_of_value.dtype), rows_of_value, input_precision=PRECISION)
            if SLOPES and E > 0:
                mass += tl.sum(u, 1)
                moment += tl.dot(u.to(rows_of_value.dtype), rows_of_value, input_precision=PRECISION)
    factor = 1.0 / tl.where(total == 0, 1.0, total)
    put(OUTPUT + head * T * W, rows, T, output * factor[:, None], W, BW)
    tl.store(FACTOR + head * T + rows, factor, mask=rows < T)
    if SLOPES:
        put(MOMENT + head * T * W, rows, T, moment * (RATE * E * factor)[:, None], W, BW)
        tl.store(MASS + head * T + rows, mass * (RATE * E * factor), mask=rows < T)


@triton.jit
def _slopes(s, dot_v, tau, factor, common, beside, RATE: tl.constexpr, E: tl.constexpr, TILTED: tl.constexpr):
    """p and dS = u (dO·v − m) − p n of a block, zero in rows without weight."""
    power, lower = powers(s - tau[:, None], E)
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
    q = tile(Q + head * T * D, rows, T, D, BD)
    slope = tile(SLOPE + head * T * W, rows, T, W, BW)
    key, value = K + head // GROUP * S * D, V + head // GROUP * S * W
    length = tl.load(LENGTH + head // HEADS)
    tau, factor, common, beside = of_rows(TAU, FACTOR, COMMON, BESIDE, head * T + rows, rows < T)
    place = head * tl.num_programs(0) + tl.program_id(0)
    blocks = (S + BS - 1) // BS
    plain = tl.load(COUNT + place * 2)
    every = tl.load(COUNT + place * 2 + 1)
    d_q = tl.zeros([BT, BD], tl.float32)
    for PHASE in tl.static_range(2):
        for i in range(plain * 0 if PHASE == 0 else plain, plain if PHASE == 0 else every):
            columns = tl.load(LIST + place * blocks + i) * BS + tl.arange(0, BS)
            k = tile(key, columns, S, D, BD)
            v = tile(value, columns, length, W, BW)
            s = scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, PHASE == 1, PRECISION)
            dot_v = tl.dot(slope, tl.trans(v), input_precision=PRECISION)
            _, d_s = _slopes(s, dot_v, tau, factor, common, beside, RATE, E, TILTED)
            d_q += tl.dot(d_s.to(k.dtype), k, input_precision=PRECISION)
    put(DQ + head * T * D, rows, T, d_q * (SCALE / RATE), D, BD)


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
    k = tile(K + stored * S * D, columns, S, D, BD)
    rows_of_value = tile(V + stored * S * W, columns, length, W, BW)
    blocks = (T + BT - 1) // BT
    d_k = tl.zeros([BS, BD], tl.float32)
    d_v = tl.zeros([BS, BW], tl.float32)
    for head in range(stored * GROUP, stored * GROUP + GROUP):
        place = head * tl.num_programs(0) + tl.program_id(0)
        for i in range(0, tl.load(COUNT + place)):
            rows = tl.load(LIST + place * blocks + i) * BT + tl.arange(0, BT)
            q = tile(Q + head * T * D, rows, T, D, BD)
            slope = tile(SLOPE + head * T * W, rows, T, W, BW)
            tau, factor, common, beside = of_rows(TAU, FACTOR, COMMON, BESIDE, head * T + rows, rows < T)
            s = scores(q, k, rows, columns, length, SCALE, LEFT, RIGHT, EDGE, PRECISION)
            dot_v = tl.dot(slope, tl.trans(rows_of_value), input_precision=PRECISION)
            p, d_s = _slopes(s, dot_v, tau, factor, common, beside, RATE, E, TILTED)
            d_k += tl.dot(tl.trans(d_s).to(q.dtype), q, input_precision=PRECISION)
            d_v += tl.dot(tl.trans(p).to(slope.dtype), slope, input_precision=PRECISION)
    put(DK + stored * S * D, columns, S, d_k * (SCALE / RATE), D, BD)
    put(DV + stored * S * W, columns, S, d_v, W, BW)
