"""Columns of the table of heads, each with its meaning and unit."""

from experiments.columns import Column

COLUMNS = {
    "layer": Column("number of the layer; −1 of pairs of sentences", kind=int),
    "quantity": Column("what the row is of: spectrum, angles, pair or similarity", kind=str),
    "first": Column("head, or sentence, that is compared", kind=int),
    "second": Column("head, or sentence, that it is compared with", kind=int),
    "singular_value": Column("singular value of the head's form J"),
    "query_angles": Column("share of principal angles between query subspaces in this bin"),
    "key_angles": Column("share of principal angles between key subspaces in this bin"),
    "random_angles": Column("share of principal angles between random subspaces in this bin"),
    "query": Column("Grassmann distance of the query subspaces, over its largest value", "0 to 1"),
    "key": Column("Grassmann distance of the key subspaces, over its largest value", "0 to 1"),
    "theory": Column("sum of the distances of query and key subspaces"),
    "spectrum": Column("‖Σ_i − Σ_j‖, distance of the singular values"),
    "product": Column("product distance √(d_U² + d_V² + ‖Σ_i − Σ_j‖²)"),
    "frobenius": Column("‖J_i − J_j‖"),
    "weighted": Column("‖J_i − J_j‖ weighted with the second moment of the inputs"),
    "attention": Column("mean ‖A_i − A_j‖ / √tokens of the heads' attention on texts"),
    "attention_error": Column("largest deviation of the attention of J from the model's own"),
    "random": Column("mean distance of random subspaces, over its largest value", "0 to 1"),
    "random_deviation": Column("standard deviation of the distance of random subspaces"),
    "similarity": Column("cosine similarity of two sentences", "−1 to 1"),
    "published": Column("cosine similarity as published", "−1 to 1"),
}
