"""Language model of two mixing layers, whose mixer is chosen by name, and a hand-constructed head."""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float, Int

from hopfield.attention import attend
from hopfield.layers import AssociationOptions, HopfieldAttention, RecurrentMemory, RecurrentOptions

ASSOCIATIONS = {"softmax": "softmax", "entmax": "entmax:1.5", "softmax1": "softmax1", "hopfield": "softmax"}
"""Separations of the mixers that keep all keys."""
RULES: dict[str, tuple[Literal["outer", "delta"], bool]] = {
    "linear": ("outer", False),
    "gated_linear": ("outer", True),
    "delta": ("delta", False),
    "gated_delta": ("delta", True),
}
"""Rules of those that keep a matrix, and whether it fades."""
LAYERS = 2
CONVOLUTION = 4
"""Tokens that a recurrent layer mixes projections from."""
FIRST_DECAY = 0.9525741268224334
"""Decay at the start of layers whose memory fades, σ(3)."""


class Structure(NamedTuple):
    """Structure of a model: what its programs are compiled for."""

    mixer: str
    width: int
    length: int
    vocabulary: int
    update_steps: int
    dropout: float

    @property
    def state_bytes(self) -> int:
        """Bytes in single precision that all layers keep of a sequence to go on from its end."""
        # Beside its matrix a recurrent layer keeps queries, keys and values of the tokens that it convolves.
        kept = self.width + 3 * (CONVOLUTION - 1) if self.mixer in RULES else 2 * self.length
        return 4 * LAYERS * self.width * kept


class Model(nnx.Module):
    """Logits [B, K, V] at the queried places of sequences [B, L], from embeddings of tokens and of places."""

    def __init__(self, kind: Structure, rngs: nnx.Rngs) -> None:
        width = kind.width
        self.kind = kind
        self.tokens = nnx.Embed(kind.vocabulary, width, rngs=rngs)
        self.places = nnx.Param(0.02 * jax.random.normal(rngs.params(), (kind.length, width)))
        self.norms = nnx.List([nnx.LayerNorm(width, rngs=rngs) for _ in range(LAYERS + 1)])
        self.mixers = nnx.List([_mixer(kind, rngs) for _ in range(LAYERS)])
        self.read = nnx.Linear(width, kind.vocabulary, use_bias=False, rngs=rngs)

    def __call__(
        self, tokens: Int[Array, "B L"], asked: Int[Array, "B K"], keep: Float[Array, "B W"]
    ) -> Float[Array, "B K V"]:
        """Logits [B, K, V] at the places asked for; `keep` [B, W] multiplies the features: dropout, or ones."""
        x = (self.tokens(tokens) + self.places[...][None]) * keep[:, None]
        for norm, mixer in zip(self.norms, self.mixers, strict=False):
            seen = norm(x)
            x = x + (mixer(seen) if self.kind.mixer in RULES else mixer(seen, is_causal=True))
        x = jnp.take_along_axis(x, asked[..., None], axis=1)
        return self.read(self.norms[-1](x))


def _mixer(kind: Structure, rngs: nnx.Rngs) -> nnx.Module:
    if kind.mixer in RULES:
        rule, gated = RULES[kind.mixer]
        decays = FIRST_DECAY if gated else None
        options = RecurrentOptions(rule=rule, gated=gated, decays=decays, convolution=CONVOLUTION)
        return RecurrentMemory(1, kind.width, options=options, rngs=rngs)
    steps = {"update_steps": kind.update_steps, "learn_beta": True} if kind.mixer == "hopfield" else {}
    own = AssociationOptions(separation=ASSOCIATIONS[kind.mixer], **steps)
    return HopfieldAttention(1, kind.width, options=own, rngs=rngs)


def by_hand(tokens: Int[Array, "L"], asked: Int[Array, "K"], vocabulary: int) -> Int[Array, "K"]:
    """Answers of one untrained Hopfield head, which stores every token under the token before it.

    Patterns and queries are one-hot tokens. The score of a match is 1, less a little for every place, so that at a
    high β the first match is read: stored pairs stand first.
    """
    before, codes = tokens[:-1], jnp.eye(vocabulary)
    place = jnp.arange(len(before))
    key = jnp.concatenate([codes[before], -0.5 * place[:, None] / len(before)], axis=1)
    query = jnp.concatenate([codes[tokens[asked]], jnp.ones((len(asked), 1))], axis=1)
    read = attend(query, key, codes[tokens[1:]], beta=40.0 * len(before), mask=place[None, :] < asked[:, None])
    return jnp.argmax(read, axis=-1)


POWER = 0.01


class Recall(NamedTuple):
    """Sequences, the places of their queries, and the right answers."""

    tokens: Int[Array, "N L"]
    asked: Int[Array, "N K"]
    """Places of the asked keys, in the order of the pairs."""
    values: Int[Array, "N K"]


def draw_sequences(key: Array, count: int, length: int, pairs: int, vocabulary: int, filler: str) -> Recall:
    """`count` sequences of even `length` L ≥ 4K tokens. `filler`: zero, random or clean."""
    return jax.vmap(lambda k: _draw_sequence(k, length, pairs, vocabulary, filler))(jax.random.split(key, count))


def _draw_sequence(key: Array, length: int, pairs: int, vocabulary: int, filler: str) -> Recall:
    own, read, gap, noise = jax.random.split(key, 4)
    half, room = vocabulary // 2, (length - 2 * pairs) // 2
    keys = 1 + jax.random.permutation(own, half - 1)[:pairs]
    values = jax.random.randint(read, (pairs,), half, vocabulary)
    # Perturbed logarithms have the order of draws without replacement (Gumbel).
    log = (POWER - 1.0) * jnp.log(jnp.arange(1.0, room + 1.0))
    gaps = jax.lax.top_k(log + jax.random.gumbel(gap, (room,)), pairs)[1]
    asked = 2 * (pairs + jax.random.permutation(jax.random.fold_in(gap, 1), gaps))
    others = jax.random.randint(noise, (length,), 0, vocabulary)
    if filler == "zero":
        others = jnp.zeros_like(others)
    if filler == "clean":
        others = jnp.where((others[:, None] == keys[None, :]).any(axis=1), 0, others)
    tokens = others.at[: 2 * pairs].set(jnp.stack([keys, values], axis=1).ravel()).at[asked].set(keys)
    return Recall(tokens, asked, values)


def contradicted(recall: Recall, pairs: int) -> Array:
    """True at a stored pair contradicted before it is asked for, [N, K]."""

    def contradicted_pairs(tokens: Array, asked: Array, values: Array) -> Array:
        tokens, place, following = tokens[None, :], jnp.arange(len(tokens))[None, :], jnp.roll(tokens, -1)[None, :]
        again = (tokens == tokens[0, asked][:, None]) & (place >= 2 * pairs) & (place < asked[:, None])
        return (again & (following != values[:, None])).any(axis=1)

    return jax.vmap(contradicted_pairs)(*recall)
