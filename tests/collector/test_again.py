"""`collect --again`: trials that have an answer are asked once more, as trials of their own, on numbered occasions; and
`collect aside`: runs that count nowhere."""

from __future__ import annotations

import re
import shutil
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant import analysis
from slant.analysis.rows.result_warnings import mixture_warnings
from slant.collector import collect, merge
from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.keep import final_trials
from slant.collector.keep.final_trials import set_aside
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_loader import load_journals
from slant.collector.keep.lake import export_lake
from slant.collector.plan.asking_again import again_of, occasion_notes
from slant.collector.progress.status import progress
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer, answers, completion, error
from tests.support.planned import planned
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

OCCASIONS = "SELECT occasion, count(*), count(DISTINCT first_trial_id) FROM all_trials GROUP BY 1 ORDER BY 1"


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with LocalServer() as running:
        yield running


class Collector:
    """The tiny study of eight trials, asked three times each, of one model on a local server."""

    def __init__(self, folder: Path, server: LocalServer) -> None:
        (folder / "study").mkdir()
        self.study, self.db, self.server = write_tiny(folder / "study"), folder / "a.duckdb", server

    def ask(self, again: int | None = None, **options: Any) -> Any:
        options = {"max_retries": 0, **options}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return collect(
                self.db, self.study, ["local/small"], repetitions=3, base_url=self.server.base_url, again=again,
                **options,
            )  # fmt: skip

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return rows_in(self.db, query)

    def notes(self, again: int) -> str:
        asked = load_study(str(self.study)), ["local/small"], self.db
        run_plan = planned(*asked, repetitions=3, base_url=self.server.base_url)
        return " ".join(occasion_notes(again_of(run_plan, again)))


@pytest.fixture
def asked(tmp_path: Path, server: LocalServer) -> Collector:
    collector = Collector(tmp_path, server)
    collector.ask()
    return collector


@pytest.mark.slow
def test_each_call_is_a_new_occasion_of_the_same_balanced_trials(asked: Collector) -> None:
    for _ in range(2):
        assert asked.ask(again=8).is_complete
    assert asked.rows(OCCASIONS) == [(1, 24, 0), (2, 8, 8), (3, 8, 8)]
    sample = "SELECT first_trial_id FROM all_trials WHERE occasion = {} ORDER BY 1"
    assert asked.rows(sample.format(2)) == asked.rows(sample.format(3))
    cells = asked.rows("SELECT test, condition, count(*) FROM all_trials WHERE occasion = 2 GROUP BY ALL ORDER BY ALL")
    assert [count for *_, count in cells] == [4, 4]


@pytest.mark.slow
def test_a_larger_sample_holds_the_smaller_one(asked: Collector) -> None:
    asked.ask(again=4)
    asked.ask(again=12)
    both = "SELECT first_trial_id FROM all_trials WHERE occasion > 1 GROUP BY 1 HAVING count(*) = 2"
    assert len(asked.rows(both)) == 4
    assert asked.rows(OCCASIONS)[1:] == [(2, 4, 4), (3, 12, 12)]


def test_the_same_prompts_are_sent_again(asked: Collector) -> None:
    before = Counter(asked.server.prompts)
    asked.ask(again=8)
    sent = asked.server.prompts[24:]
    assert len(sent) == 8
    assert set(sent) <= set(before)
    hashes = "SELECT count(*) FROM all_trials l JOIN all_trials f ON f.trial_id = l.first_trial_id"
    assert asked.rows(f"{hashes} WHERE l.prompt_hash = f.prompt_hash") == [(8,)]


@pytest.mark.slow
def test_no_table_counts_what_was_asked_again(asked: Collector) -> None:
    names = ("trials", "association_trials", "outcome_counts", "tokens_by_condition", "run_progress", "cell_totals")
    before = {name: asked.rows(f"FROM {name} ORDER BY ALL") for name in names}
    status = progress(asked.db)
    asked.ask(again=8)
    assert {name: asked.rows(f"FROM {name} ORDER BY ALL") for name in names} == before
    assert progress(asked.db).equals(status)
    assert asked.rows("SELECT count(*) FROM duplicate_finals") == [(0,)]
    report = asked.ask()  # and what is pending is what it was
    assert report.models[0]["already_done"] == 24
    assert report.models[0]["asked"] == 0


@pytest.mark.slow
def test_an_occasion_that_was_broken_off_is_finished_first(asked: Collector) -> None:
    async def fails(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return await answers(request, body) if len(asked.server.bodies) <= 24 + 5 else error(500)

    asked.server.handler = fails
    assert not asked.ask(again=8, concurrency=1).is_complete
    asked.server.handler = answers
    assert asked.notes(again=12).startswith(
        "small: occasion 2 was broken off with 5 of 8 trials, and is finished first."
    )
    assert asked.ask(again=12).is_complete
    assert asked.rows(OCCASIONS)[1:] == [(2, 8, 8)]
    assert asked.notes(again=12) == "small: occasion 3, 12 trials that have an answer."


@pytest.mark.slow
def test_what_fails_in_two_runs_keeps_no_new_occasion_from_beginning(asked: Collector) -> None:
    async def fails_once(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        is_bad = body["messages"][-1]["content"] == asked.server.prompts[24]
        return error(500) if is_bad else await answers(request, body)

    asked.server.handler = fails_once
    for _ in range(2):
        assert not asked.ask(again=4, concurrency=1).is_complete
    assert asked.notes(again=4).startswith("small: occasion 3, 4 trials")


@pytest.mark.slow
def test_a_database_that_is_lost_takes_no_occasion_with_it(asked: Collector) -> None:
    asked.ask(again=8)
    asked.db.unlink()
    assert asked.notes(again=8).startswith("small: occasion 3, 8 trials")


@pytest.mark.slow
def test_what_is_refused_is_a_trial_with_an_answer_too(tmp_path: Path, server: LocalServer) -> None:
    async def refuses(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        is_first = len(server.bodies) <= 24
        message = {"role": "assistant", "content": None, "refusal": "I can't."} if is_first else {"content": "Calm"}
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}]})

    server.handler = refuses
    collector = Collector(tmp_path, server)
    collector.ask()
    collector.ask(again=2)
    rows = collector.rows("SELECT DISTINCT first_answer, later_answer FROM retest_answers ORDER BY ALL")
    assert {first for first, _ in rows} == {"refused"}
    assert {later for _, later in rows} <= {"a", "b"}


def test_what_an_occasion_cost_is_said_beside_the_cost_that_lacks_it(asked: Collector, tmp_path: Path) -> None:
    prices = '[[prices]]\nprovider = "local"\nmodel = "small"\ninput = 1e4\noutput = 0\ndate = 2026-11-21\n'
    (tmp_path / "prices.toml").write_text(prices, "utf-8")
    asked.ask(again=8, prices=tmp_path / "prices.toml")
    said = run_collect("status", "--db", asked.db).stderr
    assert re.search(r"occasion 2 has 8 answers .*; cost_usd lacks their \$8\.00\.", said), said


def test_what_an_occasion_lacks_is_said_of_it_and_not_of_the_first(tmp_path: Path) -> None:
    async def refusing(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion("I'm sorry, but I can't help with that."))

    words = ["--study", write_tiny(tmp_path), "--model", "local/small", "--db", tmp_path / "a.duckdb"]
    with LocalServer() as server:
        first = run_collect(*words, "--base-url", server.base_url)
    with LocalServer(refusing) as server:
        again = run_collect(*words, "--base-url", server.base_url, "--again", 4)
    assert "ATTENTION" not in first.stderr + run_collect(*words, "--base-url", server.base_url).stderr
    assert "ATTENTION: 4 of 4 trials of small ended without an answer (4 refused)." in again.stderr


@pytest.mark.slow
def test_occasions_come_along_with_a_merge(asked: Collector, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    shutil.copyfile(asked.db, other)
    shutil.copytree(journal_folder(asked.db), journal_folder(other))
    asked.ask(again=8)
    merge(tmp_path / "both.duckdb", [asked.db, other])
    assert rows_in(tmp_path / "both.duckdb", OCCASIONS) == [(1, 24, 0), (2, 8, 8)]
    assert rows_in(tmp_path / "both.duckdb", "SELECT n_wanted, n_trials FROM retest_occasions") == [(8, 8)]


@pytest.mark.slow
def test_the_shell_shows_what_it_would_cost_and_sends_nothing(asked: Collector) -> None:
    words = ["--study", str(asked.study), "--model", "local/small", "--repetitions", "3", "--db", str(asked.db)]
    words += ["--base-url", asked.server.base_url, "--again", "8"]
    result = run_collect(*words, "--dry-run", "--format", "csv", code=0)
    assert "local,small,8,0,8," in result.stdout
    assert "occasion 2, 8 trials that have an answer" in result.stderr
    assert len(asked.server.bodies) == 24
    result = run_collect(*words)
    assert f"Next: analyze retest --study drinks --db {asked.db}" in result.stderr
    assert len(asked.server.bodies) == 32


@pytest.mark.slow
def test_whole_conversations_are_asked_again(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    for options in ({"pilot": 28}, {"again": 14}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            collect(db, "decision", ["simulated/gpt-4o"], variant="chained", **options)
    pairs = rows_in(
        db,
        "SELECT l.game, f.game, count(*), count(*) FILTER (l.round = f.round) FROM all_trials l "
        "JOIN all_trials f ON f.trial_id = l.first_trial_id GROUP BY ALL",
    )
    assert pairs
    assert all(later != first and n == n_alike for later, first, n, n_alike in pairs)
    assert max(n for *_, n, _ in pairs) > 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"batch": True}, "can't be repeated by batch"),
        ({"shard": (1, 2)}, "A shard can't be repeated"),
        ({"processes": 2}, "by one process"),
        ({"pilot": 8}, "remove --pilot"),
        ({"again": 1}, "--again must be 2 or more"),
        ({"variant": "balanced"}, "no trial has an answer"),
    ],
)
def test_what_can_not_be_asked_again_is_said(asked: Collector, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        collect(asked.db, asked.study, ["local/small"], **{"again": 8, "base_url": asked.server.base_url, **options})
    assert len(asked.server.bodies) == 24


def test_games_are_not_asked_again_round_by_round(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="each round of a game follows from those before it"):
        collect(tmp_path / "a.duckdb", "hiring", simulated=True, again=100)


REASON = "temperature 1 was meant"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    write_tiny(tmp_path)
    collect(tmp_path / "a.duckdb", tmp_path / "study.toml", ["simulated/small"])
    return tmp_path / "a.duckdb"


def counted(db: Path) -> tuple[int, int]:
    """Trials that count, and attempts that are kept."""
    [(trials, attempts)] = rows_in(db, "SELECT (SELECT count(*) FROM association_trials), count(*) FROM attempts")
    return trials, attempts


def run_of(db: Path) -> str:
    return str(rows_in(db, "SELECT run_id FROM runs ORDER BY started_at")[0][0])


def test_a_run_that_is_set_aside_counts_nowhere_and_is_asked_again(db: Path) -> None:
    n, n_kept = counted(db)
    assert set_aside(db, run_of(db), REASON) == n
    assert counted(db) == (0, n_kept)
    assert analysis.tables(db, names=["outcome_counts"])["outcome_counts"]["n_trials"].sum() == 0
    (said,) = (line for line in mixture_warnings(db) if line.startswith("Set aside"))
    assert REASON in said
    report = collect(db, db.parent / "study.toml", ["simulated/small"])
    assert report.models[0]["asked"] == n
    assert counted(db) == (n, 2 * n_kept)


def test_the_methods_count_no_trial_of_a_run_that_is_set_aside_and_say_why(db: Path) -> None:
    n, first = counted(db)[0], run_of(db)
    set_aside(db, first, REASON)
    collect(db, db.parent / "study.toml", ["simulated/small"])
    said = run_collect("methods", "--db", db).stdout
    assert f"Of {n} trials, " in said
    assert "They come from" not in said
    assert f"Run {first} was set aside, and counts in no result: {REASON}." in said
    assert "Of " not in run_collect("methods", first, "--db", db).stdout


@pytest.mark.slow
def test_the_reason_is_in_the_journal_and_can_be_taken_back(db: Path) -> None:
    n, _ = counted(db)
    set_aside(db, run_of(db), REASON)
    db.unlink()
    load_journals(db)  # made again from the journals alone
    assert counted(db)[0] == 0
    set_aside(db, run_of(db), "it was right", is_back=True)
    assert counted(db)[0] == n
    assert mixture_warnings(db) == []


def test_an_unknown_run_or_no_reason_is_told(db: Path) -> None:
    with pytest.raises(UnknownNameError, match="no run"):
        set_aside(db, "20260101T000000Z-x", REASON)
    with pytest.raises(UsageError, match="for a reason"):
        set_aside(db, run_of(db), " ")


@pytest.mark.slow
def test_what_is_asked_again_counts_once_after_all_else(db: Path, tmp_path: Path) -> None:
    """When the database is made again from its journals, when the run is taken back, and in a lake."""
    n, _ = counted(db)
    first = run_of(db)
    set_aside(db, first, REASON)
    collect(db, db.parent / "study.toml", ["simulated/small"])
    export_lake(db, tmp_path / "lake")
    assert counted(tmp_path / "lake")[0] == n
    db.unlink()
    load_journals(db)
    assert counted(db)[0] == n
    set_aside(db, first, "it was right", is_back=True)
    assert counted(db)[0] == n
    export_lake(db, tmp_path / "lake")
    assert counted(tmp_path / "lake")[0] == n
    assert any(REASON in line for line in mixture_warnings(tmp_path / "lake")) is False


@pytest.mark.slow
def test_notes_are_in_order_whatever_the_clock_says(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n, _ = counted(db)
    monkeypatch.setattr(final_trials, "utc_now", lambda: "2031-01-01T00:00:00.000000Z")
    set_aside(db, run_of(db), REASON)
    monkeypatch.undo()
    assert (set_aside(db, run_of(db), "it was right", is_back=True), counted(db)[0]) == (n, n)
    monkeypatch.setattr(final_trials, "utc_now", lambda: "2001-01-01T00:00:00.000000Z")
    assert (set_aside(db, run_of(db), REASON), counted(db)[0]) == (n, 0)


@pytest.mark.slow
def test_of_two_machines_at_once_the_one_that_sets_aside_wins_and_both_are_named(db: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(journal_folder(db), tmp_path / "b.duckdb.journal")).with_name("b.duckdb")
    for place in (db, other):
        set_aside(place, run_of(db), "first", is_back=False)
    set_aside(db, run_of(db), "was wrong after all")
    set_aside(other, run_of(db), "was right after all", is_back=True)
    report = merge(tmp_path / "all.duckdb", [db, other])
    assert counted(tmp_path / "all.duckdb")[0] == 0
    assert [run_of(db) in note and "is set aside" in note for note in report.notes] == [True]
    [(reason,)] = rows_in(tmp_path / "all.duckdb", "SELECT reason FROM aside_runs")
    assert "was wrong after all" in reason
    assert "was right after all" in reason
