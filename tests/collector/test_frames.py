"""Rows between DuckDB and Polars without a third library; both ways through JSON, quick where it can be, whole where it
must be; patterns that are compiled at their first use."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.keep.database import writing
from slant.collector.keep.export import export_trials
from slant.collector.keep.frames import frame_of, registered
from slant.collector.records import Prompt
from slant.collector.stable_ids import stable_id
from slant.collector.system.json_text import decoded, encoded
from slant.collector.system.patterns import lazy_pattern

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


def test_sums_of_a_view_of_ones_own_are_exported_as_the_whole_numbers_that_they_are(tmp_path: Path, db: Path) -> None:
    query = """SELECT sum(i) AS "of ""i\""", TIMESTAMP '2026-01-02' AS at FROM range(4) t(i)"""
    with writing(db) as connection:
        connection.execute(f"CREATE VIEW my_sums AS {query}")
    for ending in ("parquet", "csv", "jsonl"):
        export_trials(db, out=tmp_path / f"sums.{ending}", view="my_sums")
    assert pl.read_parquet(tmp_path / "sums.parquet").rows() == [(6, datetime(2026, 1, 2, tzinfo=UTC))]
    assert (tmp_path / "sums.csv").read_text("utf-8") == '"of ""i""",at\n6,2026-01-02T00:00:00.000000Z\n'


LONG = 2**63 - 1
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LEAVES = st.none() | st.booleans() | st.integers(-LONG, LONG) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20)


@pytest.mark.slow
@given(VALUES)
def test_what_is_encoded_is_what_the_standard_library_reads(value: object) -> None:
    assert json.loads(encoded(value)) == value
    assert decoded(encoded(value).decode()) == value


@given(st.lists(st.dictionaries(TEXT, LEAVES)))
def test_the_hash_of_a_prompt_is_that_of_its_messages_as_the_standard_library_writes_them(messages: list[Any]) -> None:
    assert Prompt(tuple(messages)).hash == stable_id(messages)


@given(st.text())
def test_any_text_is_encoded_lone_surrogates_as_question_marks(text: str) -> None:
    assert decoded(encoded({"answer": text}).decode())["answer"] == text.encode("utf-8", "replace").decode()


def test_a_number_of_more_than_64_bits_is_kept() -> None:
    assert encoded({"seed": 2**70}) == b'{"seed":%d}' % 2**70


@pytest.mark.parametrize("body", ['{"answer": "a\nb\x01"}', '{"logprob": NaN}', '{"text": "half \\ud83d"}'])
def test_what_servers_write_against_the_rules_is_read_all_the_same(body: str) -> None:
    assert next(iter(decoded(body).values())) is not None


@pytest.mark.parametrize("body", ["", "{", "<html>", '{"a": 1}}'])
def test_what_is_no_json_raises_a_value_error(body: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        decoded(body)


EAGER, LAZY = re.compile(r"(?P<word>[a-c]+)\s*(\d?)", re.IGNORECASE), lazy_pattern(r"(?P<word>[a-c]+)\s*(\d?)", re.I)


@given(st.text(alphabet="abcABC 12-", max_size=20))
def test_a_lazy_pattern_finds_what_a_compiled_one_finds(text: str) -> None:
    assert [m.span() for m in LAZY.finditer(text)] == [m.span() for m in EAGER.finditer(text)]
    assert LAZY.sub("x", text) == EAGER.sub("x", text)
    assert LAZY.split(text) == EAGER.split(text)
    assert bool(LAZY.fullmatch(text)) == bool(EAGER.fullmatch(text))


def test_a_lazy_pattern_has_the_text_and_the_flags_of_a_compiled_one() -> None:
    assert (LAZY.pattern, LAZY.flags, LAZY.groups, LAZY.groupindex) == (
        EAGER.pattern, EAGER.flags, EAGER.groups, EAGER.groupindex
    )  # fmt: skip


def test_a_wrong_lazy_pattern_fails_at_its_first_use() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error):
        wrong.search("a")


def test_a_run_whose_answers_are_plain_labels_compiles_no_pattern_of_sentences() -> None:
    program = (
        "from slant.collector.reading import labels, phrases\n"
        "from slant.collector.records import Reply\n"
        "assert labels.answer_to_label(Reply(answer='Quick'), ('Quick', 'Slow')).choice == 'Quick'\n"
        "lazy = {name: value for name, value in vars(phrases).items() if type(value) is type(phrases.NEGATION)}\n"
        "used = [name for name, value in lazy.items() if 'search' in vars(value)]\n"
        "assert lazy and not used, used\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
