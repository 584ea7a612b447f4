"""Multi-head self-attention as a layer, forwards and backwards: HopfieldAttention and PyTorch's own."""

from pathlib import Path

import numpy as np
from flax import nnx

from . import Case, Run, optional
from .layer import Problem, build, comparison, sizes


def case(size: str, workspace: Path) -> Case:
    """One forward and backward pass with the same weights. PyTorch uses as many threads as this process may."""
    del workspace
    torch = optional("torch")
    shape = sizes(size)
    flax = build(nnx.MultiHeadAttention, shape)
    layer = torch.nn.MultiheadAttention(shape.features, shape.heads, batch_first=True)
    width = shape.features
    with torch.no_grad():
        projections = [
            np.asarray(part.kernel[...]).reshape(width, width).T for part in (flax.query, flax.key, flax.value)
        ]
        layer.in_proj_weight.copy_(torch.from_numpy(np.concatenate(projections)))
        layer.out_proj.weight.copy_(torch.from_numpy(np.asarray(flax.out.kernel[...]).reshape(width, width).T.copy()))

    def theirs(problem: Problem, run: Run) -> np.ndarray:
        inputs, weights = map(torch.from_numpy, problem.arrays)
        inputs = inputs.clone().requires_grad_()
        layer.zero_grad()
        (layer(inputs, inputs, inputs, need_weights=False)[0] * weights).sum().backward()
        return inputs.grad.numpy()

    return comparison(size, "torch.nn.MultiheadAttention", theirs)
