"""Experiments from Python: a memory that a cell of a notebook defines, numbers, refusals and folders of the command."""

import html
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest
from matplotlib.figure import Figure

import hopfield
from experiments import api
from experiments.figures.sentences import leading
from experiments.run import main
from hopfield import Couplings, Memory

SCALE: dict[str, Any] = {"neurons": [8], "loads": [0.3, 0.5, 0.7], "samples": 2, "queries": 4}
WORDS = ["neurons=[8]", "loads=[0.3,0.5,0.7]", "samples=2", "queries=4"]
FEW: dict[str, Any] = {"neurons": [8], "patterns": [4], "kappas": [4.0], "overlaps": [0.6], "samples": 2}
CODE = """\
from hopfield import Memory


def mine(patterns, *, mask=None):
    return Memory(patterns, 1.0, mask=mask)
"""
pytestmark = pytest.mark.usefixtures("as_run")


def mine(patterns: Any, *, mask: Any = None) -> Memory:
    """A memory of one's own."""
    return Memory(patterns, 1.0, mask=mask)


def cell(beta: float) -> Callable:
    """A function as a cell defines it anew, named alike whatever is in it."""

    def again(patterns: Any, *, mask: Any = None) -> Memory:
        return Memory(patterns, beta, mask=mask)

    return again


class Step(NamedTuple):
    """A pytree that has a step alone."""

    weights: Any

    def update(self, state: Any) -> Any:
        return jnp.where(self.weights @ state == 0, state, jnp.sign(self.weights @ state))


def test_a_model_that_has_a_step_alone_is_measured_as_couplings_of_the_same_step() -> None:
    """Masked patterns are zeroed, corrupted starts clamped; what has no local fields is stepped, and nothing else."""

    def matrix(patterns: Any, mask: Any) -> Any:
        rows = patterns if mask is None else patterns * mask[:, None]
        return rows.T @ rows * (1 - jnp.eye(rows.shape[1]))

    def stepped(patterns: Any, *, mask: Any = None) -> Step:
        return Step(matrix(patterns, mask))

    def coupled(patterns: Any, *, mask: Any = None) -> Couplings:
        return Couplings(matrix(patterns, mask))

    scale: dict[str, Any] = {"neurons": [9], "loads": [0.2, 0.5], "samples": 3, "queries": 4}
    scale["corruption"] = ["flip:0.2"]
    own = hopfield.capacity(stepped, clamp=True, **scale).table
    known = hopfield.capacity(coupled, clamp=True, dynamics=["synchronous"], **scale).table
    pandas.testing.assert_frame_equal(own.drop(columns="memory"), known.drop(columns="memory"), check_exact=True)
    assert set(own["dynamics"]) == {"synchronous"}
    with pytest.raises(ValueError, match=r"dynamics must be synchronous for \S+stepped, which lacks"):
        hopfield.capacity(stepped, dynamics=["asynchronous"], **scale)
    with pytest.raises(ValueError, match="must be a Memory or Couplings, or a pytree with update"):
        hopfield.capacity(lambda patterns, *, mask=None: patterns, **scale)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("door")


@pytest.fixture(scope="module")
def run(folder: Path) -> Any:
    return hopfield.capacity(mine, **SCALE, output=folder / "mine")


@pytest.fixture(scope="module")
def command(folder: Path) -> pandas.DataFrame:
    """The table of the command for the same memory in a file."""
    (folder / "own.py").write_text(CODE, encoding="utf-8")
    words = [f"memories=[{folder}/own.py:mine]", *WORDS, f"output={folder}/command", "wandb.mode=disabled"]
    assert main(["conf=capacity", "figure.format=[svg]", *words]) == 0
    return pandas.read_csv(folder / "command" / "table.csv")


def test_a_function_has_the_numbers_of_the_command_to_the_bit(run: Any, command: pandas.DataFrame) -> None:
    assert set(run.table["memory"]) == {"mine"}
    pandas.testing.assert_frame_equal(
        run.table.drop(columns="memory"), command.drop(columns="memory"), check_exact=True
    )


HEBB = """\
from hopfield import Couplings

INTEGER_FIELDS = True


def hebb(patterns, *, mask=None):
    rows = patterns if mask is None else patterns * mask[:, None]
    return Couplings(rows.T @ rows / patterns.shape[1])
"""


@pytest.mark.slow
def test_a_memory_beside_a_reference_is_measured_alike_through_both_doors_with_loads_and_without(tmp_path):
    """Couplings of one's own are Hebb's: no SCALING is said, both have a threshold, and their dynamics are one."""
    (tmp_path / "own.py").write_text(HEBB, encoding="utf-8")
    memories, scale = [f"{tmp_path}/own.py:hebb", "classical"], {"neurons": [16], "samples": 6, "queries": 4}
    run = hopfield.measure("capacity", memories=memories, **scale)
    words = [f"memories=[{','.join(memories)}]", "neurons=[16]", "samples=6", "queries=4", f"output={tmp_path}/command"]
    assert main(["conf=capacity", "figure.format=[svg]", "wandb.mode=disabled", *words]) == 0
    pandas.testing.assert_frame_equal(run.table, pandas.read_csv(tmp_path / "command" / "table.csv"), check_exact=True)
    retained = run.summary.of("critical load", criterion="retained")
    assert set(retained["memory"]) == set(memories)
    assert retained["value"].nunique() == 1
    given = hopfield.measure("capacity", memories=memories, loads=[0.2], **scale)
    assert set(given.table["dynamics"]) == set(run.table["dynamics"]) == {"asynchronous"}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: hopfield.capacity([mine, "modern"]), "memory must be one function or name, got several"),
        (lambda: hopfield.capacity(mine, memories=["modern"]), "memory must be one function or name, got several"),
        (lambda: hopfield.capacity(mine, neurons="[8]"), r"got the text '\[8\]': leave out its quotes"),
        (lambda: hopfield.measure("retrieval", separations=[mine]), "separations is not an option of conf=retrieval"),
    ],
)
def test_what_is_given_in_another_form_is_refused_by_its_name(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_run_holds_critical_loads_curves_and_figure(run: Any) -> None:
    loads = run.estimates.query("quantity == 'critical load'")
    assert {"value", "stderr", "theory"} <= {*loads}
    assert loads["value"].between(0.3, 0.7).all()
    curve = run.curves[run.curves["criterion"] == "target_weight"]
    passed = run.table.groupby("load")[["target_weight", "queries"]].sum()
    assert curve["share"].tolist() == (passed["target_weight"] / passed["queries"]).tolist()
    assert {"stderr", "low", "high"} <= {*curve}
    assert isinstance(run.plot(), Figure)
    assert repr(run).startswith("Run of conf=capacity: 6 rows")


def test_a_notebook_shows_the_numbers_and_the_figure_and_the_page_is_a_link_away(run: Any, tmp_path: Path) -> None:
    shown = html.unescape(run._repr_html_())
    assert len(shown) < 250_000
    assert "data:image/svg+xml;base64," in shown
    assert (run.folder / "report.html").as_uri() in shown
    for line in leading(run.estimates):
        assert line.name in repr(run)
        assert all(text in shown for text in (*line.cells.values(), line.value, line.theory))
    assert "<!doctype html>" in run.report(tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_sweep_has_the_frames_of_a_run_with_a_column_for_its_option(run: Any, folder: Path) -> None:
    words = ["-m", "conf=capacity", "memories=[modern]", *WORDS, "beta=1,2", f"output={folder}/sweep"]
    assert main([*words, "figure.format=[svg]", "wandb.mode=disabled"]) == 0
    sweep = hopfield.open_run(folder / "sweep")
    assert [frame["beta"].tolist() for frame in (sweep.table,)] == [[1.0] * 6 + [2.0] * 6]
    assert list(sweep.curves) == [*run.curves, "beta"]
    assert set(sweep.curves["beta"]) == set(sweep.estimates["beta"]) == {1.0, 2.0}
    assert "critical load against beta" in (folder / "sweep" / "report.html").read_text(encoding="utf-8")


def test_runs_of_a_loop_are_opened_together(folder: Path) -> None:
    for count in (2, 3):
        hopfield.measure("novelty", **FEW | {"samples": count, "queries": count}, output=folder / "loop" / str(count))
    joined = hopfield.open_run(folder / "loop")
    assert set(joined.estimates["queries"]) == {2, 3}
    assert len(joined.estimates) == 2 * len(joined.runs[0].estimates)


SWEPT: dict[str, Any] = {"seed": range(2), "queries": [2, 4]}


@pytest.fixture(scope="module")
def swept(folder: Path) -> Any:
    """A sweep with a folder: two seeds of two numbers of queries."""
    return hopfield.sweep("novelty", SWEPT, **FEW, figure={"format": ["svg"]}, output=folder / "swept")


def test_a_sweep_from_python_is_that_of_the_command(swept: Any, tmp_path: Path) -> None:
    words = [f"{key}={str(value).replace(' ', '')}" for key, value in FEW.items()]
    words = ["-m", "conf=novelty", *words, "seed=0,1", "queries=2,4", f"output={tmp_path}"]
    assert main([*words, "figure.format=[svg]", "wandb.mode=disabled"]) == 0
    for name in ("table.csv", "estimates.csv", "figure.svg"):
        assert (swept.folder / name).read_bytes() == (tmp_path / name).read_bytes()
    pandas.testing.assert_frame_equal(swept.table, pandas.read_csv(tmp_path / "table.csv"), check_exact=True)
    pandas.testing.assert_frame_equal(swept.estimates, hopfield.open_run(tmp_path).estimates, check_exact=True)


def test_samples_of_seeds_are_pooled_and_no_estimate_is_said_of_one_seed(swept: Any) -> None:
    area = swept.estimates.query("quantity == 'area under the ROC curve'")
    assert area["samples"].tolist() == [4, 4]
    np.testing.assert_allclose(area["value"], swept.table.groupby("queries")["auc"].mean(), rtol=1e-12)
    assert "seed" not in swept.estimates
    assert set(swept.table["seed"]) == {0, 1}


def test_a_sweep_goes_on_with_further_values(swept: Any, capfd: pytest.CaptureFixture) -> None:
    further: dict[str, Any] = FEW | {"output": swept.folder, "figure": {"format": ["svg"]}}
    more = hopfield.sweep("novelty", SWEPT | {"queries": [2, 4, 8]}, **further)
    assert capfd.readouterr().err.count("2 of 2 points are measured already") == 4
    pandas.testing.assert_frame_equal(
        *(each.table.query("queries < 8").reset_index(drop=True) for each in (more, swept)), check_exact=True
    )
    assert len(more.runs) == 6
    record = (swept.folder / "run.json").read_text(encoding="utf-8")
    assert "hopfield.sweep('novelty', over={'seed': [0, 1], 'queries': [2, 4, 8]}" in record


def test_paired_runs_of_a_function_are_those_of_one_run_and_leave_nothing(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pairs = [{"neurons": [8], "samples": 2}, {"neurons": [10], "samples": 1}]
    paired = hopfield.sweep("capacity", pairs, memories=[mine], loads=SCALE["loads"], queries=4)
    assert list(tmp_path.iterdir()) == []
    assert paired.folder is None
    assert paired.table.groupby("neurons")["sample"].nunique().tolist() == [2, 1]
    assert set(paired.curves["neurons"]) == {8, 10}
    own = paired.table[paired.table["neurons"] == 8].reset_index(drop=True)
    pandas.testing.assert_frame_equal(own, run.table, check_exact=True)
    assert isinstance(paired.plot(panels=["a"]), Figure)


def test_a_figure_is_of_the_panels_and_size_asked_for_or_on_ones_own_axes(swept: Any) -> None:
    made = swept.plot(panels=["b"], width=3.4, log=["y"])
    (alone,) = made.axes
    assert made.get_size_inches()[0] == 3.4
    assert alone.get_yscale() == "log"
    own = Figure((3.4, 2.6), layout="constrained")
    axes = own.subplots()
    assert swept.plot(panels=["b"], axes=axes) is own
    assert own.axes == [axes]
    heights = [[np.asarray(line.get_ydata()).tolist() for line in each.lines] for each in (axes, alone)]
    assert heights[0] == heights[1]
    assert axes.get_xlabel().split() == alone.get_xlabel().split()


@pytest.mark.slow
def test_a_function_that_changed_is_measured_anew_and_not_into_the_same_folder(folder: Path) -> None:
    first, second = (hopfield.capacity(cell(beta), **SCALE).table for beta in (0.05, 4.0))
    assert first["memory"].tolist() == second["memory"].tolist()
    assert (first["target_weight"] != second["target_weight"]).any()
    pandas.testing.assert_frame_equal(hopfield.capacity(cell(0.05), **SCALE).table, first, check_exact=True)
    hopfield.capacity(cell(0.05), **SCALE, output=folder / "cell")
    with pytest.raises(ValueError, match=r"contents of .*again must be those of hash"):
        hopfield.capacity(cell(4.0), **SCALE, output=folder / "cell")


def test_numbers_of_arrays_sets_and_ranges_are_values() -> None:
    given = {"kappas": np.array([4, 9]), "patterns": range(4, 6), "neurons": {8}, "samples": np.int64(2)}
    with api.session.opened():
        plain = {key: api._plain(key, value, api.session.options_class_of("novelty")) for key, value in given.items()}
        config: Any = api.compose.job("novelty", plain | {"wandb.mode": "offline"}).config
    assert (config.kappas, config.patterns, config.neurons, config.samples) == ([4.0, 9.0], [4, 5], [8], 2)
    assert config.wandb.mode.name == "offline"


def test_a_memory_reads_whatever_a_notebook_holds() -> None:
    key, array, lock = jax.random.key(3), np.arange(8.0), threading.Lock()

    def noisy(patterns: Any, *, mask: Any = None) -> Memory:
        with lock:
            noise = jax.random.normal(key, patterns.shape) * array.sum()
            return Memory(patterns + 0.0 * noise, beta=1.0, mask=mask)

    run = hopfield.capacity(noisy, neurons=[8], loads=[0.5], samples=1, queries=2)
    assert len(run.table) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"neuron": [3]}, ["neuron=[3]"]),
        ({"loads": [-1.0]}, ["loads=[-1.0]"]),
        ({"samples": "many"}, ["samples=many"]),
        ({"memories": ["clasical"]}, ["memories=[clasical]"]),
        ({"seed": 1.5}, ["seed=1.5"]),
        ({"wandb": {"mode": "nowhere"}}, ["wandb.mode=nowhere"]),
        ({"per_memory": {"dense:3": {"loads": [0.1]}}}, [r"+per_memory={dense\:3:{loads:[0.1]}}"]),
        ({"per_memory": {"classical": {"load": [0.1]}}}, ["per_memory.classical.load=[0.1]"]),
        ({"neurons": 8}, ["neurons=8"]),
        ({"neurons": [[8]]}, ["neurons=[[8]]"]),
        ({"neurons": ["a"]}, ["neurons=[a]"]),
        ({"parity": "none of them"}, ["parity='none of them'"]),
        ({"samples": {"a": 1}}, ["samples={a:1}"]),
        ({"clamp": True}, ["clamp=true"]),
        ({"device": "tpu"}, ["device=tpu"]),
    ],
)
def test_refusals_are_those_of_the_command(options: dict, words: list[str], capsys: pytest.CaptureFixture) -> None:
    options, words = (
        {"memories": ["classical"]} | options,
        [*([] if "memories" in options else ["memories=[classical]"]), *words],
    )
    assert main(["conf=capacity", *words]) == 2
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - compared below
        hopfield.measure("capacity", **options)
    assert f"error: {caught.value}\n" == capsys.readouterr().err
