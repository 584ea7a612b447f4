"""The map of names leaves out no name of the other libraries, and says nothing that cannot be imported."""

import importlib
import re
from pathlib import Path

import pytest

from hopfield.metrics import CONTRACTIONS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "names.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.split("|")[1:4]] for line in PAGE.splitlines() if line.startswith("| `")]
ATTN_TENSORS = {
    "attention": """attention_output attention_scores attention_scores_with_metric attention_weights batched_attention
        bilinear_attention decompose_attention scaled_dot_product_attention""",
    "backend": "Backend get_array_module get_backend is_jax_available is_mlx_available",
    "bilinear": """bilinear_form bilinear_form_batch diagonal_metric euclidean_metric inner_product learned_metric
        lower_index metric_inverse quadratic_form raise_index scaled_euclidean_metric verify_metric_properties""",
    "einsum": """EINSUM_EXAMPLES attention_output_einsum attention_scores_einsum batch_bilinear_form
        batch_matrix_multiply batched_attention_output_einsum batched_attention_scores_einsum
        batched_multihead_project_einsum batched_multihead_scores_einsum bilinear_form_einsum dot_product
        explain_einsum frobenius_norm_squared hadamard_product matrix_multiply matrix_transpose
        multihead_combine_einsum multihead_output_einsum multihead_project_einsum multihead_scores_einsum outer_product
        parse_einsum trace""",
    "gradients": """attention_backward grad_output_wrt_A grad_output_wrt_V grad_scores_wrt_K grad_scores_wrt_Q
        grad_softmax gradient_flow_analysis gradient_numerical_check verify_gradients""",
    "hopfield": """attention_as_hopfield classical_capacity classical_hopfield_energy classical_hopfield_update
        energy_landscape_1d hopfield_retrieve modern_capacity modern_hopfield_energy modern_hopfield_update
        retrieval_basin separation_quality""",
    "masking": """apply_mask attention_mask_from_padding block_sparse_mask causal_mask causal_mask_with_window
        causal_padding_mask global_local_mask local_attention_mask mask_to_additive padding_mask
        strided_attention_mask visualize_mask""",
    "multihead": """decompose_multihead head_attention_entropy head_diversity init_multihead_weights multihead_attention
        multihead_attention_batched""",
    "softmax": """attention_entropy effective_number_of_states entropy free_energy gibbs_distribution log_softmax
        max_entropy normalized_entropy partition_function softmax_jacobian softmax_jacobian_batched softmax_rows
        temperature_sweep""",
    "utils": """compare_metrics plot_attention_weights plot_entropy_distribution plot_gradient_flow
        plot_hopfield_energy plot_mask plot_multihead_attention plot_temperature_sweep""",
}
"""Functions of attn_tensors 0.1.0, module by module."""
HOPFIELD_LAYERS = {
    "classes": "Hopfield HopfieldCore HopfieldDecoderLayer HopfieldEncoderLayer HopfieldLayer HopfieldPooling",
    "functions": "forward get_association_matrix get_projected_pattern_matrix hopfield_core_forward reset_parameters",
    "options": """add_zero_association association_activation batch_first concat_bias_pattern disable_out_projection
        dropout hidden_size input_bias input_size lookup_targets_as_trainable lookup_weights_as_separated
        normalize_hopfield_space normalize_pattern_projection normalize_pattern_projection_affine
        normalize_state_pattern normalize_state_pattern_affine normalize_stored_pattern
        normalize_stored_pattern_affine num_heads output_size pattern_projection_as_connected
        pattern_projection_as_static pattern_projection_size pattern_size quantity scaling state_pattern_as_static
        stored_pattern_as_static stored_pattern_size trainable update_steps_eps update_steps_max""",
}
"""Names of hopfield-layers 1.0.2."""


def found(path: str) -> object:
    """The module, or the attribute of the module, that a dotted path names."""
    module, _, name = path.rpartition(".")
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize(
    ("theirs", "heading"),
    [
        *((names, "## attn_tensors") for names in ATTN_TENSORS.values()),
        *((names, "## hopfield-layers") for names in HOPFIELD_LAYERS.values()),
    ],
    ids=[*ATTN_TENSORS, *HOPFIELD_LAYERS],
)
def test_the_map_names_every_function(theirs: str, heading: str) -> None:
    section = PAGE.partition(heading)[2].partition("\n## ")[0]
    assert set(theirs.split()) <= set(re.findall(r"`(\w+)`", section))


@pytest.mark.parametrize(
    "path", sorted({path for _, right, _ in ROWS for path in re.findall(r"`(hopfield[\w.]*)`", right)})
)
def test_every_name_on_the_right_imports(path: str) -> None:
    assert found(path) is not None


def test_every_row_has_a_name_on_the_right_and_every_contraction_that_it_names_exists() -> None:
    assert all("`hopfield" in right for _, right, _ in ROWS)
    assert {key for *_, more in ROWS for key in re.findall(r'`\["(\w+)"\]`', more)} <= CONTRACTIONS.keys()
