"""Checkpoints written here with another library's writer are read back exactly and compute what their models do."""

import json
from pathlib import Path

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


def test_a_model_below_a_folder_is_named_and_that_of_a_package_is_read(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "weights_of_a_test"
    for name in ("small", "data/large"):
        (package / name).mkdir(parents=True)
        save_checkpoint(package / name, "llama", random_tensors("llama", np.random.default_rng(3)))
    monkeypatch.syspath_prepend(tmp_path)
    for path in (package, "package:weights_of_a_test"):
        with pytest.raises(ValueError, match=r"below which they lie in 'data/large', 'small'$"):
            checkpoints.load(path)
    (package / "small" / "model.safetensors").unlink()
    assert checkpoints.load("package:weights_of_a_test").kind == "llama"
    with pytest.raises(ValueError, match=r"below which they lie in 'data/large'$"):
        checkpoints.load(package)
    for name in ("no_package_of_any_kind", "json.tool", "a name"):
        with pytest.raises(ValueError, match=f"must name an installed package as it is imported, got '{name}'"):
            checkpoints.load(f"package:{name}")
