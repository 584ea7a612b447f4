"""Columns of the table of optimisers, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("rule", "sample") | {
    "batch": Column("full or mini", kind=str),
    "conditioning": Column("widest over narrowest input"),
    "rate": Column("learning rate"),
    "friction": Column("1 − momentum"),
    "damping": Column("damping that was chosen; what its rule starts from"),
    "curvature": Column("of L-BFGS: tolerance of the slope in its line search"),
    "memory": Column("of L-BFGS: updates that it keeps", "count"),
    "edge": Column("numbers that the search chose at an end of their range", kind=str),
    "tuned": Column("whether trials reached the target", kind=bool),
    "search_trials": Column("trials that chose the numbers", "count", kind=int),
    "search_trials_diverged": Column("trials that diverged", "count", kind=int),
    "diverged": Column("whether the loss ended infinite, NaN or at ten times that of the start", kind=bool),
    "optimum": Column("least loss known", "nats"),
    "target": Column("loss to reach", "nats"),
    "steps": Column("steps to the target; empty where it was not reached", "count", kind=int),
    "steps_done": Column("steps of the run", "count", kind=int),
    "loss": Column("loss at the end", "nats"),
    "held_loss": Column("loss on held-out examples at the target, or at the end", "nats"),
    "held_accuracy": Column("accuracy on held-out examples at the target, or at the end", "0 to 1"),
    "held_best": Column("least loss on held-out examples along the way", "nats"),
    "last_damping": Column("damping at the target, or at the end"),
    "iterations": Column("iterations of the solver, mean over steps up to the target", "count"),
    "accepted": Column("share of steps up to the target that were accepted", "0 to 1"),
    "residual": Column("what the solver left over, relative, mean over steps up to the target"),
    "seconds": Column("wall time to the target, median of repetitions; _low and _high their range", "s"),
    "step_seconds": Column("wall time of a step", "s"),
    "product_ratio": Column(
        "time of a Fisher-vector product over that of a gradient; product_low and product_high its range"
    ),
    "product_low": Column("least product_ratio of repetitions"),
    "product_high": Column("largest product_ratio of repetitions"),
    "curve": Column("the run: losses by step, as JSON", kind=str),
}
