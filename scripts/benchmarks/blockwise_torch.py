"""Exact softmax read-out of many patterns by many queries: block by block, and by PyTorch's fused kernel."""

from pathlib import Path

import numpy as np

from . import Case, Run, optional
from .blockwise import Problem, comparison


def case(size: str, workspace: Path) -> Case:
    """Read-out at β = 1/√D. PyTorch uses as many threads as this process may."""
    del workspace
    torch = optional("torch")

    def theirs(problem: Problem, run: Run) -> np.ndarray:
        query, key, value = (torch.from_numpy(x)[None, None] for x in problem.arrays)
        return torch.nn.functional.scaled_dot_product_attention(query, key, value)[0, 0].numpy()

    return comparison(size, "PyTorch's fused kernel", theirs)
