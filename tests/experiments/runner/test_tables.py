"""Tables on disk keep every number, and texts that look like something else."""

import math
from pathlib import Path

import pytest

from experiments.columns import Column
from experiments.contract import Table
from experiments.runner import registry, tables

ROWS = [
    {"degree": "1", "tag_0": "1e5", "data": "NA", "count": 13, "share": 0.1, "tuned": True, "empty": None},
    {"degree": "02", "tag_0": "2", "data": "None", "count": 7, "share": math.nan, "tuned": False, "empty": None},
]
DECLARED = {
    "degree": Column("degree", kind=str),
    "data": Column("name of the data", kind=str),
    "tag_*": Column("tag *", kind=str),
    "count": Column("count", kind=int),
    "share": Column("share"),
    "tuned": Column("whether it was tuned", kind=bool),
    "empty": Column("nothing", kind=str),
    "absent": Column("text that no row has", kind=str),
}


def read_back(folder: Path, monkeypatch: pytest.MonkeyPatch, declared: dict[str, Column] | None) -> Table:
    tables.write(folder, ROWS)
    monkeypatch.setattr(registry, "columns", lambda name: declared)
    return tables.read(folder, "mine")


def test_declared_texts_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = read_back(tmp_path, monkeypatch, DECLARED)
    assert table["degree"].tolist() == ["1", "02"]
    assert table["tag_0"].tolist() == ["1e5", "2"]
    assert table["data"].tolist() == ["NA", "None"]
    assert table["empty"].isna().all()
    assert list(table.columns) == list(ROWS[0])
