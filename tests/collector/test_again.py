"""`collect --again`: trials that have an answer are asked once more, as trials of their own, on numbered occasions."""

from __future__ import annotations

import shutil
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect, merge
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.journal import journal_folder
from slant.collector.plan.asking_again import again_of, occasion_notes
from slant.collector.progress.status import progress
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer, answers, error
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


@pytest.mark.slow
def test_occasions_come_along_with_a_merge(asked: Collector, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    shutil.copyfile(asked.db, other)
    shutil.copytree(journal_folder(asked.db), journal_folder(other))
    asked.ask(again=8)
    merge(tmp_path / "both.duckdb", [asked.db, other])
    with reading(tmp_path / "both.duckdb") as connection:
        assert connection.execute(OCCASIONS).fetchall() == [(1, 24, 0), (2, 8, 8)]
        assert connection.execute("SELECT n_wanted, n_trials FROM retest_occasions").fetchall() == [(8, 8)]


@pytest.mark.slow
def test_the_shell_shows_what_it_would_cost_and_sends_nothing(asked: Collector) -> None:
    words = ["--study", str(asked.study), "--model", "local/small", "--repetitions", "3", "--db", str(asked.db)]
    words += ["--base-url", asked.server.base_url, "--again", "8"]
    result = run_collect(*words, "--dry-run", "--format", "csv")
    assert result.exit_code == 0, result.stderr
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
