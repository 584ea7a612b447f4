"""Dynamics: retrieval, asynchronous sweeps, heat-bath dynamics and differentiable fixed points.

By module:

    retrieval     updates until a state stops, per query; trajectories
    regimes       what holds a state: one pattern, a mixture, the mean of all
    settling      the end of a run, its words and advice, and the loop of retrieval
    asynchronous  one neuron at a time: sweeps, and relaxation by events
    heat_bath     Glauber dynamics at a temperature, and averages along it
    annealing     parallel tempering and simulated annealing, for states of least energy
    langevin      continuous states at a temperature
    fixed_points  fixed points of an update, differentiable by the implicit function theorem
    models        protocols: the methods by which dynamics move a memory, a network or a user's model
"""

from hopfield._arguments import public
from hopfield.dynamics.annealing import Annealed, Tempered, anneal, temper
from hopfield.dynamics.asynchronous import ORDERS, relax, sweep, unstable, visiting_order
from hopfield.dynamics.fixed_points import fixed_point
from hopfield.dynamics.heat_bath import HeatBath, glauber
from hopfield.dynamics.langevin import Thermal, langevin
from hopfield.dynamics.models import Model, SpinModel, Updates
from hopfield.dynamics.regimes import REGIMES
from hopfield.dynamics.retrieval import retrieve, trajectory
from hopfield.dynamics.settling import ADVICE, CONVERGED, CYCLE, NOT_A_NUMBER, STATUS, STEP_LIMIT, Retrieval
from hopfield.memory import DYNAMICS

__all__ = [
    "ADVICE",
    "CONVERGED",
    "CYCLE",
    "DYNAMICS",
    "NOT_A_NUMBER",
    "ORDERS",
    "REGIMES",
    "STATUS",
    "STEP_LIMIT",
    "Annealed",
    "HeatBath",
    "Model",
    "Retrieval",
    "SpinModel",
    "Tempered",
    "Thermal",
    "Updates",
    "anneal",
    "fixed_point",
    "glauber",
    "langevin",
    "relax",
    "retrieve",
    "sweep",
    "temper",
    "trajectory",
    "unstable",
    "visiting_order",
]
__dir__ = public(__all__)
