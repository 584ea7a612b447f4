"""Baselines: scikit-learn's support vector machine and random forest, tuned on the validation set of the networks."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

from experiments.training.tasks import Split


def baseline_accuracies(name: str, data: Split, seed: int) -> dict:
    """Validation and test accuracy of a baseline fitted to the training set.

    Args:
        name: "svm" (radial basis functions; C and γ from a grid) or "forest" (leaf size and features of a split).
        data: of a task of single vectors.
        seed: of the forest.

    Returns:
        accuracy: on the validation set, of the best of the grid; test_accuracy: of that one.
    """
    if name == "svm":
        scale = 1.0 / data.train.inputs.shape[-1]
        models = [SVC(C=c, gamma=g * scale) for c in (0.1, 1.0, 10.0, 100.0) for g in (0.1, 0.3, 1.0, 3.0)]
    else:
        options = [(leaf, share) for leaf in (1, 3) for share in ("sqrt", 0.3)]
        models = [
            RandomForestClassifier(200, min_samples_leaf=leaf, max_features=share, random_state=seed)  # pyright: ignore[reportArgumentType]
            for leaf, share in options
        ]
    train, held, test = (part.inputs[:, 0] for part in (data.train, data.validation, data.test))
    scores = [model.fit(train, data.train.targets).score(held, data.validation.targets) for model in models]
    best = models[int(np.argmax(scores))]
    return {"accuracy": float(max(scores)), "test_accuracy": float(best.score(test, data.test.targets))}
