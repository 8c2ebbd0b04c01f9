"""What a provider of batch jobs may send: the good answers are kept, the rest is named, nothing waits or breaks off."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from slant.collector.batch.openai_jobs import _problem, _row
from slant.collector.batch.services import BatchResult, UnreadableLine, Unsure, checked_id, n_of, rows_of, utc
from tests.hostile.batch_results import BAD_LINES, ODD_LINES, good, line
from tests.support.each_row import each_row


@each_row("name", BAD_LINES)
def test_a_bad_line_is_named_and_the_good_ones_around_it_are_kept(name: str) -> None:
    data = line(good("a")) + BAD_LINES[name] + line(good("b"))
    chunks = [data[start : start + 65_536] for start in range(0, len(data), 65_536)]
    rows = list(rows_of(chunks, _row))
    assert [row.custom_id for row in rows if isinstance(row, BatchResult)] == ["a", "b"]
    assert [row.number for row in rows if isinstance(row, UnreadableLine)] == [2]


@pytest.mark.parametrize("name", ODD_LINES)
def test_an_odd_line_is_read(name: str) -> None:
    data, is_right = ODD_LINES[name]
    (row,) = rows_of([data], _row)
    assert is_right(row)


def test_lines_end_at_line_feeds_alone_wherever_the_chunks_end() -> None:
    data = line(good("a\u2028b")) + b"\n" + line(good("c"))[:-1]
    for size in (1, 7, len(data)):
        rows = rows_of([data[start : start + size] for start in range(0, len(data), size)], _row)
        assert [row.custom_id for row in rows if isinstance(row, BatchResult)] == ["a\u2028b", "c"]


@pytest.mark.parametrize("moment", [10**18, -(10**18), "yesterday", [1], True, float("inf"), None])
def test_a_time_that_is_none_is_unknown(moment: Any) -> None:
    assert utc(moment) is None
    assert utc(0) == utc(datetime.fromtimestamp(0, UTC)) == "1970-01-01T00:00:00.000000"


def test_what_a_job_says_of_itself_may_be_anything() -> None:
    assert [n_of(count, 8) for count in (10**30, -1, "8", None, True, 5)] == [8, 0, 0, 0, 0, 5]
    assert [_problem(errors) for errors in ("x", None, 5)] == [None, None, None]
    for name in ("../../v1/batches", "http://localhost:1/x", "", ".", 5, None, "a" * 300, "a/b", "a?b"):
        with pytest.raises(Unsure, match="no id"):
            checked_id(name)
