"""How memories, their dynamics, sequences and stability are called, with numbers drawn at random."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import hopfield
from hopfield import Couplings, Memory, dynamics, spaces, trajectory
from hopfield.dynamics import asynchronous, regimes
from hopfield.networks import AsymmetricCouplings, bidirectional, sequences
from hopfield.observables import energies, stability
from hopfield.similarities import SquaredDistance
from tests.hopfield.contracts.public import Call, Case, Shape, all_nan
from tests.hopfield.contracts.public_draws import spins

Draw = Callable[[np.random.Generator, Shape], Call]

NEURONS = (8,)
KEY = jax.random.key(0)


def _classical(rng: np.random.Generator, neurons: int) -> Memory:
    return Memory(spins(rng, (3, neurons)), separation="linear", space=spaces.Spins())


def _couplings(rng: np.random.Generator, neurons: int) -> Couplings:
    return hopfield.hebb_couplings(_classical(rng, neurons))


def _asymmetric(rng: np.random.Generator, neurons: int) -> AsymmetricCouplings:
    return AsymmetricCouplings(rng.normal(size=(neurons, neurons)))


def _modern(rng: np.random.Generator, neurons: int, separation: str = "softmax") -> Memory:
    return Memory(rng.normal(size=(3, neurons)), rng.uniform(0.5, 2.0), separation=separation)


def _on_state(name: str, function: Callable, model: Callable, nan: tuple[int, ...] = (1,), **options: Any) -> Case:
    """A function of a model and a state."""
    shows = options.pop("shows", all_nan)

    def draw(rng: np.random.Generator, shape: Shape) -> Call:
        found = model(rng, *shape)
        state = spins(rng, shape) if isinstance(found.space, spaces.Spins) else rng.normal(size=shape)
        drawn = {name: value(rng) if callable(value) else value for name, value in options.items()}
        return Call(function, (found, state), drawn)

    return Case(name, draw, nan=nan, shows=shows, shapes=(NEURONS,))


def _not_a_number(found: dynamics.Retrieval) -> bool:
    return int(found.status) == dynamics.NOT_A_NUMBER and bool(jnp.any(jnp.isnan(found.state)))


def _retrievals() -> list[Case]:
    cases = []
    for kind in dynamics.DYNAMICS:
        for model in (_classical, _couplings):
            key = {"key": lambda rng: jax.random.key(rng.integers(99))} if kind == "asynchronous" else {}
            options = {"dynamics": kind, "max_steps": lambda rng: int(rng.integers(5, 50)), **key}
            name = "hopfield.dynamics.retrieve"
            cases.append(_on_state(name, hopfield.retrieve, model, shows=_not_a_number, **options))
            if kind != "synchronous":
                options = {"temperature": lambda rng: rng.uniform(0.2, 2.0), "key": KEY, "dynamics": kind}
                options |= {"sweeps": lambda rng: int(rng.integers(2, 9)), "burn_in": lambda rng: int(rng.integers(3))}
                cases.append(_on_state("hopfield.dynamics.glauber", hopfield.glauber, model, **options))
    ladder = {"key": KEY, "temperatures": jnp.array([0.4, 0.9, 2.0])}
    for model in (_classical, _couplings):
        shows = lambda end: all_nan(end.states)
        cases.append(_on_state("hopfield.dynamics.temper", dynamics.temper, model, shows=shows, sweeps=5, **ladder))
        shows = lambda end: all_nan(end.state)
        cases.append(_on_state("hopfield.dynamics.anneal", dynamics.anneal, model, shows=shows, **ladder))
    thermal = {"key": KEY, "temperature": lambda rng: rng.uniform(0.2, 2.0), "samples": 3, "every": 2, "burn_in": 2}
    shows = lambda chain: all_nan(chain.states)
    cases.append(_on_state("hopfield.dynamics.langevin", dynamics.langevin, _modern, shows=shows, **thermal))
    for separation in ("softmax", "entmax:1.5"):

        def model(rng, neurons, separation=separation):
            return _modern(rng, neurons, separation)

        cases += [
            _on_state("hopfield.dynamics.retrieve", hopfield.retrieve, model, shows=_not_a_number, rtol=1e-3),
            _on_state("hopfield.dynamics.fixed_point", hopfield.fixed_point, model),
            _on_state("hopfield.dynamics.trajectory", hopfield.trajectory, model, steps=3),
        ]
    return cases


def _relaxations() -> list[Case]:
    def relax(model, state):
        return asynchronous.relax(model, state, dynamics="asynchronous", key=KEY, max_steps=20)

    def swept(model, state):
        return asynchronous.sweep(model, state, jnp.arange(state.size))

    cases = []
    for model in (_classical, _couplings):
        cases += [
            _on_state(
                "hopfield.dynamics.relax",
                relax,
                model,
                shows=lambda end: all_nan(end.state) and not bool(end.converged),
            ),
            _on_state("hopfield.dynamics.sweep", swept, model),
            _on_state("hopfield.dynamics.unstable", asynchronous.unstable, model, nan=()),
        ]
    return cases


def _verbs() -> list[Case]:
    """Answers of a model about one state."""
    cases = []
    for verb in ("scores", "weights", "shares", "energy", "read", "update"):
        for separation in ("softmax", "entmax", "linear", "epanechnikov"):

            def model(rng, neurons, separation=separation):
                return _modern(rng, neurons, separation) if separation != "epanechnikov" else _ball(rng, neurons)

            cases.append(_on_state(f"hopfield.memory.Memory.{verb}", getattr(Memory, verb), model))
    exponential = lambda rng, neurons: Memory(spins(rng, (3, neurons)), separation="exponential", space="spins")
    for function, model in ((energies.bare_energy, _modern), (energies.log_energy, exponential)):
        cases.append(_on_state(f"{energies.__name__}.{function.__name__}", function, model))
    statistics = lambda memory, state: memory.statistics(state)._replace(target_weight=None)
    cases.append(_on_state("hopfield.memory.Memory.statistics", statistics, _modern))
    for verb in ("energy", "update", "local_field"):
        for name, model in (("Memory", _classical), ("Couplings", _couplings)):
            kind = Memory if name == "Memory" else Couplings
            function = getattr(kind, verb)
            cases.append(_on_state(f"{kind.__module__}.{name}.{verb}", function, model))
    for verb in ("update", "local_field"):
        function = getattr(AsymmetricCouplings, verb)
        cases.append(_on_state(f"hopfield.networks.AsymmetricCouplings.{verb}", function, _asymmetric))
    return cases


def _sequences() -> list[Case]:
    """Answers of memories of sequences and of pairs about a state."""

    def follow(function: Callable) -> Draw:
        def draw(rng: np.random.Generator, shape: Shape) -> Call:
            model = sequences.SequenceMemory(spins(rng, (3, *shape)))
            return Call(function, (model, spins(rng, shape)), {})

        return draw

    def pair(function: Callable) -> Draw:
        def draw(rng: np.random.Generator, shape: Shape) -> Call:
            model = bidirectional.BidirectionalMemory(spins(rng, (3, *shape)), spins(rng, (3, *shape)))
            return Call(function, (model, spins(rng, shape), spins(rng, shape)), {})

        return draw

    single, double = sequences.SequenceMemory, bidirectional.BidirectionalMemory
    name, other = "hopfield.networks", "hopfield.networks.BidirectionalMemory"
    found = {
        f"{name}.SequenceMemory.{verb}": follow(getattr(single, verb)) for verb in ("overlaps", "local_field", "update")
    }
    found["hopfield.dynamics.trajectory"] = follow(lambda model, state: trajectory(model, state, 3))
    cases = [Case(verb, draw, nan=(1,), shapes=(NEURONS,)) for verb, draw in found.items()]
    pairs = [Case(f"{other}.energy", pair(double.energy), nan=(1, 2), shapes=(NEURONS,))]
    return [
        *cases,
        *pairs,
        Case(f"{other}.update", pair(double.update), nan=(1,), shapes=(NEURONS,)),
    ]


def _ball(rng: np.random.Generator, neurons: int) -> Memory:
    stored = 0.1 * rng.normal(size=(3, neurons))
    space = spaces.Euclidean(confined=False)
    return Memory(stored, 0.1, similarity=SquaredDistance(), separation="epanechnikov", space=space)


def _diagnosed() -> list[Case]:
    def jacobian(memory, state):
        return stability.update_jacobian(memory, state).dense()

    def eigenpair(memory, state):
        return stability.largest_eigenvalue(stability.update_jacobian(memory, state), jax.random.key(0))

    def kind(found: stability.Regime) -> bool:
        return int(found.kind) == regimes.NOT_A_NUMBER and all_nan(found)

    held = lambda network, state: stability.stabilities(network, jnp.asarray(state)[None])
    cases = [_on_state("hopfield.observables.stability.stabilities", held, _couplings)]
    for separation in ("softmax", "entmax:1.5"):

        def model(rng, neurons, separation=separation):
            return _modern(rng, neurons, separation)

        cases += [
            _on_state("hopfield.observables.stability.UpdateJacobian.dense", jacobian, model),
            _on_state("hopfield.observables.stability.largest_eigenvalue", eigenpair, model),
            _on_state("hopfield.observables.stability.susceptibility", stability.susceptibility, model),
            _on_state("hopfield.observables.stability.regime", stability.regime, model, shows=kind),
        ]
    return cases


CASES: tuple[Case, ...] = (
    *_retrievals(),
    *_relaxations(),
    *_verbs(),
    *_sequences(),
    *_diagnosed(),
)
