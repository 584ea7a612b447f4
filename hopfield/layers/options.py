"""Options of an association, checked, and the parts of a layer they are made into, which Flax can split and save."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from flax.typing import Dtype
from jax.typing import ArrayLike

from hopfield._arguments import flag, instance, integer, one_of, positive_array, real_scalar, shown
from hopfield._numerics import accumulation_dtype, wide
from hopfield.attention import Ring
from hopfield.attention.encodings import Encoding
from hopfield.layers._fixed import FixedParam
from hopfield.layers.learned_positions import Positions, check_name
from hopfield.layers.metrics import FixedMetric, LearnedMetric, learned_metric, parsed
from hopfield.metrics import Euclidean, Metric
from hopfield.separations import Separation, SoftmaxOne, as_separation

Constructor = TypeVar("Constructor", bound=Callable[..., None])
Part = TypeVar("Part", bound=nnx.Module)
MetricLike = LearnedMetric | Metric | ArrayLike | str | None
NONE: Mapping[str, Any] = MappingProxyType({})
Gradient = Literal["unrolled", "implicit"]
GRADIENTS: tuple[Gradient, ...] = get_args(Gradient)
MOST_STEPS = 10**6
ALONE = ("update_steps", "memory_slots", "score", "learn_null_score", "block")
"""Options that a ring of devices does not read."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class AssociationOptions:
    """Options of an association, the same for every layer. The defaults give scaled dot-product attention.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import AssociationOptions, HopfieldAttention
        >>> sparse = AssociationOptions(separation="entmax:1.5", metric="diagonal", update_steps=3)
        >>> layer = HopfieldAttention(2, 8, options=sparse, rngs=nnx.Rngs(0))

    Raises:
        ValueError: an option outside its range or an unknown name, in one sentence.
    """

    separation: Separation | str = "softmax"
    """A `Separation` or its name, such as "softmax", "sparsemax", "entmax:1.5", "top_k:8"."""
    learn_alpha: bool = False
    """Train the exponent of `separation`, one per head: α of an entmax, in (1, 3) by construction, or n of a power."""
    score: Callable[[jax.Array], jax.Array] | None = None
    """Function of every score β ξ g k, such as `attention.SoftCap(30.0)`, before mask and bias; the scores if None. One
    with parameters is an `nnx.Module` that has them, called with the scores, and is trained with the layer. Moved
    queries go to Σ p φ' k, so that the energy never rises where F ∘ φ is convex; with a cap F ∘ φ is not."""
    learn_null_score: bool = False
    """Train, one per head, the score of what no key owns, "softmax1"'s and the memory slots', starting at zero: a sink
    of weight as in gpt-oss."""
    beta: ArrayLike | None = None
    """β > 0, a number or one per head [H]; 1/√D if None, with a metric as without."""
    learn_beta: bool = False
    """Train β, one per head, positive by construction, starting at `beta`."""
    metric: MetricLike = None
    """Metric by which a query is compared with a key: a name of `layers.METRICS` to learn it, "low_rank:R" and
    "projected:R" with their rank, a `LearnedMetric`, or a fixed `metrics.Metric` or matrix, [D, D] or [H, D, D]; None
    for the dot product."""
    metric_per_head: bool = True
    """One learned metric per head, or one that all heads share."""
    update_steps: int = 1
    """Applications of the association: all but the last move the query, the last one reads the values."""
    rtol: float | None = None
    """Step, relative to the state's norm, below which a moved query stops; from the precision if None."""
    gradient: Gradient = "unrolled"
    """"unrolled" through every step of queries, or "implicit" at their fixed points, with no memory for the steps."""
    memory_slots: int = 0
    """Places for weight that no key deserves: score 0, learned values that start as zeros."""
    positions: Positions | Encoding | str | None = None
    """Positional encodings: a name of `layers.POSITIONS`, "rotary", "alibi", "t5", "relative" or "sinusoidal", an
    `attention.encodings.Encoding`, or `Positions`."""
    window: int | None = None
    """Keys that a query reads and that decoding keeps: its own and the window − 1 keys before; None for every key."""
    window_first: int = 0
    """First keys of a sequence that every query reads beside its window, and that decoding keeps (Xiao et al. 2024)."""
    metric_metadata: Mapping[str, Any] | None = None
    """Metadata of a learned metric's parameters, such as `{"out_sharding": ("heads", None, None)}`, as for kernels."""
    beta_metadata: Mapping[str, Any] | None = None
    """Metadata of a learned β, one per head."""
    block: int | None = None
    """Queries read at a time, their scores formed again in the backward pass; chosen from the size if None."""
    ring: Ring | None = None
    """Devices that the tokens of a sequence are spread over, read by `attention.attend_ring`."""

    def __post_init__(self) -> None:
        separation = as_separation(self.separation)
        if self.beta is not None:
            positive_array("beta", self.beta, jnp.float64)
        if isinstance(self.metric, str):
            parsed(self.metric)
        if isinstance(self.positions, str):
            check_name(self.positions)
        for name in ("learn_beta", "learn_alpha", "learn_null_score"):
            flag(name, getattr(self, name))
        if self.learn_null_score and not self.memory_slots and not isinstance(separation, SoftmaxOne):
            raise ValueError('learn_null_score must be left out but with separation="softmax1" or memory_slots')
        if not flag("metric_per_head", self.metric_per_head) and not isinstance(self.metric, str):
            raise ValueError("metric_per_head must be left out unless a metric to learn is named, got False")
        if self.score is not None and not isinstance(self.score, nnx.Module) and _holds_parameters(self.score, set()):
            raise ValueError(
                "score must be an nnx.Module that has its parameters as attributes, got a function that reads some "
                "from outside, which would not be trained"
            )
        if self.metric_metadata and not isinstance(self.metric, str):
            raise ValueError(
                "metric_metadata must be left out unless a metric to learn is named, as of one's own module"
            )
        if self.beta_metadata and not self.learn_beta:
            raise ValueError("beta_metadata must be left out unless learn_beta is True, for there is nothing to learn")
        one_of("gradient", self.gradient, GRADIENTS)
        if integer("update_steps", self.update_steps) > MOST_STEPS:
            raise ValueError(f"update_steps must be at most {MOST_STEPS}, got {self.update_steps}")
        if self.update_steps == 1:
            self.refuse("an association that moves no query (update_steps=1)", "rtol", "gradient")
        self._check_ring()
        integer("memory_slots", self.memory_slots, 0)
        for name, length in (("block", self.block), ("window", self.window)):
            if length is not None and integer(name, length) >= 2**31:
                raise ValueError(f"{name} must be below 2^31, as places are numbered, got {length}")
        if integer("window_first", self.window_first, 0) and self.window is None:
            raise ValueError("window_first must be left out without a window, whose queries read every key")
        if self.rtol is not None:
            real_scalar("rtol", self.rtol, "a finite number of at least 0", 0.0)

    def _check_ring(self) -> None:
        """Check that devices of a ring, if there are any, read these options. ValueError otherwise."""
        if self.ring is None:
            return
        instance("ring", self.ring, Ring)
        if not as_separation(self.separation).is_softmax:
            raise ValueError(f"separation must be softmax with a ring, got {shown(self.separation)}")
        self.refuse("an association over a ring of devices", *ALONE)

    def refuse(self, place: str, *names: str) -> None:
        """Check that options without meaning in a place are at their defaults. ValueError otherwise."""
        for field in dataclasses.fields(self):
            if field.name in names and getattr(self, field.name) != field.default:
                raise ValueError(f"{field.name} must be left out in {place}, got {shown(getattr(self, field.name))}")

    def learned_beta(self, heads: int, width: int, param_dtype: Dtype) -> "InverseTemperature":
        """β of these options for heads of this width."""
        beta = InverseTemperature(self.beta, heads, width, self.learn_beta, param_dtype)
        return _with_metadata(beta, self.beta_metadata)

    def learned_metric(self, heads: int, width: int, param_dtype: Dtype, rngs: nnx.Rngs) -> LearnedMetric | None:
        """The metric of these options for heads of this width. Raises ValueError if it has another."""
        if self.metric is None:
            return None
        if isinstance(self.metric, str):
            per_head = heads if self.metric_per_head else None
            metric = learned_metric(self.metric, width, per_head, param_dtype=param_dtype, rngs=rngs)
            return _with_metadata(metric, self.metric_metadata)
        metric = self.metric if isinstance(self.metric, LearnedMetric) else FixedMetric(self.metric)
        if metric().widths != (width, width):
            raise ValueError(f"metric must have the heads' width {width} on both sides, got {tuple(metric().widths)}")
        leading = metric().leading
        if leading not in ((), (1,), (heads,)):
            raise ValueError(f"metric must be one or one for each of the {heads} heads, got {list(leading)} of them")
        return None if isinstance(self.metric, Euclidean) else metric


def _holds_parameters(held: Any, seen: set[int]) -> bool:
    """True if a function reads parameters of Flax in its closure, globals, defaults or attributes, at any depth."""
    if isinstance(held, nnx.Variable | nnx.Module):
        return isinstance(held, nnx.Variable) or bool(jax.tree.leaves(nnx.state(held, nnx.Param)))
    if not callable(held) or isinstance(held, type) or id(held) in seen:
        return False
    seen.add(id(held))
    held = inspect.unwrap(held)
    if isinstance(held, functools.partial):
        parts = [held.func, *held.args, *held.keywords.values()]
    elif inspect.ismethod(held):
        parts = [held.__self__, held.__func__]
    elif inspect.isfunction(held):
        outside = inspect.getclosurevars(held)
        parts = [*outside.nonlocals.values(), *outside.globals.values(), *(held.__defaults__ or ())]
    else:
        parts = list(getattr(held, "__dict__", {}).values())
    return any(_holds_parameters(part, seen) for part in parts)


def _with_metadata(module: Part, metadata: Mapping[str, Any] | None) -> Part:
    """The module, its parameters with further metadata, which Flax shards them by."""
    if metadata:
        for name, variable in list(vars(module).items()):
            if isinstance(variable, nnx.Param):
                setattr(module, name, nnx.Param(variable[...], **metadata))
    return module


DEFAULT = AssociationOptions()


def points_to_options(init: Constructor) -> Constructor:
    """Constructor of a layer that, given a field of the options by mistake, says where the field belongs."""
    fields = {field.name for field in dataclasses.fields(AssociationOptions)} - inspect.signature(
        init
    ).parameters.keys()

    @functools.wraps(init)
    def checked(self: Any, *arguments: Any, **named: Any) -> None:
        if misplaced := [name for name in named if name in fields]:
            options = f"AssociationOptions({', '.join(f'{name}=…' for name in misplaced)})"
            raise TypeError(
                f"{', '.join(misplaced)} must be in options={options}, got an argument of {type(self).__name__}"
            )
        init(self, *arguments, **named)

    return checked  # type: ignore[return-value]


class InverseTemperature(nnx.Module):
    """β > 0, a number or one per head: given and fixed, or e^(log_beta) with log_beta [H] learned.

    A fixed β is held in float32 at least. A learned one is a parameter like others, its log_beta of `param_dtype`: of
    16 bits it starts at the given β to rounding.
    """

    def __init__(self, beta: ArrayLike | None, heads: int, width: int, learned: bool, param_dtype: Dtype) -> None:
        """See `AssociationOptions`. Raises ValueError unless β is positive, finite and of a shape that fits."""
        dtype = param_dtype if learned else accumulation_dtype(param_dtype)
        start = positive_array("beta", 1.0 / np.sqrt(width) if beta is None else beta, dtype)
        if start.shape not in ((), (heads,)):
            raise ValueError(f"beta must be positive and finite, a number or one per head [{heads}], got {shown(beta)}")
        self.log_beta = nnx.data(None)
        self.fixed = nnx.data(None)
        if learned:
            self.log_beta = nnx.Param(jnp.log(jnp.broadcast_to(wide(start), (heads,))).astype(dtype))
        elif beta is not None:
            self.fixed = FixedParam(start.astype(dtype))
        self.default = float(1.0 / np.sqrt(width))

    def __call__(self) -> jax.Array:
        if self.log_beta is not None:
            return jnp.exp(self.log_beta[...])
        return jnp.asarray(self.default) if self.fixed is None else self.fixed[...]
