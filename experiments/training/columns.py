"""Columns of the table of training, each with its meaning and unit."""

from experiments.columns import Column, shared

COLUMNS = shared("task", "layer", "metric", "separation", "optimiser", "seed_index") | {
    "learning_rate": Column("learning rate of the run"),
    "damping": Column("damping of the run"),
    "weight_decay": Column("weight decay of the run"),
    "noise": Column("noise of the run"),
    "epoch": Column("epoch of the row", kind=int),
    "train_loss": Column("training loss", "nats"),
    "loss": Column("loss on the validation set", "nats"),
    "accuracy": Column("accuracy on the validation set", "0 to 1"),
    "auc": Column("area under the ROC curve on the validation set, of two classes and finite scores alone", "0 to 1"),
    "stopped": Column("whether the row repeats the last of a training that had ended", kind=bool),
    "diverged": Column("whether the loss ended infinite, NaN or at ten times that of the start", kind=bool),
    "diversity": Column("diversity of the heads' weights"),
    "condition": Column("largest over smallest singular value of the metrics"),
    "beta_*": Column("β of head *", "1/scores"),
    "entropy_*": Column("entropy of the weights of head *", "nats"),
    "effective_*": Column("effective number of patterns of head *"),
    "metric_largest_*": Column("largest singular value of the metric of head *"),
    "metric_smallest_*": Column("smallest singular value of the metric of head *"),
    "best_epoch": Column("epoch of the lowest validation loss so far", kind=int),
    "best_loss": Column("lowest validation loss so far", "nats"),
    "test_accuracy": Column("accuracy on the test set at best_epoch", "0 to 1"),
    "test_auc": Column("area under the ROC curve on the test set at best_epoch", "0 to 1"),
    "optimiser_residual": Column("what the optimiser's solver left over in its last step, relative"),
    "optimiser_iterations": Column("iterations of the optimiser's solver in its last step", "count"),
    "optimiser_damping": Column("damping of the optimiser's last step"),
    "optimiser_accepted": Column("1 if the optimiser took its last step, 0 otherwise"),
    "optimiser_finite": Column("1 if the optimiser's last step was finite, 0 otherwise"),
}
