"""Sources of patterns: the same rows however they are kept and in whatever blocks they are read."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.patterns import base, bits
from hopfield.patterns.sources import Generated, Mapped, Packed, Stored

KEY = jax.random.key(7)


@pytest.fixture
def sources(tmp_path):
    drawn = Generated(KEY, "spins", 1000, 45)
    rows = drawn.rows(0, 1000)
    np.save(tmp_path / "rows.npy", np.asarray(rows))
    return {"generated": drawn, "stored": Stored(rows), "packed": Packed(rows), "mapped": Mapped(tmp_path / "rows.npy")}


@pytest.mark.parametrize("name", ["generated", "stored", "packed", "mapped"])
def test_every_source_hands_out_the_same_rows_and_words(sources, name):
    whole = sources["stored"].array
    found = sources[name]
    assert found.shape == (1000, 45)
    np.testing.assert_array_equal(found.rows(123, 77), whole[123:200])
    np.testing.assert_array_equal(found.part(100, 50).rows(3, 7), whole[103:110])
    np.testing.assert_array_equal(found.part(100, 50).part(20, 9).rows(3, 6), whole[123:129])
    pieces = [np.asarray(part.rows(0, part.shape[0])) for _, part in found.parts(333)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    np.testing.assert_array_equal(found.part(100, 50).words(0, 50), bits.pack(whole[100:150]))


@pytest.mark.parametrize("name", ["generated", "stored", "packed", "mapped"])
def test_parts_end_where_a_key_ends(sources, monkeypatch, name):
    monkeypatch.setattr(base, "FEW", 300)
    found = list(sources[name].parts(200, 150, 700))
    assert [(first, part.shape[0]) for first, part in found] == [(150, 150), (300, 200), (500, 100), (600, 100)]
    assert [first for first, _ in sources[name].parts(400)] == [0, 300, 600, 900]
    if name != "generated":  # which takes another key at 300
        rows = np.concatenate([np.asarray(part.rows(0, part.shape[0])) for _, part in found])
        np.testing.assert_array_equal(rows, sources["stored"].array[150:700])
    with pytest.raises(ValueError, match="size must be an integer of at least 1, got 0"):
        next(sources[name].parts(0))


def test_bits_follow_the_spins():
    spins = np.where(np.random.default_rng(0).random((5, 70)) < 0.5, -1.0, 1.0)
    words = np.asarray(bits.pack(jnp.asarray(spins)))
    for row, spin in zip(words, spins, strict=True):
        assert all(((int(row[i // 32]) >> (i % 32)) & 1) == (spin[i] > 0) for i in range(70))
    np.testing.assert_array_equal(bits.unpack(words, 70), spins)
    found = bits.overlaps(words, words[:2], 70)
    np.testing.assert_array_equal(found, (spins @ spins[:2].T).T)


def test_rows_are_read_under_jit_with_a_traced_first():
    source = Generated(KEY, "spins", 64, 10)
    read = jax.jit(lambda source, first: source.rows(first, 4))
    np.testing.assert_array_equal(read(source, 11), source.rows(0, 64)[11:15])


def test_patterns_beyond_32_bits_continue_with_another_key():
    """Row 2³² + 5 is not row 5 again, and parts on both sides of the border are told apart."""
    source = Generated(KEY, "spins", 10**10, 64)
    low, high = source.part(5, 3), source.part(2**32 + 5, 3)
    assert not np.array_equal(low.rows(0, 3), high.rows(0, 3))
    np.testing.assert_array_equal(source.part(2**32 + 6, 2).rows(0, 2), high.rows(1, 2))
    with pytest.raises(ValueError, match="part by part"):
        source.rows(0, 5)
    with pytest.raises(ValueError, match="not cross a multiple of 2"):
        source.part(2**32 - 1, 2)
