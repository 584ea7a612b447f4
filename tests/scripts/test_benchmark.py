"""The benchmark at its smallest: it reports what it timed, and refuses to time two sides that do different things."""

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    import benchmark
    import benchmarks
    from benchmarks import asynchronous, capacity

    return SimpleNamespace(
        command=benchmark, contract=benchmarks, asynchronous=asynchronous, capacity=capacity, main=benchmark.main
    )


@pytest.mark.slow
def test_a_run_prints_and_saves_ratios_of_paired_times(benchmark, tmp_path, capsys):
    path = tmp_path / "times.json"
    for compiled in (benchmark.asynchronous.hebb, benchmark.asynchronous.end_states):
        compiled.clear_cache()
    figure = tmp_path / "ratios.svg"
    words = ["--size", "small", "--repetitions", "3", "--json", str(path), "--figure", str(figure)]
    assert benchmark.main(words) == 0
    assert "<svg" in figure.read_text()
    record = json.loads(path.read_text())
    peers = ["torch"] if importlib.util.find_spec("torch") else []
    short = ["asynchronous", "blockwise", *(f"blockwise_{peer}" for peer in peers)]
    short += ["layer", *(f"layer_{peer}" for peer in peers), "layer_reads", "overlaps", "plain_call", "products"]
    assert [case["name"] for case in record["cases"]] == short  # the long ones only when asked for
    case = record["cases"][0]
    assert case["shapes"] == {"neurons": 200, "patterns": 20, "probes": 4}
    for stage in ("total", "couplings", "dynamics"):
        ours, theirs = (case["seconds"][side][stage] for side in ("ours", "theirs"))
        assert len(ours) == len(theirs) == 3
        ratios = np.divide(theirs, ours)
        spread = case["spreads"][stage]["ratio"]
        assert spread == pytest.approx({"median": np.median(ratios), "low": ratios.min(), "high": ratios.max()})
    for seconds in case["seconds"].values():
        assert np.all(np.add(seconds["couplings"], seconds["dynamics"]) <= seconds["total"])
    assert case["compile_seconds"]["ours"] > max(case["seconds"]["ours"]["total"])
    assert case["agreement"]["fixed points among the final states"] == 2 * 3 * 4
    printed = capsys.readouterr().out
    assert "ratio" in printed
    assert ("layer_torch: skipped, torch is not installed" in printed) == (not peers)
    assert all(f"{name} {version}" in printed for name, version in record["environment"]["versions"].items())


def test_patterns_in_a_file_are_read_beside_their_products(benchmark, capsys):
    assert benchmark.main(["--only", "memory_map", "--size", "small", "--repetitions", "2"]) == 0
    assert "largest component of a read-out" in capsys.readouterr().out


def test_the_plain_sweep_keeps_a_spin_with_no_field_and_stops_where_nothing_moves(benchmark):
    couplings = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], np.float32)
    for spin in (-1.0, 1.0):
        start = np.array([1.0, 1.0, spin], np.float32)
        end = benchmark.asynchronous.sweep_until_still(couplings, start, np.random.default_rng(0))
        np.testing.assert_array_equal(end, start)
    mixed = np.array([1.0, -1.0, 1.0], np.float32)
    end = benchmark.asynchronous.sweep_until_still(couplings, mixed, np.random.default_rng(0))
    assert end[0] == end[1]
    np.testing.assert_array_equal(mixed, [1.0, -1.0, 1.0])
