"""Batch jobs: nothing is submitted twice, keys stay with their host, live and batch answers don't mix."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from slant.collector import collect
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
from tests.support.local_server import LocalServer


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
        with pytest.raises(UsageError, match=r"8 trials .* collected by batch"):
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
