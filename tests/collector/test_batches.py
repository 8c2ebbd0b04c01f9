"""Batch jobs against a local server of both protocols: what is submitted comes back as answers, or is pending again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from slant.collector import BatchReport, collect
from slant.collector.keep.journal import journal_folder
from tests.support.batch_server import KEY, BatchServer
from tests.support.batching import PLANNED, Batching, both
from tests.support.commands import run_collect
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    with BatchServer() as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.fixture
def batch(tmp_path: Path, server: BatchServer) -> Batching:
    return Batching(tmp_path, server)


@pytest.mark.slow
@both
def test_the_first_call_submits_and_a_later_one_fetches(batch: Batching, server: BatchServer, provider: str) -> None:
    first = batch(provider)
    assert (first.is_complete, sum(job.n_requests for job in first.made), len(server.jobs)) == (False, PLANNED, 1)
    assert batch(provider).open_jobs[0].seen == "in_progress"
    server.finish()
    last = batch(provider)
    assert last.is_complete
    assert last.open_jobs == ()
    assert len(server.jobs) == 1


@pytest.mark.slow
@both
def test_answers_are_those_that_a_live_run_would_keep(batch: Batching, server: BatchServer, provider: str) -> None:
    server.answer = lambda body: "Busy" if 'Sort "mocha"' in body["messages"][-1]["content"] else "Calm"
    server.finishes_at_once = True
    batch(provider, wait=True)
    answers = batch.rows("SELECT DISTINCT item, answer, choice FROM trials ORDER BY item")
    assert answers == [(i, *2 * ["Busy" if i == "mocha" else "Calm"]) for i in ("latte", "mocha", "oolong", "sencha")]
    facts = batch.rows("SELECT DISTINCT tokens, token_source, http_status, is_batch, batch_id, latency_s FROM trials")
    assert facts == [(64 if provider == "openai" else 70, "usage", 200, True, server.jobs[0]["id"], None)]


@pytest.mark.slow
@both
def test_results_in_any_order_find_their_trials(batch: Batching, server: BatchServer, provider: str) -> None:
    server.answer = lambda body: body["messages"][-1]["content"][-40:]
    server.finishes_at_once = True
    batch(provider, wait=True)
    for request, answer in batch.rows("SELECT request, answer FROM trials"):
        assert json.loads(request)["messages"][-1]["content"].endswith(answer)
    assert batch.rows("SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(PLANNED, PLANNED)]


ENDED = ("expired", "canceled")  # by the provider or a person: read as a row that has failed is


@pytest.mark.slow
@both
@pytest.mark.parametrize("fate", ["missing", *(pytest.param(f, marks=pytest.mark.slow) for f in ("errored", *ENDED))])
def test_a_row_without_an_answer_is_pending_again(
    batch: Batching, server: BatchServer, provider: str, fate: str
) -> None:
    server.fate = lambda custom_id, body: fate if custom_id.endswith(("-0", "-5")) else "ok"
    batch(provider)
    server.finish()
    batch(provider, yes=False)
    assert batch.rows("SELECT count(*) FROM trials") == [(PLANNED - 2,)]
    assert "2 pending again" in batch.said
    server.fate = lambda custom_id, body: "ok"
    batch(provider)
    server.finish()
    assert batch(provider).is_complete
    assert [len(job["requests"]) for job in server.jobs] == [PLANNED, 2]


HELD_BACK = {"openai": {"code": "cyber_policy"}, "anthropic": {"message": "Output blocked by content filtering policy"}}


@pytest.mark.slow
@both
def test_what_a_filter_holds_back_is_final_and_submitted_no_more(
    batch: Batching, server: BatchServer, provider: str
) -> None:
    server.error = HELD_BACK[provider]
    server.fate = lambda custom_id, body: "errored" if custom_id.endswith(("-0", "-5")) else "ok"
    batch(provider)
    server.finish()
    assert batch(provider).is_complete
    assert (len(server.jobs), batch.rows("SELECT count(*) FROM trials WHERE outcome = 'filtered'")) == (1, [(2,)])


@pytest.mark.slow
@both
def test_what_is_declined_in_two_jobs_is_rejected_and_submitted_no_more(
    batch: Batching, server: BatchServer, provider: str
) -> None:
    server.error = {"message": "The gremlins said no."}
    declined = ("-0", "-5")
    server.fate = lambda custom_id, body: "errored" if len(server.jobs) > 1 or custom_id.endswith(declined) else "ok"
    for _ in range(2):
        batch(provider)
        server.finish()
        report = batch(provider, yes=False)
    assert report.is_complete
    assert batch.rows("SELECT count(*) FROM trials WHERE outcome = 'rejected'") == [(2,)]
    assert [len(job["requests"]) for job in server.jobs] == [PLANNED, 2]


@pytest.mark.slow
def test_answers_that_come_twice_leave_no_negative_number_of_trials(batch: Batching, server: BatchServer) -> None:
    server.fate = lambda custom_id, body: "missing" if custom_id.endswith("-0") else "ok"
    batch("openai")
    server.finish()
    server.jobs[0]["rows"] *= 2
    batch("openai", yes=False)
    assert f"{PLANNED - 1} answers. 1 pending again" in batch.said
    assert batch.rows("SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(PLANNED - 1, PLANNED - 1)]


@pytest.mark.slow
def test_a_response_that_says_it_failed_ends_no_trial(batch: Batching, server: BatchServer) -> None:
    server.fate = lambda custom_id, body: "broken" if custom_id.endswith(("-0", "-5")) else "ok"
    batch("openai")
    server.finish()
    assert not batch("openai", yes=False).is_complete
    assert "2 pending again: the provider ended it with insufficient_system_resource" in batch.said
    assert batch.rows("SELECT outcome, is_final, count(*) FROM attempts GROUP BY ALL ORDER BY ALL") == [
        ("answered", True, PLANNED - 2),
        ("failed", False, 2),
    ]


@pytest.mark.slow
def test_why_a_row_failed_is_kept_without_the_key_that_the_provider_echoes(
    batch: Batching, server: BatchServer
) -> None:
    server.fate = lambda custom_id, body: "errored" if custom_id.endswith("-0") else "ok"
    batch("openai")
    server.finish()
    batch("openai", yes=False)
    kept = batch.rows("SELECT outcome, is_final, http_status, detail FROM attempts WHERE outcome = 'failed'")
    assert kept == [("failed", False, 400, "HTTP 400: Bad parameter; your key is [key]")]
    files = [path for path in batch.db.parent.rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert KEY not in batch.said


@pytest.mark.slow
@both
def test_jobs_are_split_and_each_request_is_in_one(batch: Batching, server: BatchServer, provider: str) -> None:
    report = batch(provider, batch_size=3)
    assert [job.n_requests for job in report.made] == [3, 3, 2]
    assert len(set(server.asked())) == len(server.asked()) == PLANNED
    server.finish()
    assert batch(provider).is_complete


@pytest.mark.slow
def test_an_answer_with_a_line_separator_in_it_is_one_line(batch: Batching, server: BatchServer) -> None:
    server.answer = lambda body: "Ca\u2028lm\u0085"
    server.finishes_at_once = True
    batch("anthropic", wait=True)
    assert batch.rows("SELECT DISTINCT answer FROM trials") == [("Ca\u2028lm\u0085",)]


@pytest.mark.slow
def test_paid_requests_want_a_yes_and_fetching_does_not(batch: Batching, server: BatchServer) -> None:
    report = batch("openai", yes=False)
    assert (report.needs_yes, server.jobs) == (PLANNED, [])
    batch("openai")
    server.finish()
    assert batch("openai", yes=False).is_complete


@pytest.mark.slow
@both
def test_waiting_ends_when_every_answer_is_here(batch: Batching, server: BatchServer, provider: str) -> None:
    fates = iter(["expired"] + ["ok"] * 20)
    server.fate = lambda custom_id, body: next(fates)
    server.finishes_at_once = True
    assert batch(provider, wait=True).is_complete
    assert [len(job["requests"]) for job in server.jobs] == [PLANNED, 1]


def test_a_job_of_which_nothing_came_is_not_submitted_again_at_once(batch: Batching, server: BatchServer) -> None:
    server.fate = lambda custom_id, body: "errored"
    server.finishes_at_once = True
    report = batch("openai", wait=True)
    assert len(server.jobs) == 1
    assert "Bad parameter" in report.models[0]["stopped_because"]


@pytest.mark.slow
def test_a_job_that_failed_as_a_whole_says_why(batch: Batching, server: BatchServer) -> None:
    batch("openai")
    server.finish("failed")
    server.jobs[0]["errors"] = {"object": "list", "data": [{"code": "token_limit_exceeded", "message": "Too many."}]}
    report = batch("openai")
    assert (report.models[0]["stopped_because"], report.open_jobs) == ("Too many.", ())


@pytest.mark.slow
def test_fewer_results_than_the_provider_counts_leave_the_job_open(batch: Batching, server: BatchServer) -> None:
    batch("openai")
    server.finish()
    all_rows = server.jobs[0]["rows"]
    server._openai_row = lambda fate, r: {} if r is all_rows[0][1] else BatchServer._openai_row(server, fate, r)  # type: ignore[method-assign]
    assert len(batch("openai").open_jobs) == 1
    del server._openai_row
    assert batch("openai").is_complete
    assert batch.rows("SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(PLANNED, PLANNED)]


@pytest.mark.slow
def test_looking_at_a_job_that_runs_leaves_no_run_behind(batch: Batching, server: BatchServer) -> None:
    batch("openai")
    batch("openai")
    batch("openai")
    assert len(list(journal_folder(batch.db).glob("*.jsonl"))) == 1


def test_a_simulated_batch_gives_the_answers_of_a_simulated_live_run(tmp_path: Path) -> None:
    study, files = str(write_tiny(tmp_path)), [tmp_path / "batch.duckdb", tmp_path / "live.duckdb"]
    first = collect(files[0], study, simulated=True, batch=True, batch_size=3)
    assert isinstance(first, BatchReport)
    assert (first.is_complete, len(first.open_jobs) > 1) == (False, True)
    assert collect(files[0], study, simulated=True, batch=True).is_complete
    assert collect(files[1], study, simulated=True).is_complete
    batch, live = (rows_in(db, "SELECT trial_id, outcome, answer FROM trials ORDER BY ALL") for db in files)
    assert batch == live
    assert rows_in(files[0], "SELECT DISTINCT is_batch, runs.source FROM trials JOIN runs USING (run_id)") == [
        (True, "simulated")
    ]


def test_what_waits_in_a_job_is_no_answer_yet_and_a_simulated_job_of_an_edited_study_ends(tmp_path: Path) -> None:
    study = write_tiny(tmp_path)
    collect(tmp_path / "a.duckdb", study, simulated=True, batch=True)
    live = run_collect("--study", study, "--simulated", "--db", tmp_path / "a.duckdb", code=0)
    assert "or are in open batch jobs (--batch fetches them)" in live.stderr
    wordings = tmp_path / "wordings.csv"
    wordings.write_text(wordings.read_text("utf-8").replace("Sort", "Please sort"), "utf-8")
    report = collect(tmp_path / "a.duckdb", study, simulated=True, batch=True, wait=True)
    assert (report.models[0]["failed"], report.open_jobs) == (PLANNED, ())
