"""Layers of checkpoints equal `transformers`', positions and cached decoding included."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.layers import from_attention_weights
from hopfield.layers.imports import checkpoints
from hopfield.layers.imports.layouts import LAYOUTS
from hopfield.layers.imports.readings import beta_of, reading_of
from hopfield.layers.imports.rotations import rope_of_layer, rotary_of
from hopfield.layers.imports.variants import completed, first_position

torch = pytest.importorskip("torch", reason="the peers extra brings PyTorch")
transformers = pytest.importorskip("transformers", reason="the peers extra brings transformers")

TOKENS = np.random.default_rng(0).integers(0, 50, size=(2, 9))
LLAMA = {"hidden_size": 32, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
LLAMA |= {"vocab_size": 50, "max_position_embeddings": 64}
LONG = {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}
NEW = {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
NEW |= {"original_max_position_embeddings": 16}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 16}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}
NEAR = {"d_model": 32, "d_kv": 6, "d_ff": 16, "num_layers": 2, "num_heads": 4, "vocab_size": 50}
NEAR |= {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 6}
GLM = {"use_qk_norm": True, "n_routed_experts": 2, "num_experts_per_tok": 1, "n_group": 1, "topk_group": 1}
GLM |= {"moe_intermediate_size": 8, "first_k_dense_replace": 2, "head_dim": 16, "num_key_value_heads": 2}
CAP = {"attn_logit_softcapping": 2.0, "query_pre_attn_scalar": 9}
EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1, "rope_parameters": YARN | {"truncate": False}}
SMALL = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 50}
GEMMA = {"num_key_value_heads": 2, "head_dim": 16, "sliding_window": 3, "query_pre_attn_scalar": 9}
TURNS = {"sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}
TURNS |= {"full_attention": {"rope_type": "linear", "rope_theta": 1e3, "factor": 2.0}}
KINDS = {"layer_types": ["sliding_attention", "full_attention"], "rope_parameters": TURNS}
PART = {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}}
IMAGE = {"image_size": 8, "patch_size": 4}
TURNS_OF = ["sliding_attention", "full_attention"]
MOSAIC = {"d_model": 32, "n_layers": 2, "n_heads": 4, "vocab_size": 50, "max_seq_len": 64}
FACTORS = {"short_factor": [1.0, 2.0, 3.0, 4.0], "long_factor": [2.0, 5.0, 7.0, 11.0]}
STRETCHED = {"pad_token_id": 0, "rope_parameters": {"rope_type": "longrope", "rope_theta": 1e4} | FACTORS}
HALF = {"short_factor": [1.0, 2.0], "long_factor": [2.0, 5.0], "partial_rotary_factor": 0.5}
HALVED = {"pad_token_id": 0, "rope_parameters": {"rope_type": "longrope", "rope_theta": 1e4} | HALF}
MODELS = {
    "gpt2": ("GPT2", SMALL),
    "gpt-j": ("GPTJ", SMALL | {"rotary_dim": 4}),
    "gpt-neox": ("GPTNeoX", LLAMA | PART),
    "phi-3": ("Phi3", LLAMA | {"num_key_value_heads": 2, "sliding_window": 3, "pad_token_id": 0}),
    "gemma 3": ("Gemma3Text", LLAMA | GEMMA | KINDS),
    "opt": ("OPT", LLAMA | {"word_embed_proj_dim": 32, "ffn_dim": 16}),
    "distilbert": ("DistilBert", {"dim": 32, "hidden_dim": 16, "n_layers": 2, "n_heads": 4, "vocab_size": 50}),
    "t5": ("T5", NEAR),
    "t5_decoder": ("T5", NEAR),
    "t5_cross": ("T5", NEAR),
    "vit": ("ViT", LLAMA | IMAGE),
    "deit": ("DeiT", LLAMA | IMAGE),
    "clip_text": ("CLIP", {"text_config": LLAMA, "vision_config": LLAMA | IMAGE}),
    "clip_vision": ("CLIP", {"text_config": LLAMA, "vision_config": LLAMA | IMAGE}),
    "clip, text alone": ("CLIPText", LLAMA),
    "clip, images alone": ("CLIPVision", LLAMA | IMAGE),
    "bloom": ("Bloom", {"hidden_size": 32, "n_layer": 2, "n_head": 4, "vocab_size": 50}),
    "bloom, three heads": ("Bloom", {"hidden_size": 24, "n_layer": 2, "n_head": 3, "vocab_size": 50}),
    "mpt": ("Mpt", MOSAIC),
    "mpt, scale": ("Mpt", MOSAIC | {"attn_config": {"softmax_scale": 0.3}}),
    "cohere": ("Cohere", LLAMA | {"num_key_value_heads": 2}),
    "cohere, norms": ("Cohere", LLAMA | {"num_key_value_heads": 2, "use_qk_norm": True}),
    "cohere 2": ("Cohere2", LLAMA | {"num_key_value_heads": 2, "sliding_window": 3} | {"layer_types": TURNS_OF}),
    "granite": ("Granite", LLAMA | {"num_key_value_heads": 2, "attention_multiplier": 0.2}),
    "smollm 3": ("SmolLM3", LLAMA | {"num_key_value_heads": 2, "no_rope_layer_interval": 2, "pad_token_id": 0}),
    "olmo 3": ("Olmo3", LLAMA | {"num_key_value_heads": 2, "sliding_window": 3} | KINDS),
    "phi-3, beyond": ("Phi3", LLAMA | STRETCHED | {"original_max_position_embeddings": 6}),
    "phi-3, within": ("Phi3", LLAMA | STRETCHED | {"original_max_position_embeddings": 16}),
    "phi-3, in part": ("Phi3", LLAMA | HALVED | {"original_max_position_embeddings": 16}),
    "llama, dynamic scaling": ("Llama", LLAMA | {"max_position_embeddings": 6, "rope_parameters": DYNAMIC}),
    "llama": ("Llama", LLAMA),
    "llama, grouped": ("Llama", LLAMA | {"num_key_value_heads": 2, "head_dim": 16}),
    "llama, linear scaling": ("Llama", LLAMA | {"rope_parameters": LONG}),
    "mistral": ("Mistral", LLAMA | {"num_key_value_heads": 2, "sliding_window": 3}),
    "qwen 3": ("Qwen3", LLAMA | {"num_key_value_heads": 2, "head_dim": 16}),
    "olmo 2": ("Olmo2", LLAMA | {"num_key_value_heads": 2}),
    "glm 4.5": ("Glm4Moe", LLAMA | GLM),
    "gemma 2": ("Gemma2", LLAMA | {"num_key_value_heads": 2, "head_dim": 16, "sliding_window": 3} | CAP),
    "gpt-oss": ("GptOss", LLAMA | {"num_key_value_heads": 2, "head_dim": 16, "sliding_window": 3} | EXPERTS),
    "yarn": ("Llama", LLAMA | {"rope_parameters": YARN}),
    "llama 3": ("Llama", LLAMA | {"num_key_value_heads": 1, "rope_parameters": NEW}),
}


CLOSE = {"gpt-oss": 1e-5}


def built(name: str, folder: Path):
    """A model of random weights in double precision, none of them zero, and the same as it was saved."""
    kind, settings = MODELS[name]
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**settings, attn_implementation="eager")
    model = getattr(transformers, f"{kind}Model")(config).eval()
    model = model if name == "gpt-oss" else model.double()  # whose experts know no double precision
    for parameter in model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    return model, checkpoints.load(folder, kind=name if "_" in name else None)


def watched(model, name: str) -> list[list[tuple[list[np.ndarray], np.ndarray]]]:
    """Inputs and outputs of the attention of each layer, call by call; filled while the model runs."""
    side = {"t5": "encoder", "t5_decoder": "decoder", "clip_text": "text", "clip_vision": "vision"}.get(name, "")
    last = ("attn", "self_attn", "attention", "SelfAttention", "self_attention")
    last = ("EncDecAttention",) if name == "t5_cross" else last
    layers = [x for path, x in model.named_modules() if path.startswith(side) and path.split(".")[-1] in last]
    seen: list[list[tuple[list[np.ndarray], np.ndarray]]] = [[] for _ in layers]

    def keep(calls):
        def hook(module, args, kwargs, output):
            x = args[0] if args else kwargs["hidden_states"]
            rest = args[1] if name.startswith("bloom") else 0  # BLOOM's attention adds the residual itself
            stored = kwargs.get("key_value_states")
            inputs = [y.numpy() for y in (x, stored) if y is not None]
            calls.append((inputs, (output[0] - rest).numpy()))

        return hook

    for layer, calls in zip(layers, seen, strict=True):
        layer.register_forward_hook(keep(calls), with_kwargs=True)
    return seen


def said(model, name: str, tokens: np.ndarray, **how):
    """The model's output for tokens, or for pictures; of T5's decoder, beside the encoder's."""
    given = how if name in DECODED or "past_key_values" in how else {}
    shape = (2, 3, 8, 8)
    pictures = torch.tensor(np.random.default_rng(1).normal(size=shape))
    if name.startswith("clip_"):
        return model(torch.tensor(tokens), pictures)
    if name in SEEING:
        return model(pictures)
    if not name.startswith("t5"):
        return model(torch.tensor(tokens), **given)
    return model(torch.tensor(TOKENS), decoder_input_ids=torch.tensor(tokens), **given)


@pytest.mark.parametrize("name", MODELS)
def test_layers_are_those_of_transformers(name, tmp_path):
    model, checkpoint = built(name, tmp_path)
    seen = watched(model, name)
    with torch.no_grad():
        said(model, name, TOKENS, use_cache=False)
    assert len(seen) == 2
    for weights, ((inputs, expected),) in zip(checkpoint.layers, seen, strict=True):
        layer = from_attention_weights(weights, param_dtype=jnp.float64)
        found = layer(*map(jnp.asarray, inputs), is_causal=name not in ("distilbert", "t5", "t5_cross", *SEEING))
        np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE.get(name, 1e-6) * np.abs(expected).max())


SEEING = ("vit", "deit", "clip_vision", "clip, images alone")
DECODED = ("gpt2", "llama, grouped", "llama 3", "mistral", "olmo 2", "gpt-oss", "gpt-j", "gpt-neox", "phi-3", "gemma 3")
DECODED += ("bloom", "bloom, three heads", "mpt", "cohere, norms", "cohere 2", "granite", "smollm 3", "olmo 3")
DECODED += ("phi-3, within", "phi-3, in part")


@pytest.mark.filterwarnings("ignore:.past_key_values. is deprecated:FutureWarning")
@pytest.mark.parametrize("name", [*DECODED, "opt", "t5_decoder"])
def test_cached_decoding_is_that_of_transformers(name, tmp_path):
    model, checkpoint = built(name, tmp_path)
    seen = watched(model, name)
    cache = None
    with torch.no_grad():
        for place in range(TOKENS.shape[1]):
            found = said(model, name, TOKENS[:, place : place + 1], past_key_values=cache, use_cache=True)
            cache = found.past_key_values
    decode = nnx.jit(lambda layer, x: layer(x))
    for weights, calls in zip(checkpoint.layers, seen, strict=True):
        layer = from_attention_weights(weights, decode=True, param_dtype=jnp.float64)
        layer.init_cache((2, 9, weights.w_query.shape[1]), jnp.float64)
        for (x,), expected in calls:
            found = decode(layer, jnp.asarray(x))
            np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE.get(name, 1e-6) * np.abs(expected).max())


def test_learned_positions_are_added_to_the_tokens(tmp_path):
    model, checkpoint = built("gpt2", tmp_path)
    tokens = model.wte(torch.tensor(TOKENS)).detach().numpy()
    encoding = checkpoint.encoding()
    assert encoding is not None
    found = encoding.add_to_inputs(jnp.asarray(tokens), jnp.arange(9))
    first: list[np.ndarray] = []
    model.h[0].register_forward_pre_hook(lambda module, args: first.append(args[0].detach().numpy()))
    model(torch.tensor(TOKENS))
    np.testing.assert_allclose(found, first[0], atol=1e-6)


SLID = {"use_sliding_window": True, "sliding_window": 7, "max_window_layers": 2}
FAMILIES = [(kind, model) for kind, layout in LAYOUTS.items() for model in layout.types if "_" not in kind]


def as_read(kind: str, config: dict, layer: int) -> tuple:
    """All that a config.json decides of a layer of heads of width 64 without norms."""
    rope = rope_of_layer(config, layer) if LAYOUTS[kind].rotary else None
    places = (
        first_position(config, "embeddings.position_embeddings.weight"),
        config.get("relative_attention_max_distance", 128),
    )
    beta = beta_of(kind, config, layer, 64)
    if not LAYOUTS[kind].rotary:
        return places, beta
    reading, rotary = reading_of(config, {}, "", layer), None if rope is None else rotary_of(rope, 64)
    turns = None if rotary is None else (tuple(rotary.rates.tolist()), rotary.pairing, rotary.scale)
    return places, beta, turns, reading.window, reading.cap, reading.epsilon


@pytest.mark.parametrize(("kind", "model"), FAMILIES)
def test_defaults_of_every_family_are_those_of_its_configuration_class(kind, model):
    """Options that config.json leaves out, and windows switched on, as in the class and in its layers' types."""
    family = transformers.CONFIG_MAPPING[model]
    known = family().to_dict()
    switches = [{}, {"num_hidden_layers": 30}] + [{"sliding_window": 7}] * ("sliding_window" in known)
    if "use_sliding_window" in known:
        switches += [{"use_sliding_window": True}, {"use_sliding_window": True, "num_hidden_layers": 30}, SLID]
    for given in switches:
        full = family(**given).to_dict()
        layers = range(family(**given).num_hidden_layers)
        kinds = full.get("layer_types") or ["sliding_attention"] * len(layers)
        for layer in (*layers[:4], layers[-1]):
            found = as_read(kind, completed({"model_type": model, **given}), layer)
            assert found == as_read(kind, completed(full), layer)
            if LAYOUTS[kind].rotary:
                slid = full.get("sliding_window") if kinds[layer] == "sliding_attention" else None
                epsilon = full.get("layer_norm_eps" if model == "cohere" else "rms_norm_eps", 1e-6)
                assert found[3:] == (slid, full.get("attn_logit_softcapping"), epsilon)
