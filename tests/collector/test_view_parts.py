"""What the viewer is made of: pages by key, conditions that can do nothing else, texts that hide nothing, searches."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from html import unescape
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.errors import UsageError
from slant.collector.request_messages import messages_of
from slant.collector.view.paging import Order, page_of, page_of_view
from slant.collector.view.summary import histograms, visible
from slant.collector.view.trial_filter import TextSearch, TrialFilter, condition_of, guarded
from slant.collector.view.trials import page_of_trials
from tests.support.given import database
from tests.support.viewer import RUN, a_pair

WALK_S = 120.0  # for a walk over many pages, on a machine that does other things, too


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [row for n in range(6) for row in a_pair(n, n)]
    return database(tmp_path_factory.mktemp("view") / "a.duckdb", rows, [RUN])


def test_a_condition_can_neither_read_nor_write_files_nor_undo_this(db: Path, tmp_path: Path) -> None:
    with guarded(db) as connection:
        for statement in (
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'", "FROM read_csv('/etc/passwd')", "INSTALL httpfs",
            f"ATTACH '{tmp_path}/other.duckdb'", "SET enable_external_access = true", "SET memory_limit = '1TB'",
            "CREATE TABLE runs2 AS SELECT 1", "DELETE FROM attempts", "SELECT * FROM tmp_path",
        ):  # fmt: skip
            with pytest.raises(Exception, match=r"disabled|locked|read-only|does not exist|configuration"):
                connection.execute(statement)
    assert list(tmp_path.iterdir()) == []


def test_what_takes_too_long_is_stopped_and_says_so(db: Path) -> None:
    with pytest.raises(UsageError, match=r"longer than 0\.2 s"), guarded(db, limit_s=0.2) as connection:
        connection.execute("SELECT count(*) FROM range(10000000000) a WHERE hash(a.range) = 1").fetchall()


@pytest.mark.slow
@given(st.lists(st.tuples(st.none() | st.integers(0, 4), st.text("ab", max_size=2)), max_size=12), st.booleans())
def test_a_walk_by_keys_is_the_sorted_list_forth_and_back(rows: list[tuple[int | None, str]], falls: bool) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (v INTEGER, w TEXT, n INTEGER)")
        for n, (v, w) in enumerate(rows):
            connection.execute("INSERT INTO t VALUES (?, ?, ?)", [v, w, n])
        order = Order((("v", falls), ("w", not falls), ("n", False)))
        columns = [duckdb.ColumnExpression(name) for name in order.names]
        sign = -1 if falls else 1
        expected = sorted(range(len(rows)), key=lambda n: (rows[n][0] is None, sign * (rows[n][0] or 0)))
        forth, back, query = [], [], {}
        while True:
            page = page_of(connection.table("t"), order, 3, query, columns)
            forth += [row["n"] for row in page.rows]
            if page.after is None:
                break
            query = {"after": page.after}
        while page.before is not None:
            page = page_of(connection.table("t"), order, 3, {"before": page.before}, columns)
            back = [row["n"] for row in page.rows] + back
    assert sorted(forth) == sorted(expected)
    assert [rows[n][0] for n in forth] == [rows[n][0] for n in expected]
    assert forth[: len(back)] == back


@pytest.mark.slow
def test_a_view_of_many_trials_is_walked_as_they_were_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slant.collector.view.paging._FEW_TRIALS", 0)
    monkeypatch.setattr("slant.collector.view.paging.ON_A_PAGE", 5)
    others = [{"trial_id": f"a-{n:03}", "study": "interference"} for n in range(120)]
    trials = [{"trial_id": f"b-{99 - n:03}", "position": n, "item": f"<{n}>"} for n in range(12)]
    with guarded(database(tmp_path / "a.duckdb", [*others, *trials]), WALK_S) as connection:
        seen: list[str] = []
        query: dict[str, str] = {}
        while True:
            page = page_of_view(connection, "association_trials", query)[0]
            seen += [row["trial_id"] for row in page.rows]
            if page.after is None:
                break
            query = {"after": page.after}
        assert page.before is not None
        back = page_of_view(connection, "association_trials", {"before": page.before})[0]
    assert seen == [trial["trial_id"] for trial in trials]
    assert [row["trial_id"] for row in back.rows] == seen[5:10]


@pytest.mark.slow
def test_pages_as_asked_are_the_same_from_narrow_columns_and_from_wide_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [(run, n * 7) for run in ("run-a", "run-b") for n in range(40)]
    rows = [
        {"attempt_id": f"{run}-{n}", "trial_id": f"t-{run}-{n}", "run_id": run, "sequence": n, "answer": f"<{n}>"}
        for run, n in reversed(asked)
    ]
    monkeypatch.setattr("slant.collector.view.trials.ON_A_PAGE", 15)
    with guarded(database(tmp_path / "a.duckdb", rows), WALK_S) as connection:
        for nearby in (0, 5_000):
            monkeypatch.setattr("slant.collector.view.trials._NEARBY", nearby)
            seen: list[tuple[object, ...]] = []
            after: str | None = ""
            while after is not None:
                query = {"after": after} if after else {}
                page = page_of_trials(connection, connection.view("trials"), TrialFilter(), query)
                seen += [(row["run_id"], row["sequence"], row["answer"]) for row in page.rows]
                after = page.after
            assert seen == [(run, n, f"<{n}>") for run, n in asked]


def test_a_search_can_be_stopped_and_goes_on(db: Path) -> None:
    search = TextSearch(db, "word-1")
    search.stop()
    search.go_on(5.0)
    assert (search.n_read, search.n_matches) == (0, 0)
    search.restart()
    search.go_on(5.0)
    assert (search.n_read, search.n_matches, search.is_running) == (12, 2, False)


@given(st.text())
def test_nothing_that_hides_is_left_in_what_a_page_shows(text: str) -> None:
    shown = unescape(re.sub(r"<b class=hidden-character>U\+[0-9A-F]{4,}</b>", "", visible(text)))
    hidden = re.compile(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
    )
    assert not hidden.search(shown)
    assert "<" not in re.sub(r"<b class=hidden-character>[^<]*</b>", "", visible(text))


@pytest.mark.slow
@given(st.text(max_size=40))
def test_a_condition_is_one_expression_or_none(text: str) -> None:
    try:
        expression = condition_of(text)
    except UsageError:
        return
    with duckdb.connect() as connection, suppress(duckdb.Error):  # of no such column
        assert len(connection.sql("SELECT 1 AS tokens").filter(expression).fetchall()) <= 1


JSON = st.recursive(st.none() | st.integers() | st.text(), lambda p: st.lists(p) | st.dictionaries(st.text(), p))


@given(JSON)
def test_any_request_is_read_without_stumbling(body: object) -> None:
    messages, _ = messages_of(json.dumps({"messages": body, "system": body}))
    assert all(isinstance(message.text, str) for message in messages)


@given(st.dictionaries(st.integers(0, 10**6), st.integers(1, 50), min_size=1, max_size=30))
def test_a_histogram_counts_every_trial_once(counts: dict[int, int]) -> None:
    [bars] = histograms([("all", Counter(counts))])
    assert sum(n for _, _, n, _ in bars.bars) == bars.n == sum(counts.values())
    assert max(height for *_, height in bars.bars) == 1
    assert len(bars.bars) <= 50


def test_a_filter_finds_a_letter_however_unicode_writes_it(tmp_path: Path) -> None:
    rows = [{**row, "item": item} for row, item in zip(a_pair(1, 1), ("th\u00e9", "the\u0301"), strict=True)]
    with guarded(database(tmp_path / "t.duckdb", rows, [RUN])) as connection:
        for typed in ("th\u00e9", "the\u0301"):
            assert len(TrialFilter.of({"item": typed}).rows(connection).fetchall()) == 2


def test_a_filter_goes_into_an_address_and_comes_back() -> None:
    query = {"model": "o3-mini", "tokens_from": "5", "where": "tokens > 3", "sort": "-tokens", "text": "a&b"}
    assert TrialFilter.of(query).query() == query
