"""Batch jobs against a local server that speaks OpenAI's and Anthropic's protocol: submit, fetch, what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.api import Watcher, collect
from collector.batch_api import collect_batch
from collector.batch_jobs import JobFolder
from collector.batch_report import BatchOptions, BatchReport
from collector.batch_services import WITH_BATCHES
from collector.errors import JournalError, ProviderError, UsageError
from collector.journal import FolderLock, journal_folder
from collector.store import reading
from tests.batch_server import KEY, BatchServer
from tests.local_server import LocalServer
from tests.tiny_study import write_tiny

PLANNED = 8
MODELS = {"openai": "openai/o3-mini", "anthropic": "anthropic/claude-test"}
both = pytest.mark.parametrize("provider", MODELS)


class Heard(Watcher):
    """What a run said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


class Batching:
    """`collect_batch` on the tiny study, again and again."""

    def __init__(self, folder: Path, server: BatchServer) -> None:
        (folder / "study").mkdir()
        self.study, self.db, self.server = str(write_tiny(folder / "study")), folder / "a.duckdb", server
        self.heard = Heard()

    def __call__(self, provider: str, *, yes: bool = True, **options: Any) -> BatchReport:
        chosen = BatchOptions(**{"settle_s": 0.0, "poll_s": 0.01, **options})
        return collect_batch(
            self.study, [MODELS[provider]], self.db, options=chosen, yes=yes, watcher=self.heard
        )  # fmt: skip

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with reading(self.db) as connection:
            return connection.sql(query).fetchall()

    @property
    def said(self) -> str:
        return "\n".join(self.heard.lines)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    with BatchServer() as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.fixture
def batch(tmp_path: Path, server: BatchServer) -> Batching:
    return Batching(tmp_path, server)


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


@both
def test_answers_are_those_that_a_live_run_would_keep(batch: Batching, server: BatchServer, provider: str) -> None:
    server.answer = lambda body: "Busy" if 'Sort "mocha"' in body["messages"][-1]["content"] else "Calm"
    server.finishes_at_once = True
    batch(provider, wait=True)
    answers = batch.rows("SELECT DISTINCT item, answer, choice FROM trials ORDER BY item")
    assert answers == [(i, *2 * ["Busy" if i == "mocha" else "Calm"]) for i in ("latte", "mocha", "oolong", "sencha")]
    facts = batch.rows("SELECT DISTINCT tokens, token_source, http_status, is_batch, batch_id, latency_s FROM trials")
    assert facts == [(64 if provider == "openai" else 70, "usage", 200, True, server.jobs[0]["id"], None)]


@both
def test_results_in_any_order_find_their_trials(batch: Batching, server: BatchServer, provider: str) -> None:
    server.answer = lambda body: body["messages"][-1]["content"][-40:]
    server.finishes_at_once = True
    batch(provider, wait=True)
    for request, answer in batch.rows("SELECT request, answer FROM trials"):
        assert json.loads(request)["messages"][-1]["content"].endswith(answer)
    assert batch.rows("SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(PLANNED, PLANNED)]


@both
@pytest.mark.parametrize("fate", ["errored", "expired", "canceled", "missing"])
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


@both
def test_jobs_are_split_and_each_request_is_in_one(batch: Batching, server: BatchServer, provider: str) -> None:
    report = batch(provider, most_requests=3)
    assert [job.n_requests for job in report.made] == [3, 3, 2]
    assert len(set(server.asked())) == len(server.asked()) == PLANNED
    server.finish()
    assert batch(provider).is_complete


@both
def test_a_job_that_the_provider_refuses_leaves_its_trials_pending(
    batch: Batching, server: BatchServer, provider: str
) -> None:
    server.refusals["create"] = (400, f"You exceeded your quota, {KEY}")
    report = batch(provider)
    assert report.models[0]["stopped_because"] == "a job was not taken: HTTP 400: You exceeded your quota, [key]"
    assert (report.open_jobs, server.calls["create"]) == ((), 1)
    del server.refusals["create"]
    assert batch(provider).models[0]["waiting"] == PLANNED


@both
def test_a_submission_without_an_answer_is_not_repeated_by_the_sdk(
    batch: Batching, server: BatchServer, provider: str
) -> None:
    server.refusals["create"] = (500, "try later")
    assert len(batch(provider).open_jobs) == 1
    assert server.calls["create"] == 1


@both
def test_a_submission_whose_answer_was_lost_is_found_not_repeated(
    batch: Batching, server: BatchServer, provider: str
) -> None:
    server.gate("create", is_lost=True, after_effect=True).opened.set()
    batch(provider)
    assert [job.state for job in JobFolder(batch.db).open_jobs()] == ["sending"]
    server.gates.clear()
    batch(provider)
    server.finish()
    assert batch(provider).is_complete
    assert len(server.jobs) == 1


@both
def test_a_submission_that_never_arrived_is_made_again_once_that_is_sure(
    batch: Batching, server: BatchServer, provider: str
) -> None:
    server.gate("create", is_lost=True).opened.set()
    batch(provider)
    server.gates.clear()
    batch(provider, settle_s=3600)
    assert len(server.jobs) == 0
    batch(provider)
    assert [len(job["requests"]) for job in server.jobs] == [PLANNED]


def test_another_batch_of_the_same_size_is_not_taken_for_ours(batch: Batching, server: BatchServer) -> None:
    server.gate("create", is_lost=True).opened.set()
    batch("anthropic")
    server.gates.clear()
    theirs = server._make([{"custom_id": f"x-{n}", "body": {}} for n in range(PLANNED)], "anthropic", None)
    batch("anthropic")
    assert "may be it" in batch.said
    assert len(server.jobs) == 1
    server.finish()
    assert theirs["ended"]
    batch("anthropic")
    assert [job["requests"][0]["custom_id"][:6] for job in server.jobs] == ["x-0", "slant-"]


def test_an_answer_with_a_line_separator_in_it_is_one_line(batch: Batching, server: BatchServer) -> None:
    server.answer = lambda body: "Ca\u2028lm\u0085"
    server.finishes_at_once = True
    batch("anthropic", wait=True)
    assert batch.rows("SELECT DISTINCT answer FROM trials") == [("Ca\u2028lm\u0085",)]


def test_paid_requests_want_a_yes_and_fetching_does_not(batch: Batching, server: BatchServer) -> None:
    report = batch("openai", yes=False)
    assert (report.needs_yes, server.jobs) == (PLANNED, [])
    batch("openai")
    server.finish()
    assert batch("openai", yes=False).is_complete


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


def test_a_job_that_failed_as_a_whole_says_why(batch: Batching, server: BatchServer) -> None:
    batch("openai")
    server.finish("failed")
    server.jobs[0]["errors"] = {"object": "list", "data": [{"code": "token_limit_exceeded", "message": "Too many."}]}
    report = batch("openai")
    assert (report.models[0]["stopped_because"], report.open_jobs) == ("Too many.", ())


def test_fewer_results_than_the_provider_counts_leave_the_job_open(batch: Batching, server: BatchServer) -> None:
    batch("openai")
    server.finish()
    all_rows = server.jobs[0]["rows"]
    server._openai_row = lambda fate, r: {} if r is all_rows[0][1] else BatchServer._openai_row(server, fate, r)  # type: ignore[method-assign]
    assert len(batch("openai").open_jobs) == 1
    del server._openai_row
    assert batch("openai").is_complete
    assert batch.rows("SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(PLANNED, PLANNED)]


def test_a_job_goes_only_to_the_address_and_key_that_the_user_has_set(
    batch: Batching, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch("openai")
    before = server.calls.total()
    (file,) = (journal_folder(batch.db) / "batches").glob("*.json")
    file.write_text(file.read_text().replace("/v1", "/elsewhere"))
    assert "stays open" in (batch("openai"), batch.said)[1]
    assert server.calls.total() == before
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ProviderError, match="Can't collect"):
        batch("openai")


def test_two_collectors_don_t_share_a_database(batch: Batching, server: BatchServer) -> None:
    lock = FolderLock(journal_folder(batch.db))
    with pytest.raises(JournalError, match="Another collector"):
        batch("openai")
    lock.release()
    assert server.calls.total() == 0


def test_looking_at_a_job_that_runs_leaves_no_run_behind(batch: Batching, server: BatchServer) -> None:
    batch("openai")
    batch("openai")
    batch("openai")
    assert len(list(journal_folder(batch.db).glob("*.jsonl"))) == 1


def test_a_model_s_answers_come_one_way_unless_asked_otherwise(batch: Batching, server: BatchServer) -> None:
    server.finishes_at_once = True
    batch("openai", wait=True)
    with LocalServer() as live, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", live.base_url)
        with pytest.raises(UsageError, match=r"8 trials .* by batch already"):
            collect(batch.study, ["openai/o3-mini"], batch.db, repetitions=2, yes=True)
        assert live.bodies == []


def test_live_answers_keep_a_batch_out_too(batch: Batching, server: BatchServer) -> None:
    with LocalServer() as live, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", live.base_url)
        collect(batch.study, ["openai/o3-mini"], batch.db, yes=True)
    with pytest.raises(UsageError, match="--mixed"):
        collect_batch(batch.study, ["openai/o3-mini"], batch.db, repetitions=2, yes=True)
    assert server.jobs == []


def test_what_an_open_job_is_asking_is_not_asked_live(batch: Batching, server: BatchServer) -> None:
    batch("openai")
    with LocalServer() as live, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", live.base_url)
        collect(batch.study, ["openai/o3-mini"], batch.db, yes=True)
        assert live.bodies == []


def test_only_providers_with_batch_jobs_can_be_asked_so(batch: Batching, server: BatchServer) -> None:
    with pytest.raises(UsageError, match="has no batch jobs"):
        collect_batch(batch.study, ["local/small"], batch.db, base_url=server.address, yes=True)
    assert set(WITH_BATCHES) == {"openai", "openai-responses", "anthropic"}
