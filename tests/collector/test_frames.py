"""Rows between DuckDB and Polars, without a third library."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl
import pytest

from slant.collector.keep.database import writing
from slant.collector.keep.export import export_trials
from slant.collector.keep.frames import frame_of, registered

KINDS = {
    "1::BIGINT": pl.Int64(),
    "1::INTEGER": pl.Int32(),
    "1.5::DOUBLE": pl.Float64(),
    "'x'": pl.String(),
    "true": pl.Boolean(),
    "TIMESTAMP '2026-01-02 03:04:05.678'": pl.Datetime("us"),
    "['a', NULL]": pl.List(pl.String),
    "1::HUGEINT": pl.Decimal(38, 0),
    "DATE '2026-01-02'": pl.Date(),
    "1.25::DECIMAL(10, 2)": pl.Decimal(10, 2),
}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with writing(tmp_path / "a.duckdb") as opened:
        yield opened


@pytest.mark.parametrize(("value", "kind"), KINDS.items(), ids=KINDS)
def test_values_and_types_come_as_duckdb_has_them(
    connection: duckdb.DuckDBPyConnection, value: str, kind: pl.DataType
) -> None:
    relation = connection.sql(f"SELECT unnest([{value}, NULL]) AS x" if value[0] != "[" else f"SELECT {value} AS x")
    frame = frame_of(relation)
    assert frame.schema == {"x": kind}
    assert frame.rows() == relation.fetchall()


def test_rows_keep_their_order_both_ways(connection: duckdb.DuckDBPyConnection) -> None:
    frame = pl.DataFrame({"a": range(400_000)}).with_columns(text=pl.col("a").cast(pl.String) + " of many")
    with registered(connection, "given", frame):
        connection.execute("CREATE TABLE kept AS FROM given")
        assert frame_of(connection.table("kept")).equals(frame)
    with pytest.raises(duckdb.CatalogException):
        connection.execute("FROM given")


def test_a_column_that_holds_nothing_goes_into_a_table_of_any_type(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE kept (a DOUBLE, b TIMESTAMP, c VARCHAR[])")
    with registered(connection, "given", pl.DataFrame({"a": [1.5, 2.5], "b": [None, None], "c": [None, None]})):
        connection.execute("INSERT INTO kept BY NAME FROM given")
    assert connection.execute("FROM kept").fetchall() == [(1.5, None, None), (2.5, None, None)]


def test_a_query_that_fails_on_its_way_is_an_error_of_duckdb(connection: duckdb.DuckDBPyConnection) -> None:
    rows = connection.sql("SELECT CASE WHEN i = 150000 THEN error('no such rate') END AS x FROM range(200000) t(i)")
    with pytest.raises(duckdb.Error, match="no such rate"):
        frame_of(rows)


def test_sums_of_a_view_of_ones_own_are_exported_as_the_whole_numbers_that_they_are(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    query = """SELECT sum(i) AS "of ""i\""", TIMESTAMP '2026-01-02' AS at FROM range(4) t(i)"""
    with writing(db) as connection:
        connection.execute(f"CREATE VIEW my_sums AS {query}")
    for ending in ("parquet", "csv", "jsonl"):
        export_trials(db, out=tmp_path / f"sums.{ending}", view="my_sums")
    assert pl.read_parquet(tmp_path / "sums.parquet").rows() == [(6, datetime(2026, 1, 2, tzinfo=UTC))]
    assert (tmp_path / "sums.csv").read_text("utf-8") == '"of ""i""",at\n6,2026-01-02T00:00:00.000000Z\n'
