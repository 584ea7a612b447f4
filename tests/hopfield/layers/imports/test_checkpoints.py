"""Checkpoints written here with another library's writer are read back exactly and compute what their models do."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors import numpy as safetensors

from hopfield.attention.heads import multi_head
from hopfield.layers.imports import checkpoints
from hopfield.layers.imports.layouts import LAYOUTS
from hopfield.layers.imports.transformers import from_attention_weights
from tests.hopfield.layers.imports.written import LAYERS, D, H, R, random_tensors, save_checkpoint


def attention(kind: str, t: dict[str, np.ndarray], layer: int, x: np.ndarray) -> np.ndarray:
    """Self-attention as the models define it, head by head in float64."""
    t = {name: np.asarray(v, float) for name, v in t.items()}
    if kind == "gpt2":
        stem = f"transformer.h.{layer}.attn."
        q, k, v = np.split(x @ t[stem + "c_attn.weight"] + t[stem + "c_attn.bias"], 3, axis=1)
        last = lambda y: y @ t[stem + "c_proj.weight"] + t[stem + "c_proj.bias"]
    elif kind == "bert":
        stem = f"bert.encoder.layer.{layer}.attention."
        q, k, v = (x @ t[f"{stem}self.{n}.weight"].T + t[f"{stem}self.{n}.bias"] for n in ("query", "key", "value"))
        last = lambda y: y @ t[stem + "output.dense.weight"].T + t[stem + "output.dense.bias"]
    else:
        stem = f"model.layers.{layer}.self_attn."
        q, k, v = (x @ t[f"{stem}{n}_proj.weight"].T for n in "qkv")
        last = lambda y: y @ t[stem + "o_proj.weight"].T
    read = []
    for h in range(H):
        own, shared = slice(h * R, (h + 1) * R), h * (k.shape[1] // R) // H
        other = slice(shared * R, (shared + 1) * R)
        p = np.exp(q[:, own] @ k[:, other].T / np.sqrt(R))
        read.append(p / p.sum(axis=1, keepdims=True) @ v[:, other])
    return last(np.concatenate(read, axis=1))


@pytest.mark.parametrize("kind", ["gpt2", "bert", "llama"])
def test_a_written_checkpoint_computes_its_models_attention(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    tensors = random_tensors(kind, rng)
    found = checkpoints.load(save_checkpoint(tmp_path, kind, tensors))
    assert (found.kind, len(found.layers), found.rotary) == (kind, LAYERS, kind == "llama")
    x = rng.normal(size=(5, D))
    for layer, weights in enumerate(found.layers):
        expected = attention(kind, tensors, layer, x)
        parts = multi_head(weights.projections(), jnp.asarray(x), beta=weights.beta)
        np.testing.assert_allclose(parts, expected, rtol=1e-10, atol=1e-10)
        made = from_attention_weights(weights, positions=False, param_dtype=jnp.float64)
        np.testing.assert_allclose(made(jnp.asarray(x)[None])[0], expected, rtol=1e-10, atol=1e-10)
        ones = np.concatenate([x, np.ones((5, 1))], axis=1) if kind != "llama" else x
        forms = np.asarray(weights.metric().dense(), float)
        query = np.einsum("td,hdr->htr", x, weights.w_query) + (
            0 if weights.b_query is None else weights.b_query[:, None]
        )
        key = np.einsum("td,hdr->htr", x, weights.w_key) + (0 if weights.b_key is None else weights.b_key[:, None])
        key = np.repeat(key, H // len(key), axis=0)
        np.testing.assert_allclose(ones @ forms @ ones.T, query @ key.swapaxes(1, 2), rtol=1e-4, atol=1e-4)


def stem_of(kind: str, layer: int) -> str:
    return LAYOUTS[kind].stem.replace(r"(?P<layer>\d+)", str(layer)).replace("\\", "")


def laid_out(kind: str, parts: list[np.ndarray]) -> np.ndarray:
    """Projections [outputs, D] of query, key and value side by side, as a kind has them."""
    if kind == "gpt_neox":
        parts = [x.reshape(H, R, D) for x in parts]
        return np.concatenate(parts, axis=1).reshape(-1, D)
    return np.concatenate(parts)


@pytest.mark.parametrize("kind", ["phi3", "gpt_neox", "gptj", "opt", "distilbert", "t5", "t5_decoder"])
def test_every_layout_reads_the_same_attention(kind: str, tmp_path: Path) -> None:
    layout, shared = LAYOUTS[kind], 2 if kind == "phi3" else H
    rng, tensors, wanted = np.random.default_rng(4), {}, []
    for layer in range(2):
        stem = stem_of(kind, layer)
        wanted.append([rng.normal(size=(n * R, D)).astype(np.float32) for n in (H, shared, shared)])
        output = rng.normal(size=(D, H * R)).astype(np.float32)
        written = [*wanted[-1], output] if layout.joint is None else [laid_out(kind, wanted[-1]), output]
        tensors |= {f"{stem}{name}.weight": x for name, x in zip(layout.names, written, strict=True)}
    table = rng.normal(size=(8, H)).astype(np.float32)
    if kind.startswith("t5"):
        tensors[stem_of(kind, 0) + "relative_attention_bias.weight"] = table
    place = save_checkpoint(tmp_path, kind, tensors)
    stated = {"model_type": layout.types[0], "num_key_value_heads": shared, "num_attention_heads": H, "rotary_dim": 2}
    (place / "config.json").write_text(json.dumps(stated))
    found = checkpoints.load(place)
    assert (found.kind, found.rotary, len(found.layers)) == (kind, layout.rotary, 2)
    for weights, expected in zip(found.layers, wanted, strict=True):
        for w, x in zip((weights.w_query, weights.w_key, weights.w_value), expected, strict=True):
            np.testing.assert_array_equal(np.concatenate(w.swapaxes(1, 2)), x)
        assert weights.beta == pytest.approx(1.0 if kind.startswith("t5") else R**-0.5)
        assert (weights.distances is not None) == kind.startswith("t5")
        if weights.distances is not None:
            assert weights.distances.bidirectional == (kind == "t5")
            np.testing.assert_array_equal(weights.distances.table, table)


def test_an_adapter_is_added_to_the_weights_it_names(tmp_path: Path) -> None:
    """W + α/r B A, α/√r if rank-stabilised, and an adapter of other parts is refused."""
    rng, tensors = np.random.default_rng(5), random_tensors("llama", np.random.default_rng(5))
    plain = checkpoints.load(save_checkpoint(tmp_path, "llama", tensors))
    folder, name = tmp_path / "adapter", "base_model.model.model.layers.1.self_attn.q_proj."
    folder.mkdir()
    down, up = rng.normal(size=(2, D)).astype(np.float32), rng.normal(size=(H * R, 2)).astype(np.float32)
    factors = {f"{name}lora_A.weight": down, f"{name}lora_B.weight": up}
    safetensors.save_file(factors, folder / "adapter_model.safetensors")
    for stabilised, scale in ((False, 3 / 2), (True, 3 / 2**0.5)):
        stated = {"peft_type": "LORA", "lora_alpha": 3, "use_rslora": stabilised}
        (folder / "adapter_config.json").write_text(json.dumps(stated))
        merged = checkpoints.load(tmp_path, adapter=folder)
        change = np.concatenate((merged.layers[1].w_query - plain.layers[1].w_query).swapaxes(1, 2))
        np.testing.assert_allclose(change, scale * up @ down, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(merged.layers[0].w_query, plain.layers[0].w_query)
    safetensors.save_file(factors | {f"{name}lora_magnitude_vector": up}, folder / "adapter_model.safetensors")
    with pytest.raises(ValueError, match=r"adapter must be low-rank factors .* alone, got .*magnitude"):
        checkpoints.load(tmp_path, adapter=folder)


def test_beta_of_gpt2_is_what_its_config_says_of_scores(tmp_path: Path) -> None:
    """1/√R unless scores are not scaled, and by the number of the layer where they are."""
    directory = save_checkpoint(tmp_path, "gpt2", random_tensors("gpt2", np.random.default_rng(2)))
    for options, expected in (
        ({}, [R**-0.5, R**-0.5]),
        ({"scale_attn_weights": False}, [1.0, 1.0]),
        ({"scale_attn_by_inverse_layer_idx": True}, [R**-0.5, R**-0.5 / 2]),
    ):
        (directory / "config.json").write_text(json.dumps({"n_head": H, **options}))
        assert [w.beta for w in checkpoints.load(directory).layers] == pytest.approx(expected)


def test_a_written_gpt2_checkpoint_round_trips(tmp_path: Path) -> None:
    tensors = random_tensors("gpt2", np.random.default_rng(2))
    for layer, w in enumerate(checkpoints.load(save_checkpoint(tmp_path, "gpt2", tensors)).layers):
        assert w.b_query is not None
        assert w.b_key is not None
        assert w.b_value is not None
        joint = np.concatenate([np.concatenate(list(x), axis=1) for x in (w.w_query, w.w_key, w.w_value)], axis=1)
        bias = np.concatenate([x.ravel() for x in (w.b_query, w.b_key, w.b_value)])
        stem = f"transformer.h.{layer}.attn."
        np.testing.assert_array_equal(joint, tensors[stem + "c_attn.weight"])
        np.testing.assert_array_equal(bias, tensors[stem + "c_attn.bias"])
        np.testing.assert_array_equal(w.w_output.reshape(D, D), tensors[stem + "c_proj.weight"])
        np.testing.assert_array_equal(w.b_output, tensors[stem + "c_proj.bias"])


def test_half_precision_is_widened_and_parts_in_several_files_are_joined(tmp_path: Path) -> None:
    tensors = random_tensors("llama", np.random.default_rng(3), jnp.bfloat16)
    names = list(tensors)
    place = {name: f"part-{number % 2}.safetensors" for number, name in enumerate(names)}
    for file in set(place.values()):
        safetensors.save_file({n: x for n, x in tensors.items() if place[n] == file}, tmp_path / file)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": place}))
    weights = checkpoints.load(tmp_path, heads=H).layers[1]
    assert weights.w_query.dtype == np.float32
    np.testing.assert_array_equal(
        weights.w_key[1], tensors["model.layers.1.self_attn.k_proj.weight"][R:].astype(np.float32).T
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: {"weird.0.weight": np.ones(2), "weird.1.weight": np.ones(2)}, r"got the tensors weird\.\*\.weight$"),
        (
            lambda t: {k: v for k, v in t.items() if "c_proj.weight" not in k},
            r"must have the tensor .*c_proj.weight, got",
        ),
        (lambda t: {k: v for k, v in t.items() if ".h.0." not in k}, "one attention in each layer"),
        (
            lambda t: t | {"transformer.h.0.attn.q_norm.weight": np.ones(3)},
            r"no more than its projections .*, got transformer\.h\.0\.attn\.q_norm",
        ),
        (lambda t: t | {"transformer.h.0.attn.c_attn.weight": np.ones((D, 7))}, "three projections side by side"),
        (lambda t: t | {"transformer.h.0.attn.c_attn.bias": np.ones((D, 3 * D))}, "must have 1 axes, got shape"),
        (lambda t: t | {"transformer.h.0.attn.c_proj.weight": np.ones((D + 1, D))}, "layer 0 must have query, key"),
    ],
)
def test_a_layout_that_does_not_fit_names_what_was_found(change, sentence: str, tmp_path: Path) -> None:
    tensors = change(random_tensors("gpt2", np.random.default_rng(4)))
    with pytest.raises(ValueError, match=sentence):
        checkpoints.load(save_checkpoint(tmp_path, "gpt2", tensors))


def test_heads_and_files_that_are_missing_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="directory with a safetensors file"):
        checkpoints.load(tmp_path)
    with pytest.raises(ValueError, match="existing safetensors file"):
        checkpoints.load(tmp_path / "none.safetensors")
    for content in (b"", b"not a checkpoint at all"):
        (tmp_path / "bad.safetensors").write_bytes(content)
        with pytest.raises(ValueError, match="must be a safetensors file"):
            checkpoints.load(tmp_path / "bad.safetensors")
    save_checkpoint(tmp_path, "gpt2", random_tensors("gpt2", np.random.default_rng(5)), heads=None)
    with pytest.raises(ValueError, match=r"heads must be a positive integer where no config.json"):
        checkpoints.load(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="heads must divide"):
        checkpoints.load(tmp_path / "model.safetensors", heads=5)
    save_checkpoint(tmp_path, "gpt2", random_tensors("gpt2", np.random.default_rng(5)))
    with pytest.raises(ValueError, match=r"heads must be the 4 of config.json, got 3"):
        checkpoints.load(tmp_path / "model.safetensors", heads=3)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t, w: t | {w: np.full((D, D), np.nan, np.float32)}, r"c_proj\.weight must be finite, got NaN"),
        (lambda t, w: t | {w: np.zeros((0, D), np.float32)}, r"c_proj\.weight must not be empty, got shape"),
        (lambda t, w: t | {w: np.ones((D, D), np.int8)}, r"c_proj\.weight must be floating-point .*, got int8"),
        (lambda t, w: t | {w: np.ones((D, D), bool)}, r"c_proj\.weight must be floating-point .*, got bool"),
        (lambda t, w: t | {"wpe.weight": np.ones((7, D + 1), np.float32)}, r"wpe\.weight must have the .. features"),
        (
            lambda t, w: t | {w.replace("weight", "bias"): np.ones(2 * D)},
            r"c_proj\.bias must have one entry per output",
        ),
    ],
    ids=["nan", "empty", "quantised", "bool", "positions", "bias"],
)
def test_weights_that_are_none_are_refused(change, sentence: str, tmp_path: Path) -> None:
    tensors = change(random_tensors("gpt2", np.random.default_rng(6)), "transformer.h.1.attn.c_proj.weight")
    with pytest.raises(ValueError, match=sentence):
        checkpoints.load(save_checkpoint(tmp_path, "gpt2", tensors))


ENTRY = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
HEADERS = {
    "negative shape": {"w": ENTRY | {"shape": [-1, 3]}},
    "fraction": {"w": ENTRY | {"shape": [2.0, 3]}},
    "truth": {"w": ENTRY | {"shape": [True, 6]}},
    "another size": {"w": ENTRY | {"shape": [2, 2]}},
    "beyond the file": {"w": ENTRY | {"shape": [2, 4], "data_offsets": [0, 32]}},
    "from the end": {"w": ENTRY | {"data_offsets": [-24, 24]}},
    "backwards": {"w": ENTRY | {"shape": [0], "data_offsets": [24, 0]}},
    "unknown type": {"w": ENTRY | {"dtype": "F128"}},
    "no type": {"w": {"shape": [2, 3], "data_offsets": [0, 24]}},
    "a list": [1, 2],
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_a_damaged_header_is_one_sentence(header, tmp_path: Path) -> None:
    head = json.dumps(header).encode()
    (tmp_path / "x.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + bytes(24))
    with pytest.raises(ValueError, match=r"^path must be a safetensors file with known number types, got"):
        checkpoints.read_tensors(tmp_path / "x.safetensors")


def test_a_header_as_it_should_be_is_read(tmp_path: Path) -> None:
    head = json.dumps({"w": ENTRY}).encode()
    (tmp_path / "x.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + bytes(24))
    np.testing.assert_array_equal(checkpoints.read_tensors(tmp_path / "x.safetensors")["w"], np.zeros((2, 3)))


def test_a_shard_that_is_not_there_is_called_missing(tmp_path: Path) -> None:
    (tmp_path / "i.json").write_text(json.dumps({"weight_map": {"w": "model-00002-of-00002.safetensors"}}))
    with pytest.raises(ValueError, match=r"'model-00002-of-00002\.safetensors' is missing"):
        checkpoints.read_tensors(tmp_path / "i.json")


@pytest.mark.parametrize(
    "content",
    [b"{", b"\xff\xfe", b"[]", b"{}", b'{"weight_map": {}}', b'{"weight_map": {"w": 3}}', b'{"weight_map": 1}']
    + [b'{"weight_map": {"w": "%s"}}' % name for name in (b"../x.safetensors", b"none.safetensors", b"i.json", b".")],
)
def test_a_damaged_index_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").write_bytes(b"")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "i.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"^path must be (a JSON file|an index)"):
        checkpoints.read_tensors(tmp_path / "inner" / "i.json")


def test_a_damaged_config_is_one_sentence(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, "gpt2", random_tensors("gpt2", np.random.default_rng(7)))
    for content in (b"{", b"[1]", b"\xff"):
        (tmp_path / "config.json").write_bytes(content)
        with pytest.raises(ValueError, match=r"^path must be a JSON file.*config\.json"):
            checkpoints.load(tmp_path)


def test_what_cannot_be_fetched_is_one_sentence(monkeypatch):
    def snapshot_download(*args, **options):
        raise OSError("no network\n\nCheck your connection.")

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=snapshot_download))
    said = r"^checkpoint must be one that can be fetched, got 'hf:a/b' \(OSError: no network Check your connection.\)$"
    with pytest.raises(ValueError, match=said):
        checkpoints.load("hf:a/b")


def test_numbers_of_heads_in_a_config_are_integers(tmp_path):
    safetensors.save_file({"h.0.attn.c_attn.weight": np.ones((4, 12), np.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"n_head": "2"}))
    with pytest.raises(ValueError, match=r"^n_head in config.json must be an integer of at least 1, got '2'$"):
        checkpoints.load(tmp_path)
