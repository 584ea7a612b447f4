"""Detection of optax.MultiSteps, which accumulates the arguments of a natural gradient that it contains.

`optax.MultiSteps` hands the mean gradient of several mini-steps to the optimiser that it holds, with `model_fn`,
`inputs`, `targets` and the rest of the last mini-step alone: the Fisher information would silently be that of a part of
the examples. Nothing in the arguments or in the state tells this call from any other, so that the call stack is
searched for its `update`; under `jax.jit` that happens once, while the step is traced.
"""

import inspect

import optax


def in_multi_steps() -> bool:
    """Whether this is called from `optax.MultiSteps.update`."""
    wanted, frame = inspect.unwrap(optax.MultiSteps.update).__code__, inspect.currentframe()
    while frame is not None and frame.f_code is not wanted:
        frame = frame.f_back
    return frame is not None
