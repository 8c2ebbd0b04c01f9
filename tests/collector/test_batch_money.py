"""Batch jobs: only what surely fits a budget is submitted, nothing is submitted twice, keys stay with their host, live
and batch answers don't mix."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slant.collector import BatchReport, collect
from slant.collector.batch.services import WITH_BATCHES, Services
from slant.collector.batch.submit import mixed_notes
from slant.collector.errors import JournalError, ProviderError, UsageError
from slant.collector.keep.batch_jobs import JobFolder
from slant.collector.keep.journal import FolderLock, journal_folder
from slant.collector.providers import provider_named
from slant.collector.records import Prompt
from slant.collector.studies.catalogue import StudyModel
from tests.support.batch_server import KEY, BatchServer
from tests.support.batching import PLANNED, Batching, both
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer, completion
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

PRICE = '[[prices]]\nprovider = "openai"\nmodel = "small"\ninput = 0\noutput = 1000.0\ndate = 2026-11-21\n{}'
MOST = 0.05  # US dollars: 100 tokens at half of $0.001
BILLED = 0.037  # 74 tokens


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    with BatchServer() as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


class Paid:
    """`collect(batch=True)` on the tiny study, asked of a model whose answers have at most 100 tokens."""

    def __init__(self, folder: Path) -> None:
        limited = ('provider = "local"\n', 'provider = "openai"\nsettings = { max_completion_tokens = 100 }\n')
        (folder / "study").mkdir()
        self.study, self.db = str(write_tiny(folder / "study", study=limited)), folder / "a.duckdb"
        self.prices = folder / "prices.toml"
        self.prices.write_text(PRICE.format("batch_factor = 0.5\n"))

    def __call__(self, budget_usd: float | None, **options: bool) -> BatchReport:
        how: dict[str, Any] = {"settle_s": 0.0, "poll_s": 0.01, "budget": budget_usd, **options}
        return collect(self.db, self.study, ["small"], prices=self.prices, yes=True, batch=True, **how)

    def live(self, budget_usd: float) -> str:
        """Why a live run of the same study stopped, with so high a budget."""
        with LocalServer() as server, pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_BASE_URL", server.base_url)
            report = collect(
                self.db,
                self.study,
                ["small"],
                prices=self.prices,
                budget=budget_usd,
                mixed=True,
                yes=True,
                repetitions=2,
            )  # fmt: skip
            assert server.bodies == []
        return str(report.models[0]["stopped_because"])


@pytest.fixture
def paid(tmp_path: Path, server: BatchServer) -> Paid:
    return Paid(tmp_path)


def test_only_requests_whose_most_fits_are_submitted_and_the_others_are_said(paid: Paid, server: BatchServer) -> None:
    report = paid(5.5 * MOST)
    assert [len(job["requests"]) for job in server.jobs] == [5]
    assert report.made[0].reserved_usd == pytest.approx(5 * MOST)
    said = report.models[0]["stopped_because"]
    assert said.startswith("3 requests held back: the budget of $0.28 can't cover")
    assert "up to $0.2500 is reserved for open jobs" in said


@pytest.mark.slow
def test_what_answers_cost_less_than_was_reserved_is_spent_on_the_others(paid: Paid, server: BatchServer) -> None:
    budget = 5.4 * MOST  # after five answers for 0.185, one more fits; after that none
    paid(budget)
    server.finish()
    report = paid(budget)
    server.finish()
    last = paid(budget)
    assert [len(job["requests"]) for job in server.jobs] == [5, 1]
    assert (report.models[0]["done"], last.models[0]["done"], last.open_jobs) == (5, 6, ())
    assert "$0.2220 is spent" in last.models[0]["stopped_because"]
    assert paid(8 * MOST).models[0]["submitted"] == 2


@pytest.mark.slow
def test_waiting_with_a_budget_goes_on_as_money_comes_back_and_ends(paid: Paid, server: BatchServer) -> None:
    server.finishes_at_once = True
    report = paid(7 * BILLED + MOST, wait=True)
    assert report.is_complete
    assert [len(job["requests"]) for job in server.jobs] == [6, 1, 1]
    assert rows_in(paid.db, "SELECT sum(cost_usd) FROM attempts") == [(pytest.approx(8 * BILLED),)]


def test_a_budget_that_fits_nothing_submits_nothing(paid: Paid, server: BatchServer) -> None:
    report = paid(0.9 * MOST)
    assert (server.jobs, report.models[0]["stopped_because"][:8]) == ([], "8 reques")


@pytest.mark.slow
def test_open_jobs_and_lost_ones_count_against_the_budget_of_a_live_run(paid: Paid, server: BatchServer) -> None:
    paid(None)
    assert "$0.0000 is spent and up to $0.4000 for open batch jobs" in paid.live(8.5 * MOST)
    folder = JobFolder(paid.db)
    (job,) = folder.open_jobs()
    folder.close(job, "lost: HTTP 404: no such batch")
    assert "up to $0.4000 for requests that were interrupted, lost, or answered without" in paid.live(8.5 * MOST)
    held_back = str(paid(8.5 * MOST).models[0]["stopped_because"])
    assert "up to $0.4000 is for requests that were interrupted, lost, or answered without" in held_back
    assert "open jobs" not in held_back
    assert held_back.endswith("To continue: a higher --budget")


@pytest.mark.slow
def test_answers_without_counts_are_told_apart_from_open_jobs_when_their_job_is_closed(
    paid: Paid, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.batch_server.completion", lambda answer: completion(answer) | {"usage": None})
    paid(5.5 * MOST)
    server.finish()
    said = str(paid(5.5 * MOST).models[0]["stopped_because"])
    assert "$0.0000 is spent, up to $0.2500 is for requests that were interrupted, lost, or answered without" in said
    assert [len(job["requests"]) for job in server.jobs] == [5]
    assert "$0.0000 is spent and up to $0.2500 for requests that were interrupted, lost" in paid.live(5.5 * MOST)


@pytest.mark.slow
def test_a_job_of_an_older_slant_is_reserved_by_what_it_asks(paid: Paid, server: BatchServer) -> None:
    paid(None)
    (file,) = JobFolder(paid.db).folder.glob("*.json")
    text = file.read_text()
    assert ',"reserved_usd":0.' in text
    file.write_text(text.partition(',"reserved_usd"')[0] + "}")
    assert "up to $0.4000" in paid.live(8.5 * MOST)


def test_a_budget_of_batches_wants_their_price_before_anything_is_sent(paid: Paid, server: BatchServer) -> None:
    paid.prices.write_text(PRICE.format(""))
    with pytest.raises(UsageError, match="no price of batch jobs is known for openai/small"):
        paid(5.0)
    with pytest.raises(UsageError, match="budget must be above 0"):
        paid(0.0)
    assert server.calls.total() == 0


@pytest.mark.slow
def test_a_pilot_goes_by_batch_and_the_rest_after_its_answers(paid: Paid, server: BatchServer) -> None:
    def typed(*more: str) -> tuple[int, str]:
        words = ["--study", paid.study, "--model", "small", "--batch", "--db", str(paid.db), "--pilot", "4", *more]
        done = run_collect(*words, "--prices", paid.prices)
        return done.exit_code, done.stderr

    code, said = typed("--yes")
    assert (code, "These are the pilot's 4 trials" in said) == (3, True)
    server.finish()
    code, said = typed()
    assert (code, "The pilot (4 trials) has its answers" in said, "with --yes" in said) == (0, True, True)
    assert "times 0.5" in said
    assert [len(job["requests"]) for job in server.jobs] == [4]
    code, said = typed("--yes", "--budget", "20")
    assert (code, [len(job["requests"]) for job in server.jobs]) == (3, [4, 4])
    server.finish()
    code, said = typed("--yes")
    assert (code, "Done" in said) == (0, True)
    assert len(set(server.asked())) == PLANNED


@pytest.fixture
def batch(tmp_path: Path, server: BatchServer) -> Batching:
    return Batching(tmp_path, server)


@pytest.mark.slow
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


@pytest.mark.slow
@both
def test_a_submission_without_an_answer_is_not_repeated_by_the_sdk(
    batch: Batching, server: BatchServer, provider: str
) -> None:
    server.refusals["create"] = (500, "try later")
    assert len(batch(provider).open_jobs) == 1
    assert server.calls["create"] == 1


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_model_s_answers_come_one_way_unless_asked_otherwise(batch: Batching, server: BatchServer) -> None:
    server.finishes_at_once = True
    batch("openai", wait=True)
    with LocalServer() as live, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", live.base_url)
        with pytest.raises(UsageError, match=r"8 trials .* were collected by batch"):
            collect(batch.db, batch.study, ["openai/o3-mini"], repetitions=2, yes=True)
        assert live.bodies == []


@pytest.mark.slow
def test_live_answers_keep_a_batch_out_too(batch: Batching, server: BatchServer) -> None:
    with LocalServer() as live, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", live.base_url)
        collect(batch.db, batch.study, ["openai/o3-mini"], yes=True)
    with pytest.raises(UsageError, match="--mixed"):
        collect(batch.db, batch.study, ["openai/o3-mini"], repetitions=2, yes=True, batch=True)
    assert server.jobs == []


@pytest.mark.slow
def test_mixing_them_knowingly_is_said_under_the_tables(batch: Batching, server: BatchServer) -> None:
    server.finishes_at_once = True
    batch("openai", wait=True)
    assert mixed_notes(batch.db, None) == []
    with LocalServer() as live, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", live.base_url)
        collect(batch.db, batch.study, ["openai/o3-mini"], repetitions=2, yes=True, mixed=True)
    assert "o3-mini was collected partly live and partly by batch" in "".join(mixed_notes(batch.db, None))
    assert batch.rows("SELECT n_live, n_batch FROM mixed_batches") == [(PLANNED, PLANNED)]


def test_what_an_open_job_is_asking_is_not_asked_live(batch: Batching, server: BatchServer) -> None:
    batch("openai")
    with LocalServer() as live, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", live.base_url)
        collect(batch.db, batch.study, ["openai/o3-mini"], yes=True)
        assert live.bodies == []


def test_only_providers_with_batch_jobs_can_be_asked_so(batch: Batching, server: BatchServer) -> None:
    with pytest.raises(UsageError, match="has no batch jobs"):
        collect(batch.db, batch.study, ["local/small"], base_url=server.address, yes=True, batch=True)
    assert set(WITH_BATCHES) == {"openai", "openai-responses", "anthropic", "simulated"}


@pytest.mark.slow
@both
def test_the_key_follows_no_redirect(batch: Batching, server: BatchServer, provider: str) -> None:
    batch(provider)
    with BatchServer() as other:
        server.redirect = f"{other.address}/v1/batches/batch_0"
        report = batch(provider)
        assert other.calls.total() == 0
    assert len(report.open_jobs) == 1


@pytest.mark.slow
def test_results_at_another_host_are_not_fetched_with_the_key(batch: Batching, server: BatchServer) -> None:
    batch("anthropic")
    server.finish()
    with BatchServer() as other:
        server.results_address = other.address
        assert len(batch("anthropic").open_jobs) == 1
        assert other.calls.total() == 0
    assert "which gets no key" in batch.said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "endpoint"),
    [
        ("openai", "/v1/chat/completions"),
        ("openai-responses", "/v1/responses"),
        ("anthropic", "/v1/messages"),
    ],
)
def test_a_line_holds_the_request_as_it_would_have_been_sent(provider: str, endpoint: str) -> None:
    url = "http://localhost/v1" if provider != "anthropic" else "http://localhost"
    study_model = StudyModel("m", "m", provider, "m", "plain")
    prompt = Prompt(({"role": "user", "content": "Tea?"},))
    request = provider_named(provider).dialect.request(url, KEY, study_model, prompt, None)  # type: ignore[arg-type]
    service = Services().get(provider, url, KEY)
    line = service.line("slant-1-0", request, service.endpoint(request, url))
    assert service.endpoint(request, url) == endpoint
    assert service.body(line) == request.body
    assert KEY not in json.dumps(line)
