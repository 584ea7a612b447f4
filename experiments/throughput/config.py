"""Options of the throughput of reads: the tasks that are timed, and the axes along which their sizes vary."""

from dataclasses import dataclass

from experiments import contract
from experiments.contract import grid_axis, option

TASKS = ("softmax", "sparsemax", "counts")
AXES = ("patterns", "neurons", "queries")


@dataclass
class Config(contract.Config):
    """Options of the throughput experiment: one axis is varied at a time, the others stay at their base."""

    tasks: list[str] = option([*TASKS], among=TASKS, nonempty=True, axis=True)
    patterns: list[int] = grid_axis([256, 4096], "numbers of patterns M", least=1)
    neurons: list[int] = grid_axis([8, 32], "numbers of neurons N", least=1)
    queries: list[int] = grid_axis([1, 16], "numbers of queries Q", least=1)
    at: dict[str, int] = option(
        {"patterns": 2048, "neurons": 16, "queries": 8},
        "M, N and Q of the axes that are not varied",
        least=1,
        axis=True,
    )
    repeats: int = option(3, "runs of every point; the fastest counts", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.at) != set(AXES):
            raise ValueError(f"at must give {', '.join(AXES)}, got {self.at}")
