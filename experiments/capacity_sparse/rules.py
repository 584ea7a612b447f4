"""Rules by which patterns are stored: the network that each makes of them, where its dynamics go, and its theory."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import log, log2
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array

from experiments.bounds import name_and_number
from experiments.shared.grids import Draw
from hopfield import Couplings, disturbances
from hopfield.dynamics.asynchronous import relax
from hopfield.networks.binary import BinaryNetwork, covariance_network, willshaw_network
from hopfield.theory import sparse

WIDELY_BIASED = 0.15
"""Activity below which plain Hebb couplings hold next to no patterns."""
SWEEPS = 200


@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """Rule of storage, with the defaults that most rules share. `number` follows the name, as in `diluted:0.3`."""

    KIND: ClassVar[str] = "Gaussian noise"
    """Kind of the theory of wrong neurons."""
    number: float = 0.0

    @abstractmethod
    def network(self, patterns: Array, used: Array, key: Array, draw: Draw) -> Any:
        """Network that the patterns [M, N] in use are stored in."""

    def patterns(self, chance: Array, activity: Array) -> Array:
        """Patterns {0, 1} of independent neurons, from uniform numbers [M, N]."""
        return jnp.where(chance < activity, 1.0, 0.0)

    def ends(self, network: Any, cues: Array, key: Array) -> tuple[Array, Array, Any]:
        """States after one synchronous step, and where asynchronous dynamics end; share of the synapses that are on."""
        couplings, spins = network.couplings() if isinstance(network, BinaryNetwork) else network, 2 * cues - 1
        last = lambda x: relax(couplings, x, dynamics="asynchronous", key=key, max_steps=SWEEPS).state
        return (1 + jax.vmap(couplings.update)(spins)) / 2, (1 + jax.vmap(last)(spins)) / 2, jnp.nan

    def activities(self, neurons: int, asked: list[float]) -> list[float]:
        """Activities, of those asked for, at which the rule is measured."""
        return [0.5]

    def offset(self, activity: float) -> float:
        """Number that is taken off a state {0, 1}."""
        return 0.5

    def threshold(self, activity: float) -> float:
        """Threshold of the neurons."""
        return 0.0

    def critical_load(self, activity: float) -> float | None:
        """Load M/N at which retrieval ends for N → ∞. None for rules that are judged by errors and information."""
        return None

    def unit(self, neurons: int, activity: float) -> float:
        """Number of patterns that corresponds to a load of 1 in the option `around`."""
        return neurons * (self.critical_load(activity) or 0.0)

    def wrong_share(self, neurons: int, activity: float, num_patterns: int) -> float | None:
        """Share of wrong neurons after one step. None if not known."""
        return None

    def bits(self, neurons: int, num_patterns: int) -> float | None:
        """Bits per synapse. None if not known."""
        return None


@dataclass(frozen=True, kw_only=True)
class Covariance(Rule):
    """The covariance rule with the best threshold at capacity."""

    taken_off: Callable[[float], float]

    def network(self, patterns: Array, used: Array, key: Array, draw: Draw) -> BinaryNetwork:
        """Network of neurons with a threshold."""
        numbers = {name: draw[name] for name in ("threshold", "offset")}
        return covariance_network(patterns, draw["activity"], mask=used, **numbers)

    def activities(self, neurons: int, asked: list[float]) -> list[float]:
        """Activities as they are asked for."""
        return asked

    def offset(self, activity: float) -> float:
        """Number taken off a state {0, 1}, by which the three forms of the rule differ."""
        return self.taken_off(activity)

    def threshold(self, activity: float) -> float:
        """Threshold that is the best one at capacity."""
        return _spinodal(activity, self.offset(activity)).threshold

    def critical_load(self, activity: float) -> float:
        """Load of the replica-symmetric spinodal."""
        return _spinodal(activity, self.offset(activity)).load

    def wrong_share(self, neurons: int, activity: float, num_patterns: int) -> float | None:
        """Share of wrong neurons after one step. None for a single pattern."""
        if num_patterns == 1:
            return None
        numbers = self.threshold(activity), self.offset(activity)
        on, off = map(float, sparse.one_step_shares(neurons, num_patterns, activity, *numbers))
        return activity * (1 - on) + (1 - activity) * off


@dataclass(frozen=True, kw_only=True)
class Disturbed(Rule):
    """Hebb's rule with unbiased patterns, its couplings disturbed."""

    disturb: Callable[[Couplings, Array, Array], Couplings]
    disturbance: Callable[[float], Any]
    """Strength in theory by the number of the name."""

    def network(self, patterns: Array, used: Array, key: Array, draw: Draw) -> Couplings:
        """Couplings of Hebb's rule after the disturbance."""
        return self.disturb(_hebb(patterns, used), key, draw["strength"])

    def critical_load(self, activity: float) -> float:
        """Load M/N, replica symmetric, at which couplings disturbed by the same amount lose retrieval."""
        return _disturbed_critical_load(self.disturbance(self.number))


@dataclass(frozen=True, kw_only=True)
class Hebb(Rule):
    """Hebb's rule as it is, with biased patterns."""

    def network(self, patterns: Array, used: Array, key: Array, draw: Draw) -> Couplings:
        """Network of Hebb's couplings of biased patterns, whose mean is not taken off."""
        return _hebb(patterns, used)

    def activities(self, neurons: int, asked: list[float]) -> list[float]:
        """Activities from WIDELY_BIASED to below ½, where plain Hebb couplings hold some patterns."""
        return [a for a in asked if WIDELY_BIASED <= a < 0.5]

    def unit(self, neurons: int, activity: float) -> float:
        """Number 1/m₀² of patterns beyond which it fails."""
        return (1 - 2 * activity) ** -2.0

    def wrong_share(self, neurons: int, activity: float, num_patterns: int) -> float | None:
        """Share of wrong neurons after one step for N → ∞."""
        return float(sparse.biased_hebb_error(num_patterns, 1 - 2 * activity))


@dataclass(frozen=True, kw_only=True)
class Willshaw(Rule):
    """Willshaw's memory: binary synapses, log₂N neurons on in each pattern."""

    KIND = "exact"

    def network(self, patterns: Array, used: Array, key: Array, draw: Draw) -> BinaryNetwork:
        """Synapses that are on where two neurons were on together."""
        return willshaw_network(patterns, mask=used)

    def patterns(self, chance: Array, activity: Array) -> Array:
        """Binary patterns with the same number of active neurons in each."""
        least = jax.lax.top_k(chance, active(chance.shape[1]))[0][:, -1:]
        return jnp.where(chance >= least, 1.0, 0.0)

    def ends(self, network: Any, cues: Array, key: Array) -> tuple[Array, Array, Any]:
        """States after one step, which is the last one."""
        neurons = cues.shape[1]
        fields = cues @ network.matrix  # the neurons of a cue keep themselves on, others need all their synapses
        first = jnp.where((cues == 1) | (fields > active(neurons) - 0.5), 1.0, 0.0)
        return first, first, jnp.sum(network.matrix) / (neurons * (neurons - 1))

    def activities(self, neurons: int, asked: list[float]) -> list[float]:
        """Activity with log₂N of N neurons on, the best one for Willshaw's memory."""
        return [active(neurons) / neurons]

    def unit(self, neurons: int, activity: float) -> float:
        """Number of patterns at which half of the synapses are on."""
        return log(2) / activity**2

    def wrong_share(self, neurons: int, activity: float, num_patterns: int) -> float | None:
        """Share of wrong neurons after one step, exact at N and M: some are on too many, none is missing."""
        return (1 - activity) * float(sparse.willshaw_error(neurons, num_patterns, round(activity * neurons)))

    def bits(self, neurons: int, num_patterns: int) -> float:
        """Bits per synapse that are left after the errors of one step."""
        return float(sparse.willshaw_information(neurons, num_patterns, active(neurons)))


TABLE: dict[str, Rule] = {
    "binary": Covariance(taken_off=lambda activity: 0.0),
    "balanced": Covariance(taken_off=lambda activity: activity),
    "spins": Covariance(taken_off=lambda activity: 0.5),
    "clipped": Disturbed(
        disturb=lambda hebb, key, strength: disturbances.clipped(hebb), disturbance=lambda number: sparse.CLIPPED
    ),
    "diluted": Disturbed(disturb=disturbances.diluted, disturbance=sparse.dilution),
    "noisy": Disturbed(disturb=disturbances.noisy, disturbance=lambda number: number**2),
    "hebb": Hebb(),
    "willshaw": Willshaw(),
}
"""The rules that the options name."""


@cache
def find(rule: str) -> Rule:
    """The rule of a name, such as `hebb` or `diluted:0.3`."""
    name, number = name_and_number(rule)
    return replace(TABLE[name], number=number or 0.0)


@cache
def wrong_share(rule: str, neurons: int, activity: float, num_patterns: int) -> float | None:
    """Share of wrong neurons after one step by theory, which all draws share."""
    return find(rule).wrong_share(neurons, activity, num_patterns)


def active(neurons: int) -> int:
    """Neurons on in a pattern of Willshaw's memory, the best number log₂N."""
    return round(log2(neurons))


_spinodal = cache(sparse.spinodal)


@cache
def _disturbed_critical_load(disturbance: float) -> float:
    return float(sparse.disturbed_critical_load(disturbance))


def _hebb(patterns: Array, used: Array) -> Couplings:
    spins = jnp.where(used[:, None], 2 * patterns - 1, 0.0)
    return Couplings(spins.T @ spins, 1.0 / patterns.shape[1])
