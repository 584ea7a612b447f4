"""Diagram of the classical network over M/N and T, which samples by heat-bath sweeps."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.phase_diagram import theory
from experiments.phase_diagram.diagrams.diagram import FROZEN, Diagram, Structure
from experiments.shared import convergence
from hopfield import glauber, hebb_couplings
from hopfield.theory import classical as network


class Classical(Diagram):
    """Map over T, with replica-symmetric lines."""

    words = ("retrieval", "other pattern", "spin glass", "paramagnet")
    xlabel = r"load $\alpha = M/N$"
    theory = "replica-symmetric, N → ∞; wrong below the Almeida-Thouless line and in all of the spin glass"

    def work(self, neurons: int, num_patterns: int, sweeps: int) -> int:
        return sweeps * neurons**2

    def cost(self, program: Structure) -> float:
        return program.padding * program.neurons**2 + super().cost(program._replace(neurons=program.neurons + 500))

    def query(self, program: Structure, build: Callable, stored: Array, used: Array, key: Array) -> Callable:
        """Heat-bath sweeps from pattern i: a burn-in, then two time averages of half the sweeps each.

        Their product averaged over neurons is the self-overlap q. A pattern holds the state where more than half of it
        is along that pattern, m² > q/2: at the end of the retrieval phase the replica theory has m²/q between 0.83 and
        0.95, while the remanence of a spin glass has 0.2.
        """
        couplings = hebb_couplings(build(stored, mask=used))
        order_key, chain_key = jax.random.split(key)
        rows = jnp.where(used[:, None], stored, 0.0)
        half = program.sweeps // 2

        def window(state: Array, i: Array, temperature: Any, number: int, burn_in: int) -> tuple[Array, Array]:
            own = jax.random.fold_in(jax.random.fold_in(chain_key, i), number)
            orders = jax.random.fold_in(order_key, number)
            found = glauber(couplings, state, own, temperature, sweeps=half, burn_in=burn_in, order_key=orders)
            return found.state, jnp.round(half * found.mean)

        def query(i: Array, temperature: Any) -> dict[str, Array]:
            state, first = window(stored[i], i, temperature, 0, program.burn_in)
            _, second = window(state, i, temperature, 1, 0)
            # sums of whole numbers: sums of averages are off by 1e-5 in float32, many errors of an overlap close to 1
            overlaps = rows @ (first + second) / (2 * half * program.neurons)
            q = jnp.sum(first * second) / (half**2 * program.neurons)
            held = jnp.where(overlaps[i] ** 2 > q / 2, 0, jnp.where(jnp.max(overlaps**2) > q / 2, 1, 2))
            return {
                "kind": jnp.where(q > FROZEN, held, 3),
                "overlap": overlaps[i],
                "self_overlap": q,
                "drift": rows[i] @ (second - first) / (half * program.neurons),
                "step_limit": jnp.zeros((), bool),
            }

        return query

    def retrieves(self, neurons: int, loads: np.ndarray, temperatures: np.ndarray) -> np.ndarray:
        cold = np.minimum(temperatures, 1.0)  # there is none from T = 1 on
        return (temperatures < 1) & (loads < network.spinodal_load(cold))

    def lines(self, end: str, loads: np.ndarray, heights: np.ndarray, neurons: int) -> list[tuple]:
        """T_M and T_c as loads of a temperature, since they bend back; T_g as a temperature of a load.

        All are replica-symmetric: that T_M and T_c bend back at low T is an artefact of it, below T_R, where retrieval
        states are not. Spins are counted as frozen from self-overlap q = FROZEN on, which is below T_g.
        """
        if end != convergence.REST:
            return []
        cold, most = heights[heights < 1], theory.zero_temperature()["one_step"]
        return [
            (network.spinodal_load(cold), cold, "$T_M$: retrieval ends (RS)"),
            (network.thermodynamic_load(cold), cold, "$T_c$: retrieval is stable below (RS)"),
            (loads, network.spin_glass_temperature(loads), r"$T_g = 1 + \sqrt{\alpha}$: spins freeze"),
            (loads, theory.frozen_temperature(loads), f"self-overlap $q = {FROZEN:g}$: frozen here (RS)"),
            (*theory.broken_symmetry(), "$T_R$: symmetry breaks below (AT)"),
            (most, heights[0], rf"$\alpha_c = {most:.6f}$ at $T = 0$ (1RSB)"),
        ]


DIAGRAM = Classical()
