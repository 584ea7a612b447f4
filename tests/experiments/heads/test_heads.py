"""The geometry of heads: the real model's attention and published similarities, tokens, and the permutation test."""

import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from safetensors.numpy import save_file
from scipy.special import softmax

from experiments.figures import draw, style
from experiments.heads import encoder, experiment
from experiments.heads.config import Config
from experiments.heads.results import mantel
from hopfield.layers.imports import checkpoints

INSTALLED = encoder.installed_checkpoint()
real = pytest.mark.skipif(INSTALLED is None, reason=f"{encoder.PACKAGE} is not installed")


def table_of(config: Config) -> pandas.DataFrame:
    return pandas.DataFrame(list(experiment.measure(config, experiment.points(config))))


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    if INSTALLED is None:
        pytest.skip(f"{encoder.PACKAGE} is not installed")
    return table_of(Config(layers=[0], texts=2, length=12))


@pytest.fixture(scope="module")
def drawn_by_hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2-shaped checkpoint whose first two heads of three have the same query and key subspaces."""
    place = tmp_path_factory.mktemp("gpt2")
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(6, 18))
    weight[:, 2:4], weight[:, 8:10] = 2 * weight[:, :2], 3 * weight[:, 6:8]
    tensors = {"h.0.attn.c_attn.weight": weight, "h.0.attn.c_proj.weight": rng.normal(size=(6, 6))}
    save_file(tensors, place / "model.safetensors")
    (place / "config.json").write_text(json.dumps({"n_head": 3}))
    return place


@pytest.mark.physics
@real
def test_published_similarities_are_reproduced_to_four_decimals(table: pandas.DataFrame) -> None:
    known = table[table["quantity"] == "similarity"]
    assert len(known) == 3
    np.testing.assert_array_equal(known["similarity"].round(4), known["published"])


@real
def test_attention_from_the_form_is_the_models_own_in_every_layer() -> None:
    assert INSTALLED is not None
    bert, tokenizer = experiment.encoder_of(Config())
    run = bert.run([tokenizer.encode("The weather is lovely today.").ids])
    for weights, x, own in zip(checkpoints.load(INSTALLED).layers, run.inputs, run.attention, strict=True):
        ones = np.concatenate([x[0], np.ones((x.shape[1], 1))], axis=1)
        scores = weights.beta * ones @ np.asarray(weights.metric().dense(), float) @ ones.T
        np.testing.assert_allclose(softmax(scores, axis=-1), own[0], atol=1e-5)


def test_geometry_of_a_written_checkpoint_is_known_where_heads_share_subspaces(drawn_by_hand: Path) -> None:
    found = table_of(Config(checkpoint=str(drawn_by_hand), layers=None))
    pairs = found[found["quantity"] == "pair"].set_index(["first", "second"])
    assert pairs.loc[(0, 1), "theory"] == pytest.approx(0, abs=1e-7)
    assert pairs.loc[(0, 2), "theory"] > 0.1
    weights = checkpoints.load(drawn_by_hand).layers[0]
    forms = weights.w_query @ weights.w_key.swapaxes(1, 2)
    assert pairs.loc[(0, 2), "frobenius"] == pytest.approx(np.linalg.norm(forms[0] - forms[2]), rel=1e-10)
    values = found[found["quantity"] == "spectrum"].pivot(index="first", columns="second", values="singular_value")
    np.testing.assert_allclose(values, np.linalg.svd(forms, compute_uv=False)[:, :2], rtol=1e-10)
    np.testing.assert_allclose(values.loc[1], 6 * values.loc[0], rtol=1e-10)
    assert pairs["attention"].isna().all()
    summary = experiment.summarise(found)
    assert summary.of("Mantel correlation").empty
    with style.style():
        draw.figure(experiment.panels(found, summary)).savefig(drawn_by_hand / "figure.png", dpi=30)


def test_the_permutation_test_is_exact_for_few_objects_and_finds_agreement() -> None:
    rng = np.random.default_rng(1)
    one, other = (x + x.swapaxes(-1, -2) for x in rng.random((2, 2, 9, 9)))
    above = np.triu_indices(9, 1)
    r, p = mantel(one[0], other[0], 999)
    assert r == pytest.approx(np.corrcoef(one[0][above], other[0][above])[0, 1], abs=1e-12)
    assert 0.01 < p <= 1
    assert mantel(one, one, 999) == (pytest.approx(1.0), 1 / 1000)
    mean, _ = mantel(one, other, 9)
    rest = np.corrcoef(one[1][above], other[1][above])[0, 1]
    assert mean == pytest.approx((r + rest) / 2, abs=1e-12)
    # of the six orders of three objects, those that leave this pair of matrices as they are: one in six.
    small = np.array([[0, 1, 2], [1, 0, 4], [2, 4, 0]], float)
    assert mantel(small, small, 60000)[1] == pytest.approx(1 / 6, abs=0.006)
