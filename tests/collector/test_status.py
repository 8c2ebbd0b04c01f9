"""`collect status` next to a real run: rate, limit, waits, time left, --watch. Trials without an answer: how many are
worth a sentence. Games: how far they are; what will never be asked of those that ended early is not missing."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from aiohttp import web

from slant.collector import collect, import_trials
from slant.collector.ask.run_warnings import malformed_notes
from slant.collector.keep.export import export_trials, usual_view
from slant.collector.keep.journal import Journal, has_collector, journal_folder
from slant.collector.keep.journal_loader import load_journals
from slant.collector.progress.bar import endless, rate_text
from slant.collector.progress.current_run import for_people, sentence, silent_models, with_pace, with_test_pace
from slant.collector.progress.status import lost_answer_notes, other_notes, progress, unequal_losses
from slant.collector.study.records import StudyModel
from tests.collector.test_kill import PLANNED, Command
from tests.support.commands import run_collect
from tests.support.fitted import small_database
from tests.support.given import database
from tests.support.local_server import LocalServer, answers, error
from tests.support.made import a_run, an_attempt
from tests.support.stored import rows_in
from tests.support.tiny_game import QUICK, TRIALS, play, player, round_of, write_game
from tests.support.tiny_study import write_tiny

BUSY_FOR = 300
LATENCY_S = 0.05


class Held(LocalServer):
    """Answers the first hundred requests and the others when `may_end` is set: a run goes on as long as it must."""

    def __init__(self) -> None:
        super().__init__(self._hold)
        self.may_end = threading.Event()

    async def _hold(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(LATENCY_S)
        if len(self.bodies) > 100:
            await asyncio.to_thread(self.may_end.wait, 60)
        return await answers(request, body)


@pytest.fixture
def server() -> Iterator[Held]:
    with Held() as running:
        yield running


@pytest.fixture
def command(tmp_path: Path, server: Held) -> Command:
    return Command(tmp_path, server)


def status_words(command: Command) -> list[str]:
    return [*command.words[: command.words.index("--study")], "status", "--db", str(command.db)]


def status(command: Command, *options: str) -> subprocess.CompletedProcess[str]:
    words = [*status_words(command), *options]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)


def row_with(command: Command, name: str) -> dict[str, Any]:
    """The one model's row as soon as it holds a number there: rows reach the database a little after the journal."""
    until = time.monotonic() + 60
    seen, seen_at = 0, 0.0
    while time.monotonic() < until:
        changed = command.db.stat().st_mtime_ns if command.db.exists() else 0
        # opening it takes as long as the wait: it is opened if it has changed, or a second has gone by
        if changed and (changed != seen or time.monotonic() > seen_at + 1):
            if with_pace(progress(command.db), command.db)[name].sum() > 0:
                (row,) = json.loads(status(command, "--format", "json").stdout)
                return dict(row)
            seen, seen_at = changed, time.monotonic()
        time.sleep(0.05)
    raise AssertionError(f"no {name} in 60 s")


@pytest.mark.slow
def test_status_tells_rate_limit_and_time_left_while_a_run_goes_on_and_not_after(
    command: Command, server: Held
) -> None:
    command.load_at_once()
    process = command.start()
    during = row_with(command, "rate_per_s")
    server.may_end.set()
    process.communicate(timeout=60)
    (after,) = json.loads(status(command, "--format", "json").stdout)
    assert 0 < during["rate_per_s"] < 8 / LATENCY_S + 1
    assert during["request_limit"] == 8
    assert during["left_s"] > 0
    assert (after["n_done"], after["rate_per_s"], after["left_s"]) == (PLANNED, None, None)


def test_by_test_there_are_a_rate_and_a_time_left_too(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with LocalServer() as server:
        collect(db, str(write_tiny(tmp_path)), ["local/small"], base_url=server.base_url)
    assert with_test_pace(progress(db, "test"), db)["rate_per_s"].to_list() == [None]
    with duckdb.connect(str(db)) as connection:  # as if it went on, in this process, with as much to do again
        connection.execute("UPDATE runs SET finished_at = NULL")
        connection.execute("UPDATE run_tests SET planned = 2 * planned")
    (journal_folder(db) / "collector.lock").write_text(f"process {os.getpid()} since now")
    (row,) = with_test_pace(progress(db, "test"), db).to_dicts()
    assert (row["test"], row["n_planned"], row["n_done"]) == ("tea_coffee", 16, 8)
    assert row["left_s"] == pytest.approx(8 / row["rate_per_s"])
    assert sentence(row).startswith(f"small, tea_coffee: 8 of 16; {row['rate_per_s']:,.3g}/s; 0 refused")


@pytest.mark.slow
def test_answers_that_are_only_in_the_journal_are_counted_too(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with LocalServer() as server:
        collect(db, str(write_tiny(tmp_path)), ["local/small"], base_url=server.base_url)
    with duckdb.connect(str(db)) as connection:  # as if nothing but the start of the run had been loaded
        (path,) = journal_folder(db).glob("*.jsonl")
        connection.execute("DELETE FROM attempts")
        connection.execute("UPDATE loads SET byte_offset = ?", [path.read_bytes().index(b"\n") + 1])
    (row,) = progress(db).to_dicts()
    assert (row["n_done"], row["n_answered"], row["n_planned"]) == (8, 8, 8)


@pytest.mark.slow
def test_watching_repeats_lines_and_ends_with_the_run(command: Command, server: Held) -> None:
    command.load_at_once()
    process = command.start()
    row_with(command, "rate_per_s")
    words = [*status_words(command), "--watch", "--every", "0.1"]
    watcher = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert watcher.stdout is not None
    lines = [watcher.stdout.readline() for _ in range(3)]
    server.may_end.set()
    rest, messages = watcher.communicate(timeout=60)
    assert process.wait(10) == 0
    assert all(" small: " in line and "/s; 8 at once; " in line for line in lines)
    assert f"small: {PLANNED} of {PLANNED}" in [line for line in rest.splitlines() if " small: " in line][-1]
    assert "The run has ended." in messages


@pytest.mark.slow
def test_a_wait_that_the_provider_asked_for_is_shown(command: Command, server: LocalServer) -> None:
    async def busy_at_last(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        busy = len(server.bodies) > 100
        return error(429, "", "slow down", **{"retry-after": str(BUSY_FOR)}) if busy else await answers(request, body)

    server.handler = busy_at_last
    command.load_at_once()
    process = command.start()
    row = row_with(command, "waits_s")
    process.kill()
    process.communicate()
    assert 0 < row["waits_s"] <= BUSY_FOR
    assert row["request_limit"] == 5
    assert row["n_rate_limited"] >= 1


def test_nobody_is_watched_where_nobody_collects(tmp_path: Path) -> None:
    answer = run_collect("status", "--watch", "--db", small_database(tmp_path / "a.db"))
    assert "Nobody is collecting" in answer.stderr


@pytest.mark.parametrize(
    ("holder", "collects"),
    [("", False), ("process 1 since 2026: init", True), (f"process {os.getpid()} since", True), ("garbage", False)],
    ids=["nobody", "init", "this process", "garbage"],
)
def test_who_collects_is_whoever_wrote_itself_into_the_lock_and_lives(
    tmp_path: Path, holder: str, collects: bool
) -> None:
    journal_folder(tmp_path / "a.duckdb").mkdir()
    (journal_folder(tmp_path / "a.duckdb") / "collector.lock").write_text(holder)
    assert has_collector(tmp_path / "a.duckdb") is collects


def test_a_process_that_is_gone_collects_no_more(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    journal_folder(tmp_path / "a.duckdb").mkdir()
    (journal_folder(tmp_path / "a.duckdb") / "collector.lock").write_text(f"process {gone.pid} since yesterday")
    assert not has_collector(tmp_path / "a.duckdb")
    assert not has_collector(tmp_path / "none.duckdb")


def test_status_says_when_the_last_answer_of_a_silent_model_came(tmp_path: Path) -> None:
    db, begun = tmp_path / "a.duckdb", datetime.now(UTC) - timedelta(minutes=10)
    with Journal(db, a_run()) as journal:
        journal.append_many([replace(an_attempt(1), done_at=begun.strftime("%Y-%m-%dT%H:%M:%S.%f"))])
        load_journals(db)
        assert silent_models(db) == [f"o3-mini: the last answer came 10 min ago ({begun:%H:%M:%S} UTC)."]
    assert silent_models(db) == []


def test_rows_of_files_have_no_plan_of_the_study(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("\n".join(["model,name,answer", *["m,Ann,5"] * 3]))
    about = 'name = "n"\ntitle = "t"\ndesign = "factorial"\nmodels = [{ model = "m", provider = "local" }]\n'
    asked = 'templates.plain = "{name}"\nquestions.rating = { text = "How?", kind = "scale" }\n'
    (tmp_path / "study.toml").write_text(about + 'factors.name = ["Ann", "Jo"]\n' + asked)
    import_trials(tmp_path / "t.duckdb", str(tmp_path / "study.toml"), [tmp_path / "rows.csv"])
    (row,) = progress(tmp_path / "t.duckdb").to_dicts()
    assert (row["n_done"], row["n_planned"]) == (3, None)
    shown = run_collect("status", "--db", tmp_path / "t.duckdb", code=0).stdout
    assert ("n_done" in shown, "n_planned" in shown) == (True, False)
    row |= dict.fromkeys(("rate_per_s", "request_limit", "waits_s", "n_rate_limited", "left_s"))
    assert sentence(row) == "m: 3; 0 refused"


def test_people_see_only_columns_that_say_something() -> None:
    row = {"source": "collected", "study": "rmiat", "variant": "base", "model": "m", "n_planned": 9, "n_done": 0,
           "n_refused": 0, "n_malformed": 0, "rate_per_s": None}  # fmt: skip
    shown, title = for_people(pl.DataFrame([row, row | {"model": "n"}]))
    assert shown.columns == ["model", "n_planned", "n_done", "n_refused"]
    assert title == "source: collected, study: rmiat"


def test_a_line_holds_what_is_known() -> None:
    row = {"model": "m", "n_planned": 1200, "n_done": 60, "n_refused": 3, "n_failed_attempts": 2, "rate_per_s": 4.25,
           "request_limit": 7, "waits_s": 12.0, "n_rate_limited": 5, "cost_usd": 0.25, "left_s": 280.0}  # fmt: skip
    assert sentence(row) == (
        "m: 60 of 1,200; 4.25/s; 7 at once; waits 12 s; 5 times asked to slow down; 3 refused; 2 failed attempts; "
        "$0.2500; 5 min left"
    )


@pytest.mark.parametrize(("per_s", "said"), [(0.0, "0/s"), (0.05, "3/min"), (0.0123, "0.74/min"), (1200.4, "1,200/s")])
def test_a_rate_below_one_a_second_is_told_in_minutes(per_s: float, said: str) -> None:
    assert rate_text(per_s) == said


def test_a_silent_model_whose_answers_nothing_ends_is_told() -> None:
    of_own = StudyModel("small", "small", "local", "small", "plain")
    assert "no max_tokens is set" in endless(of_own)
    assert endless(replace(of_own, settings={"max_tokens": 9})) == endless(replace(of_own, provider="openai")) == ""


def test_shares_that_chance_explains_are_equal() -> None:
    assert unequal_losses([("usual", 2, 100), ("crossed", 4, 100)]) is None
    assert unequal_losses([("usual", 2, 100), ("crossed", 20, 100)]) == "20 of 100 in crossed, 2 of 100 in usual"


def test_trials_without_an_answer_are_told_by_model_and_kind(tmp_path: Path) -> None:
    answered = [{"source": "collected", "study": "own"}] * 10
    lost = [{"source": "collected", "study": "own", "outcome": "malformed", "choice": None}] * 5
    notes = lost_answer_notes(database(tmp_path / "a.duckdb", [*answered, *lost]), "own")
    assert notes[0] == "ATTENTION: 5 of 15 trials of o3-mini ended without an answer (5 malformed)."
    assert "collect view --db" in notes[1]
    assert lost_answer_notes(database(tmp_path / "b.duckdb", answered), "own") == []


def test_what_is_said_first_is_not_said_again_at_the_end() -> None:
    notes = malformed_notes("small", {"malformed": 64})
    assert len(notes) == 1
    assert other_notes(notes, ["ATTENTION: 64 of 64 trials"]) == []
    assert other_notes(notes, []) == notes


COUNTS = ("test", "n_planned", "n_done", "n_not_asked", "n_answered", "n_refused")
ENDED = [("rounds", 18, 12, 6, 9, 3), ("questions", 6, 0, 6, 0, 0)]  # three games, each refused in round 4


@pytest.fixture
def db(tmp_path: Path) -> Path:
    with LocalServer(player(lambda body: "I can't do this." if round_of(body) >= 4 else "Answer: Ato")) as server:
        play(write_game(tmp_path), server, tmp_path / "a.duckdb")
    return tmp_path / "a.duckdb"


def test_rounds_of_games_that_ended_are_not_missing(db: Path) -> None:
    assert progress(db, "test").select(COUNTS).rows() == ENDED
    assert rows_in(db, "SELECT test, n_missing FROM run_progress") == [("rounds", 0), ("questions", 0)]
    (row,) = with_pace(progress(db), db).to_dicts()
    assert (row["n_planned"], row["n_done"] + row["n_not_asked"]) == (TRIALS, TRIALS)
    assert "12 of 24; 12 never to be asked, of games that ended" in sentence(row)


def test_the_same_is_counted_from_the_journal(db: Path) -> None:
    with duckdb.connect(str(db)) as connection:  # as if nothing but the start of the run had been loaded
        (path,) = journal_folder(db).glob("*.jsonl")
        connection.execute("DELETE FROM attempts")
        connection.execute("UPDATE loads SET byte_offset = ?", [path.read_bytes().index(b"\n") + 1])
    assert progress(db, "test").select(COUNTS).rows() == ENDED


@pytest.mark.slow
def test_status_shows_them_where_there_are_any(db: Path) -> None:
    shown = run_collect("status", "--db", db)
    assert "n_not_asked" in shown.stdout


def played(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    study, db = write_game(tmp_path, *changes), tmp_path / "a.duckdb"
    assert collect(db, study, ["simulated/greedy"], **QUICK).is_complete
    return db


@pytest.mark.slow
def test_games_without_questions_are_exported_a_row_a_round(tmp_path: Path) -> None:
    db = played(tmp_path, ("questions = true\n", ""))
    assert usual_view(db) == "allocation_rounds"
    export_trials(db, out=tmp_path / "a.csv")
    rounds = pl.read_csv(tmp_path / "a.csv")
    assert rounds.height == 18
    assert rounds["round"].to_list() == [1, 2, 3, 4, 5, 6] * 3
    assert {"job", "class", "choice", "is_success", "points"} <= set(rounds.columns)


@pytest.mark.slow
def test_what_else_was_asked_is_not_left_out_by_itself_and_said(tmp_path: Path) -> None:
    db = played(tmp_path)
    assert usual_view(db) == "trials"
    out = tmp_path / "all.csv"
    said = run_collect("export", "--db", db, "--out", out).stderr
    assert "Games have separate views: --view allocation_rounds, allocation_candidates, allocation_questions" in said
    assert pl.read_csv(out).height == 24


@pytest.mark.slow
def test_candidates_come_in_the_order_of_games_and_one_of_each_round_is_chosen(tmp_path: Path) -> None:
    db, out = played(tmp_path), tmp_path / "c.parquet"
    export_trials(db, out=out, view="allocation_candidates")
    found = pl.read_parquet(out)
    assert found.select("repetition", "round", "group").rows() == [
        (game, number, group) for game in (1, 2, 3) for number in range(1, 7) for group in ("Ato", "Beno")
    ]
    assert found.group_by("trial_id").agg(pl.col("is_chosen").sum())["is_chosen"].to_list() == [1] * 18
