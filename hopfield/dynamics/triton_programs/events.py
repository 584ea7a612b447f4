"""Triton kernel of asynchronous dynamics on couplings: a program holds a query, and flips one neuron after the other.

State and fields of all neurons stay in registers. A flip reads one row of the couplings, numbers or packed bits, and
finds the next neuron by one minimum over the priorities of `hopfield.dynamics.asynchronous`, formed in place.
"""

import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]


@triton.jit
def _ones(x):
    """Number of bits of a word that are one."""
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    return (((x + (x >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24


@triton.jit
def _turned(x, y, BITS: tl.constexpr):
    """A round of Threefry."""
    x += y
    return x, ((y << BITS) | (y >> (32 - BITS))) ^ x


@triton.jit
def _folded(first, second, sweep):
    """Two random words of a sweep, the data of `jax.random.fold_in`: Threefry-2x32-20 (Salmon et al. 2011)."""
    third = first ^ second ^ tl.full([], 0x1BD11BDA, tl.uint32)
    x, y = first, sweep.to(tl.uint32) + second
    for ROUND in tl.static_range(5):
        x, y = _turned(x, y, 13 if ROUND % 2 == 0 else 17)
        x, y = _turned(x, y, 15 if ROUND % 2 == 0 else 29)
        x, y = _turned(x, y, 26 if ROUND % 2 == 0 else 16)
        x, y = _turned(x, y, 6 if ROUND % 2 == 0 else 24)
        x += second if ROUND % 3 == 0 else third if ROUND % 3 == 1 else first
        y += (third if ROUND % 3 == 0 else first if ROUND % 3 == 1 else second) + (ROUND + 1)
    return x, y


@triton.jit
def _priorities(at, first, second, sweep, LOW: tl.constexpr, RANDOM: tl.constexpr):
    """Distinct priorities of neurons in a sweep, as `asynchronous.priorities` has them."""
    priority = at
    if RANDOM:
        first, second = _folded(first, second, sweep)
        x = at.to(tl.uint32) ^ first
        x = (x ^ (x >> 16)) * tl.full([], 0x85EBCA6B, tl.uint32)
        x = (x ^ (x >> 13)) + second
        x = x * tl.full([], 0xC2B2AE35, tl.uint32)
        x = (x ^ (x >> 16)) >> 1
        priority = ((x >> LOW) << LOW).to(tl.int32) | at
    return priority


@triton.jit
def _row(MATRIX, patterns, i, at, N: tl.constexpr, WORDS: tl.constexpr):
    """Couplings of neuron i with all neurons."""
    if WORDS == 0:
        row = tl.load(MATRIX + i.to(tl.int64) * N + at, mask=at < N, other=0.0)
    else:
        apart = tl.zeros(at.shape, tl.uint32)
        for word in range(WORDS):
            words = MATRIX + word * N
            apart += _ones(tl.load(words + at, mask=at < N, other=0) ^ tl.load(words + i))
        row = tl.where(at == i, 0.0, patterns - (2 * apart.to(tl.int32)).to(tl.float32))
    return row


@triton.jit
def settle(
    MATRIX, PATTERNS, STATE, FIELD, FREE, KEY, LIMIT, END, LAST, COUNT, N: tl.constexpr, BN: tl.constexpr,
    EACH: tl.constexpr, LOW: tl.constexpr, RANDOM: tl.constexpr, WORDS: tl.constexpr, SIZE: tl.constexpr,
):  # fmt: skip
    """END, LAST: state and fields [B, N] where nothing is left to flip; COUNT [B, 2]: sweeps and flips.

    EACH queries after each other share one of the MATRIX, of SIZE entries: bits in WORDS of each neuron, or numbers if
    WORDS is 0. KEY [B, 2] are random words of each query, LIMIT [B] its sweeps at most.
    """
    query = tl.program_id(0)
    at = tl.arange(0, BN)
    place = query.to(tl.int64) * N + at
    matrix = MATRIX + (query // EACH).to(tl.int64) * SIZE
    patterns = tl.load(PATTERNS + query // EACH)
    spin = tl.load(STATE + place, mask=at < N, other=1.0)
    field = tl.load(FIELD + place, mask=at < N, other=1.0)
    free = tl.load(FREE + place, mask=at < N, other=0) != 0
    first, second, limit = tl.load(KEY + 2 * query), tl.load(KEY + 2 * query + 1), tl.load(LIMIT + query)
    sweeps = query * 0
    flips = sweeps
    waiting = free & (((field > 0) & (spin != 1)) | ((field < 0) & (spin != -1)))
    left = tl.max(waiting.to(tl.int32), 0)
    while (left > 0) & (sweeps < limit):
        priority = _priorities(at, first, second, sweeps, LOW, RANDOM)
        ahead = tl.min(tl.where(waiting, priority, 2147483647), 0)
        while ahead != 2147483647:
            i = ahead & ((1 << LOW) - 1)
            here = at == i
            old = tl.sum(tl.where(here, spin, 0.0), 0)
            new = tl.where(tl.sum(tl.where(here, field, 0.0), 0) > 0, 1.0, -1.0)
            field += (new - old) * _row(matrix, patterns, i, at, N, WORDS)
            spin = tl.where(here, new, spin)
            flips += 1
            waiting = free & (((field > 0) & (spin != 1)) | ((field < 0) & (spin != -1)))
            ahead = tl.min(tl.where(waiting & (priority > ahead), priority, 2147483647), 0)
        sweeps += 1
        left = tl.max(waiting.to(tl.int32), 0)
    tl.store(END + place, spin, mask=at < N)
    tl.store(LAST + place, field, mask=at < N)
    tl.store(COUNT + 2 * query, sweeps)
    tl.store(COUNT + 2 * query + 1, flips)
