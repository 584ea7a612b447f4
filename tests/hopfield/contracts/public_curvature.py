"""How the public functions of bilinear forms and of curvature are called."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from hopfield import fisher, metrics
from hopfield._pytrees import unchecked
from hopfield.metrics._spectra import singular_values
from tests.hopfield.contracts.public import Case
from tests.hopfield.contracts.public_draws import any_nan, case, definite, normal, positive


def _full(matrix) -> metrics.Full:
    return unchecked(metrics.Full, matrix=matrix)


METRICS = {
    "Diagonal": (lambda entries: unchecked(metrics.Diagonal, entries=entries), normal(4)),
    "Full": (_full, normal(4, 4)),
    "LowRank": (lambda factor: unchecked(metrics.LowRank, factor=factor), normal(2, 4)),
    "Scaled": (lambda scale: unchecked(metrics.Scaled, width=4, scale=scale), positive()),
    "Projected": (lambda w: unchecked(metrics.Projected, w_query=w, w_key=w), normal(4, 2)),
    "BlockDiagonal": (lambda w: metrics.BlockDiagonal(_full(w), metrics.Euclidean(2)), normal(2, 2)),
}
"""Metrics of any numbers, which constructors would refuse."""


def _method(build: Callable, name: str) -> Callable:
    return lambda leaf, *rows: getattr(build(leaf), name)(*rows)


def _metric_cases(name: str) -> list[Case]:
    build, leaf = METRICS[name]
    one, rows = f"metrics.{name}", (normal(3, 4), normal(5, 4))
    cases = [
        case(f"{one}.left", _method(build, "left"), leaf, rows[0], nan=(1,)),
        case(f"{one}.right", _method(build, "right"), leaf, rows[1], nan=(1,)),
        case(f"{one}.form", _method(build, "form"), leaf, *rows),
        case(f"{one}.dense", _method(build, "dense"), leaf),
    ]
    return cases + (
        [case(f"{one}.split", _method(build, "split"), leaf, rows[0], 0, nan=())] if name == "BlockDiagonal" else []
    )


EUCLIDEAN = metrics.Euclidean(4)
BILINEAR = (
    *(one for name in METRICS for one in _metric_cases(name)),
    case("metrics.Euclidean.left", EUCLIDEAN.left, normal(3, 4)),
    case("metrics.Euclidean.right", EUCLIDEAN.right, normal(3, 4)),
    case("metrics.Euclidean.form", EUCLIDEAN.form, normal(3, 4), normal(5, 4)),
    case("metrics.Euclidean.dense", EUCLIDEAN.dense),
    case("metrics.angle", metrics.angle, normal(4), normal(4), definite(4), nan=(0, 1)),
    case("metrics.distance", metrics.distance, normal(4), normal(4), definite(4), nan=(0, 1)),
    case("metrics.inner", metrics.inner, normal(4), normal(4), definite(4), nan=(0, 1)),
    case("metrics.norm", metrics.norm, normal(3, 4), definite(4), nan=(0,)),
    case("metrics.lower", metrics.lower, normal(3, 4), definite(4), nan=(0,)),
    case("metrics.raise_index", metrics.raise_index, normal(3, 4), definite(4), nan=(0,)),
    case("metrics.components", metrics.components, normal(3, 4), definite(4), nan=(0,)),
    case("metrics.augmented", metrics.augmented, normal(3, 4)),
    case("metrics.change_of_basis", metrics.change_of_basis, definite(4), normal(4, 3), nan=(1,)),
    case("metrics.contract", lambda a, b: metrics.contract("ia,ja->ij", Q=a, K=b), normal(3, 4), normal(5, 4)),
    case("metrics.Contraction.__call__", metrics.CONTRACTIONS["scores"], normal(3, 4), normal(5, 4)),
    *(
        case(f"metrics.{name}", getattr(metrics, name), definite(4), nan=())
        for name in (
            "inverse",
            "condition_number",
            "eigenvalues",
            "rank",
            "volume_element",
            "symmetric_part",
            "antisymmetric_part",
            "is_symmetric",
            "is_positive_definite",
            "Full",
            "LowRank",
            "as_metric",
        )
    ),
    case("metrics._spectra.singular_values", lambda g: singular_values(metrics.Full(g)), definite(4), nan=()),
    case("metrics.Diagonal", metrics.Diagonal, normal(4), nan=()),
    case("metrics.Projected", metrics.Projected, normal(4, 2), normal(4, 2), nan=()),
    case("metrics.BlockDiagonal", lambda g: metrics.BlockDiagonal(metrics.Full(g)), definite(3), nan=()),
)

OUTPUTS = normal(5, 3)
LIKELIHOODS = {
    "Categorical": (fisher.Categorical(), lambda rng: rng.integers(0, 3, 5)),
    "Bernoulli": (fisher.Bernoulli(), lambda rng: rng.integers(0, 2, (5, 3)).astype(float)),
    "Gaussian": (fisher.Gaussian(0.7), normal(5, 3)),
    "MeanVariance": (fisher.MeanVariance(), normal(5, 2)),
    "Poisson": (fisher.Poisson(), lambda rng: rng.integers(0, 4, (5, 3)).astype(float)),
}


def _likelihood_cases(name: str) -> list[Case]:
    family, targets = LIKELIHOODS[name]
    outputs = normal(5, 4) if name == "MeanVariance" else OUTPUTS
    one, places = f"fisher.{name}", (0,) if name == "Categorical" else (0, 1)
    cases = [
        case(f"{one}.log_probability", family.log_probability, outputs, targets, nan=places),
        case(f"{one}.score", family.score, outputs, targets, nan=places),
        case(f"{one}.possible", family.possible, outputs, targets, nan=()),
        case(f"{one}.check", family.check, outputs, targets, nan=()),
        case(f"{one}.fisher_product", family.fisher_product, outputs, outputs, nan=(1,)),
        case(f"{one}.mean", family.mean, outputs, nan=() if name == "MeanVariance" else (0,)),
        case(f"{one}.sample", lambda outputs: family.sample(jax.random.key(0), jnp.asarray(outputs)), outputs, nan=()),
    ]
    # The Fisher information of a Gaussian's mean does not depend on it.
    whole = () if name in ("Gaussian", "MeanVariance") else (0,)
    cases += [case(f"{one}.fisher_factor", family.fisher_factor, outputs, nan=whole)]
    if name != "Categorical":
        cases += [case(f"{one}.variance_of_score", family.variance_of_score, outputs, nan=whole)]
    return cases


def _model(params, inputs):
    return inputs @ params


def _fisher(params, inputs, **options) -> fisher.Fisher:
    return fisher.fisher(_model, jnp.asarray(params), likelihood="categorical", inputs=jnp.asarray(inputs), **options)


def _of_fisher(name: str, **options) -> Callable:
    return lambda params, inputs, *vector: getattr(_fisher(params, inputs), name)(*map(jnp.asarray, vector), **options)


def _multiplied(x: dict) -> dict:
    return jax.tree.map(lambda leaf: 2.0 * leaf, x)


def _cg(b, damping):
    return fisher.conjugate_gradient(_multiplied, jnp.asarray(b), damping=damping)


def _solved(kind: str, part: int, method: str = "solve") -> Callable:
    """A block of a structured form, or the form itself where `part` is negative."""

    def function(params, inputs, vector):
        form = getattr(_fisher(params, inputs), kind)()
        return getattr(form if part < 0 else form.blocks[part], method)(
            jnp.asarray(vector), *[0.1] * (method == "solve")
        )

    return function


PROBLEM = (normal(4, 3), normal(6, 4))
VECTOR = normal(4, 3)
CURVATURE = (
    *(one for name in LIKELIHOODS for one in _likelihood_cases(name)),
    case("fisher.fisher", _fisher, *PROBLEM, shows=any_nan),
    *(case(f"fisher.Fisher.{name}", _of_fisher(name), *PROBLEM) for name in ("rows", "kernel", "to_dense")),
    *(case(f"fisher.Fisher.{name}", _of_fisher(name), *PROBLEM) for name in ("diagonal", "trace")),
    *(
        case(f"fisher.Fisher.{name}", _of_fisher(name), *PROBLEM, shows=any_nan)
        for name in ("block_diagonal", "kronecker")
    ),
    case("fisher.Fisher.over_rows", _of_fisher("over_rows", statistic=jnp.sum), *PROBLEM),
    case("fisher.Fisher.quadratic", _of_fisher("quadratic"), *PROBLEM, VECTOR),
    *(
        case("fisher.Fisher.solve", _of_fisher("solve", damping=0.1, solver=solver), *PROBLEM, VECTOR)
        for solver in fisher.SOLVERS
    ),
    case("fisher.conjugate_gradient", _cg, VECTOR, 0.1),
    case("fisher.dense_solve", fisher.dense_solve, definite(4), normal(4), 0.1),
    case("fisher.BlockDiagonal.solve", _solved("block_diagonal", -1), *PROBLEM, VECTOR),
    case("fisher.BlockDiagonal.to_dense", lambda p, x: _fisher(p, x).kronecker().to_dense(), *PROBLEM),
    *(
        case(f"fisher.{block}.{method}", _solved(kind, 0, method), *PROBLEM, VECTOR)
        for block, kind in (("DenseBlock", "block_diagonal"), ("KroneckerBlock", "kronecker"))
        for method in ("solve", "product")
    ),
    case("fisher.DiagonalBlock.solve", lambda d, v: fisher.DiagonalBlock(d).solve(v, 0.1), positive(4), normal(4)),
    case("fisher.DiagonalBlock.product", lambda d, v: fisher.DiagonalBlock(d).product(v), positive(4), normal(4)),
)
