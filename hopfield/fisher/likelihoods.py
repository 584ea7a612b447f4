"""Likelihoods of a model's outputs, with the Fisher information of the outputs in closed form.

Outputs are parameters η [*b, K]: logits, log-odds, means, log-rates, or means and log-variances. With s = ∂ log p/∂η,

    F_out = E[s sᵀ] = −E[∇² log p] = L Lᵀ

which for these families depends on η alone.

Source: Amari, Neural Computation 10, 251 (1998); Martens, JMLR 21, 146 (2020).
"""

import abc
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from hopfield._arguments import nearest, positive_scalar
from hopfield._numerics import violated
from hopfield._pytrees import Node, fill

Outputs = Float[Array, "*b K"]


class Likelihood(Node, abc.ABC):
    """A family of distributions of targets given outputs η [*b, K], independent over the axes *b.

    Example:
        >>> from hopfield.fisher import as_likelihood
        >>> print(as_likelihood("categorical").log_probability(jnp.zeros(2), jnp.array(1)).round(4))
        -0.6931
    """

    contract: ClassVar[str] = "finite numbers"
    """Contract of targets, in words."""

    def possible(self, outputs: Outputs, targets: Array) -> Bool[Array, "*axes"]:
        """True if each target belongs to the family. Other targets have the score and the probability NaN."""
        return jnp.isfinite(targets)

    def shape(self, outputs: Outputs) -> tuple[int, ...]:
        """Shape of the targets of these outputs."""
        return outputs.shape[:-1]

    def check(self, outputs: Outputs, targets: ArrayLike) -> None:
        """Check that targets have the shape of the outputs and, if not traced, are possible. ValueError otherwise."""
        targets = jnp.asarray(targets)
        shape = self.shape(outputs)
        if targets.shape != shape:
            raise ValueError(f"targets must have shape {list(shape)}, got {list(targets.shape)}")

        def possible(y: Array) -> Array:  # of outputs, which may be traced, the shape decides
            return self.possible(jnp.zeros(outputs.shape, jnp.result_type(outputs)), y)

        if violated(possible, targets):
            with jax.ensure_compile_time_eval():
                other = np.asarray(targets)[~np.asarray(possible(targets))]
            raise ValueError(f"targets must be {self.contract.format(outputs.shape[-1])}, got {other[0]}")

    @abc.abstractmethod
    def log_probability(self, outputs: Outputs, targets: Array) -> Float[Array, "*b"]:
        """log p(targets | η), normalised."""

    @abc.abstractmethod
    def score(self, outputs: Outputs, targets: Array) -> Outputs:
        """∂ log p / ∂η."""

    @abc.abstractmethod
    def fisher_product(self, outputs: Outputs, tangent: Outputs) -> Outputs:
        """F_out v."""

    @abc.abstractmethod
    def fisher_factor(self, outputs: Outputs) -> Float[Array, "*b K R"]:
        """L with L Lᵀ = F_out."""

    @abc.abstractmethod
    def mean(self, outputs: Outputs) -> Array:
        """E[target]: for classes their probabilities."""

    @abc.abstractmethod
    def sample(self, key: PRNGKeyArray, outputs: Outputs) -> Array:
        """Targets drawn from the model."""


class Categorical(Likelihood):
    """One of K classes, a whole number [*b], with probabilities softmax(η).

    Example:
        >>> from hopfield.fisher import Categorical
        >>> Categorical().mean(jnp.zeros(4)).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    contract = "classes, whole numbers from 0 to below {}"

    def possible(self, outputs: Outputs, targets: Array) -> Bool[Array, "*axes"]:
        whole = jnp.issubdtype(targets.dtype, jnp.integer)
        return (targets >= 0) & (targets < outputs.shape[-1]) if whole else jnp.zeros(targets.shape, bool)

    def log_probability(self, outputs: Outputs, targets: Array) -> Float[Array, "*b"]:
        log_shares = jnp.take_along_axis(jax.nn.log_softmax(outputs), targets.astype(int)[..., None], axis=-1)[..., 0]
        return jnp.where(self.possible(outputs, targets), log_shares, jnp.nan)

    def score(self, outputs: Outputs, targets: Array) -> Outputs:
        classes = jax.nn.one_hot(targets.astype(int), outputs.shape[-1], dtype=jnp.result_type(outputs))
        score = classes - jax.nn.softmax(outputs)
        return jnp.where(self.possible(outputs, targets)[..., None], score, jnp.nan)

    def fisher_product(self, outputs: Outputs, tangent: Outputs) -> Outputs:
        p = jax.nn.softmax(outputs)
        return p * (tangent - jnp.sum(p * tangent, axis=-1, keepdims=True))

    def fisher_factor(self, outputs: Outputs) -> Float[Array, "*b K R"]:
        p = jax.nn.softmax(outputs)
        eye = jnp.eye(p.shape[-1], dtype=p.dtype).reshape((1,) * (p.ndim - 1) + (p.shape[-1],) * 2)
        return (eye - p[..., :, None]) * jnp.sqrt(p)[..., None, :]

    def mean(self, outputs: Outputs) -> Array:
        return jax.nn.softmax(outputs)

    def sample(self, key: PRNGKeyArray, outputs: Outputs) -> Array:
        return jax.random.categorical(key, outputs)


class _Independent(Likelihood):
    """K independent targets [*b, K], each with its own parameter: F_out is diagonal."""

    def shape(self, outputs: Outputs) -> tuple[int, ...]:
        return outputs.shape

    @abc.abstractmethod
    def variance_of_score(self, outputs: Outputs) -> Outputs:
        """The diagonal of F_out."""

    def _targets_or_nan(self, outputs: Outputs, targets: Array) -> Outputs:
        """Targets as numbers, NaN where they are not of the family."""
        return jnp.where(self.possible(outputs, targets), targets, jnp.nan).astype(jnp.result_type(outputs))

    def fisher_product(self, outputs: Outputs, tangent: Outputs) -> Outputs:
        return self.variance_of_score(outputs) * tangent

    def fisher_factor(self, outputs: Outputs) -> Float[Array, "*b K R"]:
        root = jnp.sqrt(self.variance_of_score(outputs))
        eye = jnp.eye(root.shape[-1], dtype=root.dtype).reshape((1,) * (root.ndim - 1) + (root.shape[-1],) * 2)
        return root[..., None] * eye


class Bernoulli(_Independent):
    """K independent truth values 0 or 1, or shares between them, with log-odds η.

    Example:
        >>> from hopfield.fisher import Bernoulli
        >>> Bernoulli().mean(jnp.zeros(2)).tolist()
        [0.5, 0.5]
    """

    contract = "between 0 and 1"

    def possible(self, outputs: Outputs, targets: Array) -> Bool[Array, "*axes"]:
        return (targets >= 0) & (targets <= 1)

    def log_probability(self, outputs: Outputs, targets: Array) -> Float[Array, "*b"]:
        return jnp.sum(self._targets_or_nan(outputs, targets) * outputs - jax.nn.softplus(outputs), axis=-1)

    def score(self, outputs: Outputs, targets: Array) -> Outputs:
        return self._targets_or_nan(outputs, targets) - jax.nn.sigmoid(outputs)

    def variance_of_score(self, outputs: Outputs) -> Outputs:
        return jax.nn.sigmoid(outputs) * jax.nn.sigmoid(-outputs)

    def mean(self, outputs: Outputs) -> Array:
        return jax.nn.sigmoid(outputs)

    def sample(self, key: PRNGKeyArray, outputs: Outputs) -> Array:
        return jax.random.bernoulli(key, jax.nn.sigmoid(outputs)).astype(outputs.dtype)


class Gaussian(_Independent):
    """K independent real numbers of mean η and one known variance > 0. ValueError otherwise.

    Example:
        >>> from hopfield.fisher import Gaussian
        >>> Gaussian(2.0).fisher_product(jnp.zeros(2), jnp.ones(2)).tolist()
        [0.5, 0.5]
    """

    variance: Float[Array, ""] | float = 1.0

    def __post_init__(self) -> None:
        fill(self, variance=jnp.asarray(positive_scalar("variance", self.variance)))

    def log_probability(self, outputs: Outputs, targets: Array) -> Float[Array, "*b"]:
        square = (targets - outputs) ** 2 / self.variance
        return -0.5 * jnp.sum(square + jnp.log(2 * jnp.pi * self.variance), axis=-1)

    def score(self, outputs: Outputs, targets: Array) -> Outputs:
        return (targets - outputs) / self.variance

    def variance_of_score(self, outputs: Outputs) -> Outputs:
        return jnp.ones_like(outputs) / self.variance

    def mean(self, outputs: Outputs) -> Array:
        return outputs

    def sample(self, key: PRNGKeyArray, outputs: Outputs) -> Array:
        return outputs + jnp.sqrt(self.variance) * jax.random.normal(key, outputs.shape, outputs.dtype)


class MeanVariance(_Independent):
    """K independent real numbers [*b, K] of means and log-variances η [*b, 2 K], the means first.

    F_out is diagonal, e^(−log-variance) of a mean and ½ of a log-variance.

    Example:
        >>> from hopfield.fisher import MeanVariance
        >>> MeanVariance().fisher_product(jnp.array([3.0, jnp.log(4.0)]), jnp.ones(2)).tolist()
        [0.25, 0.5]
    """

    def shape(self, outputs: Outputs) -> tuple[int, ...]:
        if outputs.shape[-1] % 2:
            raise ValueError(f"outputs must be means and as many log-variances, got {outputs.shape[-1]} numbers")
        return (*outputs.shape[:-1], outputs.shape[-1] // 2)

    def _standardised(self, outputs: Outputs, targets: Array) -> tuple[Array, Array, Array]:
        """(targets − means) / σ, log-variances and 1/σ."""
        means, logs = jnp.split(outputs, 2, axis=-1)
        inverse = jnp.exp(-0.5 * logs)
        return (self._targets_or_nan(means, targets) - means) * inverse, logs, inverse

    def log_probability(self, outputs: Outputs, targets: Array) -> Float[Array, "*b"]:
        gap, logs, _ = self._standardised(outputs, targets)
        return -0.5 * jnp.sum(gap**2 + logs + jnp.log(2 * jnp.pi), axis=-1)

    def score(self, outputs: Outputs, targets: Array) -> Outputs:
        gap, _, inverse = self._standardised(outputs, targets)
        return jnp.concatenate([gap * inverse, 0.5 * (gap**2 - 1.0)], axis=-1)

    def variance_of_score(self, outputs: Outputs) -> Outputs:
        _, logs = jnp.split(outputs, 2, axis=-1)
        return jnp.concatenate([jnp.exp(-logs), jnp.full_like(logs, 0.5)], axis=-1)

    def mean(self, outputs: Outputs) -> Array:
        return jnp.split(outputs, 2, axis=-1)[0]

    def sample(self, key: PRNGKeyArray, outputs: Outputs) -> Array:
        means, logs = jnp.split(outputs, 2, axis=-1)
        return means + jnp.exp(0.5 * logs) * jax.random.normal(key, means.shape, means.dtype)


class Poisson(_Independent):
    """K independent numbers of events with log-rates η.

    Example:
        >>> from hopfield.fisher import Poisson
        >>> Poisson().mean(jnp.zeros(2)).tolist()
        [1.0, 1.0]
    """

    contract = "non-negative and finite"

    def possible(self, outputs: Outputs, targets: Array) -> Bool[Array, "*axes"]:
        return (targets >= 0) & jnp.isfinite(targets)

    def log_probability(self, outputs: Outputs, targets: Array) -> Float[Array, "*b"]:
        targets = self._targets_or_nan(outputs, targets)
        return jnp.sum(targets * outputs - jnp.exp(outputs) - gammaln(targets + 1.0), axis=-1)

    def score(self, outputs: Outputs, targets: Array) -> Outputs:
        return self._targets_or_nan(outputs, targets) - jnp.exp(outputs)

    def variance_of_score(self, outputs: Outputs) -> Outputs:
        return jnp.exp(outputs)

    def mean(self, outputs: Outputs) -> Array:
        return jnp.exp(outputs)

    def sample(self, key: PRNGKeyArray, outputs: Outputs) -> Array:
        return jax.random.poisson(key, jnp.exp(outputs)).astype(outputs.dtype)


_NAMED: dict[str, type[Likelihood]] = {"categorical": Categorical, "bernoulli": Bernoulli, "gaussian": Gaussian}
_NAMED |= {"mean_variance": MeanVariance, "poisson": Poisson}


def as_likelihood(likelihood: Likelihood | str) -> Likelihood:
    """A likelihood by name (categorical, bernoulli, gaussian, mean_variance, poisson), or the one given."""
    if isinstance(likelihood, Likelihood):
        return likelihood
    if not isinstance(likelihood, str) or likelihood not in _NAMED:
        hint = nearest(likelihood, _NAMED)
        raise ValueError(f"likelihood must be one of {', '.join(_NAMED)}, got {likelihood!r}{hint}")
    return _NAMED[likelihood]()
