"""Mutations: forty small faults, each put into a copy of the tree, and whether the tests see it.

    python scripts/mutations.py                all of them, a line each; the exit code is 1 if one survives
    python scripts/mutations.py 3 17           those two
    python scripts/mutations.py --all-tests    with every test, not only the ones named beside each

A mutation is a text of one file, another in its place, and the folders of tests that are asked. A text that is no
longer there is said: the mutation is to be written anew for the code that took its place.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
COPIED = (
    "hopfield",
    "experiments",
    "conf",
    "tests",
    "scripts",
    "docs",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
)
LONGEST = 900.0
"""Seconds after which tests that do not end count as having seen the fault."""


class Mutation(NamedTuple):
    """One fault: in `file`, the first `old` becomes `new`; `tests` are the folders or files asked, below tests/."""

    file: str
    old: str
    new: str
    tests: str


MUTATIONS = (
    Mutation("hopfield/couplings.py", "return -0.5 * self.scale", "return -self.scale", "hopfield/test_couplings.py"),
    Mutation("hopfield/couplings.py", "return cache + (new - state[i])", "return cache + new", "hopfield/dynamics"),
    Mutation(
        "hopfield/couplings.py",
        "return jnp.where(jnp.eye(gram.shape[0], dtype=bool), 0.0, gram)",
        "return gram",
        "hopfield/test_couplings.py",
    ),
    Mutation(
        "hopfield/memory.py",
        "return self.space.potential(state) - potential / self.beta",
        "return self.space.potential(state) - potential",
        "hopfield/test_memory.py",
    ),
    Mutation(
        "hopfield/memory.py",
        "return scores if self.mask is None else jnp.where(self.mask, scores, 0.0)",
        "return scores",
        "hopfield/test_memory.py hopfield/contracts",
    ),
    Mutation(
        "hopfield/memory.py",
        "return 0.5 * self.separation.potential_difference(up, down",
        "return self.separation.potential_difference(up, down",
        "hopfield/test_memory.py",
    ),
    Mutation(
        "hopfield/similarities.py",
        "return -0.5 * jnp.sum(difference * difference, axis=1)",
        "return -jnp.sum(difference * difference, axis=1)",
        "hopfield/test_similarities.py",
    ),
    Mutation(
        "hopfield/similarities.py",
        "return (new - old) * (column - 0.5 * (new + old))",
        "return (new - old) * (column + 0.5 * (new + old))",
        "hopfield/test_similarities.py hopfield/contracts",
    ),
    Mutation(
        "hopfield/separations/polynomial.py",
        "return self._base(z, mask) ** (self.degree - 1)",
        "return self._base(z, mask) ** self.degree",
        "hopfield/separations",
    ),
    Mutation(
        "hopfield/separations/sparse.py",
        "return 0.5 * jnp.sum(p - p * p)",
        "return jnp.sum(p - p * p)",
        "hopfield/separations",
    ),
    Mutation(
        "hopfield/separations/simplex.py",
        "(1.0 / (exponent + 1.0))) / jnp.sum(powers)",
        "(1.0 / (exponent + 1.0)))",
        "hopfield/separations",
    ),
    Mutation(
        "hopfield/separations/exponential.py",
        "return Stream(shift, p * a.mass + q * b.mass,",
        "return Stream(shift, p * a.mass + b.mass,",
        "hopfield/separations hopfield/large",
    ),
    Mutation(
        "hopfield/attention/masks.py",
        "return columns <= rows",
        "return columns < rows",
        "hopfield/attention/test_masks.py",
    ),
    Mutation(
        "hopfield/attention/masks.py",
        "return (columns >= rows - self.left) & (columns <= rows + self.right)",
        "return (columns > rows - self.left) & (columns <= rows + self.right)",
        "hopfield/attention/test_masks.py",
    ),
    Mutation(
        "hopfield/attention/positions.py",
        "slopes = [2.0 ** (-8.0 * (i + 1) / below)",
        "slopes = [2.0 ** (-8.0 * i / below)",
        "hopfield/attention/test_positions.py",
    ),
    Mutation(
        "hopfield/layers/_cache.py",
        "following = first + tokens\n",
        "following = first + tokens + 1\n",
        "hopfield/layers/test_attention.py",
    ),
    Mutation(
        "hopfield/geometry/induced.py",
        "return 0.5 * beta**3 * jnp.einsum",
        "return beta**3 * jnp.einsum",
        "hopfield/geometry",
    ),
    Mutation(
        "hopfield/geometry/manifolds.py",
        "return 0.5 * (jnp.swapaxes(slope, 1, 2) + slope - jnp.transpose(slope, (2, 0, 1)))",
        "return 0.5 * (jnp.swapaxes(slope, 1, 2) + slope + jnp.transpose(slope, (2, 0, 1)))",
        "hopfield/geometry",
    ),
    Mutation(
        "hopfield/fisher/likelihoods.py",
        "return -0.5 * jnp.sum(square + jnp.log(2 * jnp.pi * self.variance), axis=-1)",
        "return -0.5 * jnp.sum(square, axis=-1)",
        "hopfield/fisher",
    ),
    Mutation(
        "hopfield/optim/_safeguards.py",
        "return scaled * (0.5 * scaled * self.bend - self.slope)",
        "return scaled * (scaled * self.bend - self.slope)",
        "hopfield/optim",
    ),
    Mutation(
        "hopfield/optim/kronecker.py",
        "start = 1 - decay ** (state.averaged + 1.0)",
        "start = 1 - decay ** state.averaged",
        "hopfield/optim",
    ),
    Mutation(
        "hopfield/theory/classical.py",
        "terms = (neurons - 1) * (num_patterns - 1)",
        "terms = neurons * (num_patterns - 1)",
        "hopfield/theory",
    ),
    Mutation(
        "hopfield/theory/annealed.py",
        "betaln(0.5, (neurons - 1) / 2), 1.0",
        "betaln(0.5, neurons / 2), 1.0",
        "hopfield/theory",
    ),
    Mutation(
        "hopfield/theory/spherical.py",
        "return np.log(num_patterns - 1)",
        "return np.log(num_patterns)",
        "hopfield/theory",
    ),
    Mutation(
        "hopfield/observables/correlations.py",
        "time * jnp.sqrt(2 * share), window)",
        "time * jnp.sqrt(4 * share), window)",
        "hopfield/observables",
    ),
    Mutation(
        "hopfield/observables/energies.py",
        "return potential / memory.beta + 0.5 * jnp.max(square)",
        "return potential / memory.beta + jnp.max(square)",
        "hopfield/observables",
    ),
    Mutation(
        "hopfield/memories/unlearning.py",
        "return matrix - dreamt * hollow * jnp.outer(end, end)",
        "return matrix + dreamt * hollow * jnp.outer(end, end)",
        "hopfield/memories",
    ),
    Mutation(
        "hopfield/dynamics/asynchronous.py",
        "against = ~(model.local_field(state) * state >= 0)",
        "against = ~(model.local_field(state) * state > 0)",
        "hopfield/dynamics",
    ),
    Mutation("experiments/runner/ledger.py", "    os.fsync(file)\n", "", "experiments/runner/test_record.py"),
    Mutation(
        "experiments/runner/ledger.py",
        "if match is None or _checksum(match[1]).encode() != match[2]:",
        "if match is None:",
        "experiments/runner/test_record.py",
    ),
    Mutation(
        "experiments/runner/ledger.py",
        "return [point for key, point in wanted.items() if key not in self._rows]",
        "return list(wanted.values())",
        "experiments/runner/test_resume.py",
    ),
    Mutation(
        "experiments/shared/draws.py",
        "for number in numbers])",
        "for number in numbers[1:]])",
        "experiments/shared/test_draws.py",
    ),
    Mutation(
        "experiments/shared/draws.py",
        'return jnp.arange(program.padding) < draw["num_patterns"]',
        'return jnp.arange(program.padding) <= draw["num_patterns"]',
        "experiments/shared/test_draws.py experiments/shared/test_retention.py",
    ),
    Mutation(
        "experiments/shared/draws.py",
        "random.fold_in(key, i))(index)",
        "random.fold_in(key, 0))(index)",
        "experiments/shared/test_draws.py experiments/shared/test_grids.py",
    ),
    Mutation(
        "experiments/statistics/clusters.py",
        "correction, unit = groups.size / (groups.size - 1), magnitude(residual)",
        "correction, unit = 1.0, magnitude(residual)",
        "experiments/statistics/test_clusters.py",
    ),
    Mutation(
        "experiments/statistics/clusters.py",
        "math.sqrt((estimates.size - 1) * np.var(estimates))",
        "math.sqrt(estimates.size * np.var(estimates))",
        "experiments/statistics/test_clusters.py",
    ),
    Mutation(
        "experiments/statistics/deviations.py",
        "np.mean(np.array(known) <= 2)",
        "np.mean(np.array(known) <= 3)",
        "experiments/statistics/test_deviations.py",
    ),
    Mutation(
        "experiments/statistics/extrapolation.py",
        "np.min(limit[inside] - reach)) / 2",
        "np.min(limit[inside] - reach))",
        "experiments/statistics/test_extrapolation.py",
    ),
    Mutation(
        "experiments/system/files.py",
        "os.fsync(file.fileno())",
        "pass",
        "experiments/runner/test_record.py",
    ),
    Mutation(
        "experiments/runner/numerics.py",
        '"jax_default_matmul_precision": provenance.MATMUL,',
        '"jax_default_matmul_precision": "default",',
        "experiments/runner/test_process.py",
    ),
)


def main() -> int:
    """Try the mutations named, print a line for each, and return how the command ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("numbers", nargs="*", type=int, help="numbers of mutations (all if none)")
    parser.add_argument("--all-tests", action="store_true", help="ask the whole suite")
    words = parser.parse_args()
    survivors = 0
    for number in words.numbers or range(1, len(MUTATIONS) + 1):
        mutation = MUTATIONS[number - 1]
        verdict = tried(mutation, [] if words.all_tests else mutation.tests.split())
        survivors += verdict == "survives"
        print(f"{number:3d} {verdict:9s} {mutation.file}: {' '.join(mutation.old.split())[:70]}", flush=True)
    return int(survivors > 0)


def tried(mutation: Mutation, tests: list[str]) -> str:
    """Verdict on one mutation: seen, survives, or gone where its text is no longer there."""
    if not (ROOT / mutation.file).is_file() or mutation.old not in (ROOT / mutation.file).read_text():
        return "gone"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
            else:
                shutil.copy(source, copy / name)
        path = copy / mutation.file
        path.write_text(path.read_text().replace(mutation.old, mutation.new, 1))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--few", *(f"tests/{test}" for test in tests)]
        try:
            ended = subprocess.run(command, cwd=copy, capture_output=True, timeout=LONGEST, check=False)
        except subprocess.TimeoutExpired:
            return "seen"
        if ended.returncode > 1:
            raise RuntimeError(f"pytest could not run: {ended.stdout.decode()[-400:]}{ended.stderr.decode()[-400:]}")
        return "seen" if ended.returncode else "survives"


if __name__ == "__main__":
    sys.exit(main())
