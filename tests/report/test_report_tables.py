"""Tables of a report: CSV, Parquet and Arrow hold the same rows."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shuffledp as sdp


@pytest.fixture(scope="module")
def result() -> sdp.Rehearsed:
    answers = {"way": ["Fahrrad", "电车", "a,b"] * 400, "epsilon": [1.0] * 1_200}
    return sdp.rehearse(
        pl.DataFrame(answers), value="way", level="epsilon", consistent=True, seed=1
    )


@pytest.mark.slow
def test_tables_hold_the_rows_of_the_data_frame(
    result: sdp.Rehearsed, tmp_path: Path
) -> None:
    pytest.importorskip("jinja2")

    written = result.report(tmp_path / "folder")

    tables = {path.suffix: path for path in written if path.stem == "estimates"}
    assert set(tables) == {".svg", ".csv", ".parquet", ".arrow"}
    frame = result.to_frame()
    assert frame.height == 3
    assert pl.read_parquet(tables[".parquet"]).equals(frame)
    assert pl.read_ipc(tables[".arrow"]).equals(frame)
    assert pl.read_csv(tables[".csv"])["category"].to_list() == [
        "Fahrrad",
        "a,b",
        "电车",
    ]


@pytest.mark.slow
def test_arrow_files_are_read_by_another_reader(
    result: sdp.Rehearsed, tmp_path: Path
) -> None:
    pytest.importorskip("jinja2")
    arrow: Any = pytest.importorskip("pyarrow")
    ipc: Any = pytest.importorskip("pyarrow.ipc")

    result.report(tmp_path / "folder")

    with ipc.open_file(tmp_path / "folder" / "estimates.arrow") as file:
        table = file.read_all()
    # Views of texts are too new for many readers.
    assert table.schema.field("category").type == arrow.large_string()
    assert table.to_pydict() == result.to_frame().to_dict(as_series=False)


@pytest.mark.parametrize("name", ["estimates.arrow", "estimates.feather"])
def test_a_report_is_no_table(result: sdp.Rehearsed, tmp_path: Path, name: str) -> None:
    with pytest.raises(sdp.InvalidInputError, match="path of a page"):
        result.report(tmp_path / name)
