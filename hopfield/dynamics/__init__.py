"""Dynamics: retrieval, asynchronous sweeps, heat-bath dynamics and differentiable fixed points."""

from hopfield.dynamics.asynchronous import ORDERS, relax, sweep, unstable, visiting_order
from hopfield.dynamics.fixed_points import fixed_point
from hopfield.dynamics.heat_bath import HeatBath, glauber
from hopfield.dynamics.models import Model, SpinModel, Updates
from hopfield.dynamics.retrieval import Retrieval, retrieve, trajectory
from hopfield.dynamics.settling import CONVERGED, CYCLE, NOT_A_NUMBER, STATUS, STEP_LIMIT
from hopfield.memory import DYNAMICS

__all__ = [
    "CONVERGED",
    "CYCLE",
    "DYNAMICS",
    "NOT_A_NUMBER",
    "ORDERS",
    "STATUS",
    "STEP_LIMIT",
    "HeatBath",
    "Model",
    "Retrieval",
    "SpinModel",
    "Updates",
    "fixed_point",
    "glauber",
    "relax",
    "retrieve",
    "sweep",
    "trajectory",
    "unstable",
    "visiting_order",
]
