"""The rules of who may import whom, read from the source: experiments know the library, never the other way round."""

import ast
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest

import hopfield
from experiments.capacity import figure
from experiments.runner import registry
from tests.source_code import (
    EXPERIMENTS,
    LIBRARY,
    ROOT,
    SOURCES,
    TESTS,
    calls,
    imports,
    inside,
    located,
    name_of,
    offenders,
    tree_of,
)

ALLOWED = {"hopfield", "jax", "flax", "optax", "numpy", "scipy", "jaxtyping", "safetensors", *sys.stdlib_module_names}
FOUNDATIONS = (
    "_triton",
    "_numerics",
    "_arguments",
    "theory",
    "_pytrees",
    "_arrays",
    "_content",
    "outside",
    "_names",
    "spaces",
    "metrics",
    "similarities",
    "separations",
    "patterns",
    "_parts",
    "attention",
    "large",
    "memory",
    "couplings",
    "packed",
    "dynamics",
)
"""The core from the ground up: a module may import the ones before it, and of these no other."""


FOLDERS = sorted(path.parent.name for path in EXPERIMENTS if path.name == "experiment.py")
"""Every experiment is a folder."""


def within(folder: str) -> list[Path]:
    """The modules of a folder of experiments/."""
    found = [path for path in EXPERIMENTS if path.is_relative_to(ROOT / "experiments" / folder)]
    assert found
    return found


def test_the_reader_of_imports_finds_imports(tmp_path):
    source = tmp_path / "module.py"
    lines = ["import os.path", "from hopfield import memory, Memory", "def f():", "    import wandb as w"]
    source.write_text("\n".join(lines))
    assert [found.module for found in imports(source)] == ["os.path", "hopfield.memory", "hopfield", "wandb"]


def test_library_imports_only_its_dependencies():
    """Never hydra, wandb, pandas or an experiment; scikit-learn for data, Matplotlib and Triton in a few modules."""
    data = [path for path in LIBRARY if path.name == "datasets.py"]
    plots = [path for path in LIBRARY if path.name == "plots.py"]
    kernels = [path for path in LIBRARY if path.name == "_triton.py" or path.parent.name == "triton_programs"]
    others = [path for path in LIBRARY if path not in data + plots + kernels]
    assert not offenders(kernels, lambda m: m.split(".")[0] not in ALLOWED | {"triton", "jax_triton"})
    assert not offenders(plots, lambda m: m.split(".")[0] not in ALLOWED | {"matplotlib"})
    assert not offenders(others, lambda m: m.split(".")[0] not in ALLOWED)
    assert not offenders(data, lambda m: m.split(".")[0] not in ALLOWED and not inside(m, "sklearn.datasets"))


def test_one_module_imports_internals_of_hydra():
    runner = ROOT / "experiments" / "runner"
    assert offenders([runner / "hydra_internals.py"], lambda m: inside(m, "hydra._internal"))
    others = [path for path in EXPERIMENTS if path != runner / "hydra_internals.py"]
    assert not offenders(others, lambda m: inside(m, "hydra._internal"))


def test_theory_is_plain_numpy_and_scipy():
    plain = "hopfield.theory", "hopfield._arguments.host", "hopfield._arguments.words"
    theory = [path for path in LIBRARY if inside(name_of(path), *plain)]
    assert len(theory) > 1
    assert not offenders(theory, lambda m: inside(m, "jax", "flax", "optax"))
    assert not offenders(theory, lambda m: inside(m, "hopfield") and not inside(m, *plain))


@pytest.mark.parametrize("name", FOUNDATIONS)
def test_core_modules_import_only_what_is_below_them(name):
    own = [path for path in LIBRARY if inside(name_of(path), f"hopfield.{name}")]
    below = [f"hopfield.{lower}" for lower in (*FOUNDATIONS[: FOUNDATIONS.index(name)], name)]
    assert own
    assert not offenders(own, lambda m: inside(m, "hopfield") and not inside(m, *below))


def test_nothing_imports_layers_and_the_fisher_information_does_not_know_the_optimiser():
    """But the package itself, which names what it is made of."""
    top = ROOT / "hopfield" / "__init__.py"
    outside = [path for path in LIBRARY if "layers" not in path.parts and path != top]
    assert not offenders(outside, lambda m: inside(m, "hopfield.layers"))
    fisher = [path for path in LIBRARY if path.parent.name == "fisher"]
    assert fisher
    assert not offenders(fisher, lambda m: inside(m, "hopfield.optim"))


def circles(paths) -> list[str]:
    """Modules that import each other in a circle, by statements or by strings.

    A package may find the modules of its own folder by their names: it is whole before one of them is asked for.
    """
    known = {name_of(path): path for path in paths}
    edges = {name: {found.module for found in imports(path)} & known.keys() for name, path in known.items()}
    for name, path in known.items():
        for pattern, _ in located(path):
            edges[name] |= {o for o in known if re.fullmatch(pattern, o) and o.rpartition(".")[0] != name}
    while leaves := {name for name, targets in edges.items() if not targets & edges.keys()}:
        edges = {name: targets for name, targets in edges.items() if name not in leaves}
    return sorted(edges)


def test_no_module_imports_itself_in_a_circle():
    """Library and experiments together, with the packages themselves."""
    assert not circles([*LIBRARY, *EXPERIMENTS])


BORROWED = {
    ("hopfield.networks", "hopfield.separations._ties"),
    ("hopfield.optim", "hopfield.fisher._conjugate_gradients"),
    ("hopfield.optim", "hopfield.fisher._programs"),
}
"""Private modules that are imported from outside their folder: a list that gets shorter."""


def private_module(module: str) -> str | None:
    """Dotted name up to the first part with an underscore, None if there is none."""
    parts = module.split(".")
    depth = next((i for i, part in enumerate(parts) if part.startswith("_")), None)
    return None if depth is None else ".".join(parts[: depth + 1])


def test_private_modules_serve_their_own_folder():
    assert private_module("hopfield.attention._softmax.softmax") == "hopfield.attention._softmax"
    borrowed = {
        (".".join(name_of(path).split(".")[:2]), private)
        for path in LIBRARY
        for found in imports(path)
        if inside(found.module, "hopfield")
        and (private := private_module(found.module))
        and not inside(name_of(path), private.rpartition(".")[0])
    }
    assert borrowed == BORROWED


def test_experiments_and_scripts_use_only_what_the_library_makes_public():
    """No private module of it and no private name, also of the tools that experiments are made with."""
    users = [path for path in SOURCES if path not in LIBRARY]
    found = [
        f"{path.relative_to(ROOT)}:{used.line} {used.module} {', '.join(used.names)}"
        for path in users
        for used in imports(path)
        if inside(used.module, "hopfield")
        and any(part.startswith("_") for name in (used.module, *used.names) for part in name.split("."))
    ]
    assert len(users) > len(EXPERIMENTS)
    assert not found


@pytest.mark.parametrize("name", FOLDERS)
def test_an_experiment_imports_no_other_one_and_not_the_runner(name):
    others = [f"experiments.{other}" for other in (*FOLDERS, "runner", "run", "plot") if other != name]
    assert not offenders(within(name), lambda m: inside(m, *others))


@pytest.mark.parametrize("folder", ["system", "shared", "statistics", "figures"])
def test_what_experiments_share_knows_none_of_them(folder):
    upper = ("runner", "run", "plot", *FOLDERS, *(["shared", "statistics", "figures"] if folder == "system" else []))
    assert not offenders(within(folder), lambda m: inside(m, *(f"experiments.{name}" for name in upper)))


def test_the_runner_knows_no_experiment():
    forbidden = [f"experiments.{name}" for name in (*FOLDERS, "statistics")]
    assert not offenders(within("runner"), lambda m: inside(m, *forbidden))


@pytest.mark.parametrize("name", FOLDERS)
def test_figures_and_summaries_do_not_import_their_experiment(name):
    """Parts shared with the experiment are in its config: figures and summaries read nothing but the table."""
    readers = [path for path in within(name) if path.name in ("figure.py", "summary.py", "results.py")]
    assert not offenders(readers, lambda m: inside(m, f"experiments.{name}.experiment"))


def test_summaries_draw_nothing():
    summaries = [path for path in EXPERIMENTS if path.name == "summary.py"]
    assert not offenders(summaries, lambda m: inside(m, "experiments.figures"))


def asked(function: FunctionType, seen: set[FunctionType]) -> Iterator[str]:
    """Names of theory and memories that a function of the experiments reaches, by the globals that its code names."""
    seen.add(function)
    codes = [function.__code__]
    for code in codes:
        codes += [part for part in code.co_consts if isinstance(part, CodeType)]
        held = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
        own = [part for part in held if isinstance(part, ModuleType) and part.__name__.startswith("experiments.")]
        held += [getattr(module, name) for module in own for name in code.co_names if hasattr(module, name)]
        for value in map(inspect.unwrap, held):
            owner = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
            if inside(owner, "hopfield.theory", "hopfield.memories", "experiments.shared.memories"):
                yield f"{function.__module__}.{function.__name__}: {owner}"
            elif isinstance(value, FunctionType) and value not in seen and owner.startswith("experiments."):
                yield from asked(value, seen) if owner != "experiments.figures.labels" else ()


@pytest.mark.parametrize("name", registry.names())
def test_panels_ask_no_theory(name):
    panels = figure.panels if name == "capacity" else registry.load(name).panels  # whose experiment imports them late
    assert list(asked(panels, set())) == []


LATE = {
    ("experiments/contract.py", "pandas"),
    ("experiments/capacity/experiment.py", "experiments.capacity.figure"),
    ("experiments/capacity/experiment.py", "experiments.capacity.summary"),
    ("experiments/run.py", "experiments.runner.help"),
    ("experiments/run.py", "experiments.runner.command"),
    ("experiments/runs.py", "experiments.figures.report"),
    ("experiments/runner/command.py", "experiments.runner.sweeps"),
    ("experiments/runner/execute.py", "experiments.runner.conclusion"),
    ("experiments/runner/mirror.py", "wandb"),
    ("experiments/figures/panel.py", "matplotlib.colors"),
    ("experiments/figures/style.py", "matplotlib"),
    ("experiments/figures/style.py", "matplotlib.colors"),
    ("experiments/figures/style.py", "matplotlib.style"),
    ("experiments/heads/experiment.py", "tokenizers"),
    ("experiments/system/terminal.py", "tqdm.notebook"),
}
"""Imports inside functions: what `--help`, a list, a forecast, the first row, a run without mirror do without."""


def test_experiments_import_at_their_top():
    found = {
        (path.relative_to(ROOT).as_posix(), used.module)
        for path in EXPERIMENTS
        for block in ast.walk(tree_of(path))
        if isinstance(block, ast.FunctionDef | ast.If)
        for node in ast.walk(block)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for used in imports(path)
        if used.line == node.lineno
    }
    assert {(place, module.removesuffix(".errors")) for place, module in found} == LATE


def test_strings_of_the_library_import_nothing_from_above():
    found = {(name_of(path), pattern) for path in LIBRARY for pattern, _ in located(path)}
    inner = re.compile(r"hopfield\\\.|huggingface_hub$")
    assert not {entry for entry in found if not inner.match(entry[1])}


def test_the_reader_of_strings_finds_what_they_import(tmp_path):
    source = tmp_path / "module.py"
    source.write_text('import_module("a.b")\nimport_module(f"a.{name}.c")\nimport_module(name)\n', encoding="utf-8")
    assert located(source) == ((r"a\.b", 1), (r"a\.[^.]+\.c", 2))
    assert re.fullmatch(located(source)[1][0], "a.x.c")


def test_only_the_mirror_imports_wandb():
    others = [path for path in SOURCES if path != ROOT / "experiments" / "runner" / "mirror.py"]
    assert not offenders(others, lambda m: inside(m, "wandb"))


@pytest.mark.slow
def test_nothing_imports_private_jax_but_the_context_of_tests():
    """tests/contexts.py lowers the programs of a module in one context of MLIR, which JAX has no public way to say."""
    found = offenders([*SOURCES, *TESTS], lambda m: inside(m, "jax._src", "jaxlib"))
    assert [place.split(":")[0] for place in found] == ["tests/contexts.py"]
    attributes = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in [*SOURCES, *TESTS]
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr == "_src"
    ]
    assert not attributes


def test_the_version_is_written_once_and_cited():
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert cited is not None
    assert newest is not None
    assert cited[1] == newest[1] == hopfield.__version__
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"]


def test_library_never_prints():
    assert not [f"{path.name}:{line}" for path in LIBRARY for name, line in calls(path) if name == "print"]


def test_library_never_changes_the_configuration_of_jax():
    """Neither jax.config.update(...), nor an assignment to one of its fields, nor a context such as jax.enable_x64."""
    found = []
    for path in LIBRARY:
        found += [
            f"{path.name}:{line}"
            for name, line in calls(path)
            if name.endswith("config.update") or name.endswith("enable_x64")
        ]
        for node in ast.walk(tree_of(path)):
            targets = node.targets if isinstance(node, ast.Assign) else []
            found += [f"{path.name}:{node.lineno}" for target in targets if "jax.config" in ast.unparse(target)]
    assert not found


def test_library_never_swallows_or_asserts():
    """No bare `except:` and no assert for a caller's mistake."""
    bare = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler) and node.type is None
    ]
    asserted = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in LIBRARY
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Assert)
    ]
    assert not bare + asserted


def is_tested(path: Path) -> bool:
    """tests/ mirrors hopfield/: module.py has test_module.py, and a package is tested whole or module by module."""
    parts = [part.strip("_") for part in path.relative_to(ROOT).with_suffix("").parts]
    names = ["/".join((*parts[:depth], f"test_{parts[depth]}.py")) for depth in range(1, len(parts))]
    names.append("/".join((*parts[:-1], f"test_{parts[-2]}.py")))
    return any((ROOT / "tests" / name).is_file() for name in names)


def test_every_module_of_the_library_has_a_test_file():
    """Or, inside a package, serves one that has."""
    modules = [path for path in LIBRARY if path.name != "__init__.py"]
    packaged = [path for path in modules if path.parent.name != "hopfield" and is_tested(path)]
    served = {(path.parent, found.module) for path in packaged for found in imports(path)}
    untested = [path for path in modules if not is_tested(path) and (path.parent, name_of(path)) not in served]
    assert not [path.relative_to(ROOT).as_posix() for path in untested]
