"""Whole frames to R and back, long enough that text goes over as blocks: types and values stay what they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slant.analysis.bridge.r_vectors import _BLOCK, _FEW
from slant.analysis.bridge.worker import _kill, _pool
from tests.support.fitted import references_lost, round_trip

LEVELS = ["incompatible", "compatible"]
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
SCHEMA: dict[str, Any] = {
    "whole": pl.Int64, "big": pl.Int64, "double": pl.Float64, "flag": pl.Boolean, "text": pl.String, "side": pl.String,
}  # fmt: skip


def _or_null(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


ROW = st.tuples(
    _or_null(st.integers(-(2**31) + 1, 2**31 - 1)),
    _or_null(st.integers(-(2**53), 2**53)),
    _or_null(st.floats()),
    _or_null(st.booleans()),
    _or_null(TEXT),
    _or_null(st.sampled_from(LEVELS)),
)


@pytest.fixture(scope="module")
def in_r() -> Iterator[Callable[..., Any]]:
    """Runs a function in one R worker that lives as long as this file's tests."""
    pool = _pool(1, frozenset())
    yield lambda function, *arguments: pool.executor.submit(function, *arguments).result(60)
    _kill(pool)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=10), st.sampled_from([1, _FEW, 3 * _FEW]))
def test_six_columns_come_back_with_their_types_and_values(
    in_r: Callable[..., Any], rows: list[Any], repeats: int
) -> None:
    frame = pl.DataFrame(rows * repeats, schema=SCHEMA, orient="row")
    back = in_r(round_trip, frame, {"side": LEVELS})
    has_big = any(row[1] is not None and abs(row[1]) >= 2**31 for row in rows)
    assert back.schema == pl.Schema({**SCHEMA, "big": pl.Float64 if has_big else pl.Int64})
    assert back.cast(SCHEMA).equals(frame, null_equal=True)
    assert [repr(value) for value in back["double"]] == [repr(value) for value in frame["double"]]


def test_text_of_several_blocks_keeps_its_order_its_gaps_and_its_empty_strings(in_r: Callable[..., Any]) -> None:
    texts = [None if n % 7 == 0 else "" if n % 11 == 0 else f"né {n}\n" for n in range(2 * _BLOCK + 5)]
    frame = pl.DataFrame({"text": texts, "empty": pl.Series([""] * len(texts))})
    assert in_r(round_trip, frame).equals(frame, null_equal=True)


def test_a_process_that_converts_many_tables_loses_no_references(in_r: Callable[..., Any]) -> None:
    """Before Python 3.12 a process ends once the references to None are used up."""
    rows = [(1, 2**40, 1.5, True, "é", "compatible"), (None,) * 6] * (_FEW + 1)
    assert in_r(references_lost, pl.DataFrame(rows, SCHEMA, orient="row")) < 50
