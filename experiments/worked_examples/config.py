"""Options of the worked examples: documents and examples whose numbers are worked again."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import Use
from experiments.columns import Column
from experiments.contract import option
from experiments.worked_examples.printed import DOCUMENTS, EXAMPLES, PRINTED


@dataclass
class Config(contract.Config):
    """Options of the worked examples."""

    documents: list[str] = option(
        [*DOCUMENTS],
        f"documents, any of {', '.join(DOCUMENTS)}",
        among=DOCUMENTS,
        nonempty=True,
        used_when=Use("each prints one of examples", lambda config: _all_printed(config, 0)),
        axis=True,
    )
    examples: list[str] = option(
        [*EXAMPLES],
        f"examples, any of {', '.join(EXAMPLES)}",
        among=EXAMPLES,
        nonempty=True,
        used_when=Use("each is printed in one of documents", lambda config: _all_printed(config, 1)),
        axis=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not any((document, example) in PRINTED for document in self.documents for example in self.examples):
            raise ValueError(f"examples must be printed in one of {', '.join(self.documents)}, got {self.examples}")


def _all_printed(config: Config, place: int) -> bool:
    """Whether every document (0) or example (1) that is listed has a number to work again."""
    listed = (config.documents, config.examples)
    return {key[place] for key in PRINTED if key[0] in listed[0] and key[1] in listed[1]} == set(listed[place])


COLUMNS = {
    "document": Column("document that prints the number", kind=str),
    "example": Column("worked example that the number is of", kind=str),
    "quantity": Column("quantity that the number is of", kind=str),
    "row": Column("row of the quantity", kind=str),
    "column": Column("column of the quantity", kind=int),
    "printed": Column("number as it is printed"),
    "decimals": Column("decimals that are printed", "count", kind=int),
    "value": Column("computed number"),
    "stderr": Column("standard error of the value, where it was measured"),
    "theory": Column("prediction, where there is one"),
    "right": Column("whether the value rounds to what is printed", kind=bool),
}
