"""Batch jobs on disk and their split at the provider's limits, without any provider."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.ask.lane_money import LaneMoney
from slant.collector.batch.services import lines_of
from slant.collector.batch.submit import Feed, Pending, Purse, fill
from slant.collector.commands.status import show_jobs
from slant.collector.errors import JournalError
from slant.collector.keep.batch_jobs import Job, JobFolder, JobRequest, key_check, new_job_id
from slant.collector.keep.journal import utc_now
from slant.collector.plan.conversations import plan
from slant.collector.providers.exchange import Request
from slant.collector.records import Conversation, Prompt, Trial
from slant.collector.studies.catalogue import load_study
from tests.support.tiny_study import write_tiny


def a_trial(number: int) -> Trial:
    texts = dict.fromkeys(("study", "study_version", "variant", "model", "test", "condition", "item", "group"), "x")
    options = dict.fromkeys(("option_a", "option_b", "expected"))
    return Trial(f"t{number}", **texts, **options, wording=1, repetition=1, position=number)  # type: ignore[arg-type]


def a_job(**changed: Any) -> Job:
    usual = Job(
        job_id=new_job_id(),
        state="planned",
        run_id="r",
        study="s",
        study_version="v",
        variant="base",
        provider="openai",
        base_url="http://localhost/v1",
        endpoint="/v1/chat/completions",
        model={},
        n_requests=0,
        n_bytes=0,
        sha256="",
        key_check="",
        created_at=utc_now(),
    )
    return replace(usual, **changed)


class Lines:
    """A provider whose lines are as long as the request says."""

    def line(self, custom_id: str, request: Request, endpoint: str) -> Mapping[str, Any]:
        return {"custom_id": custom_id, "body": request.body}


def split(sizes: list[int], max_requests: int, max_bytes: int) -> list[list[tuple[JobRequest, bytes]]]:
    items = (
        Pending(Conversation(f"c{n}", ()), a_trial(n), Prompt(()), Request("", {}, {"text": "x" * size}))
        for n, size in enumerate(sizes)
    )
    feed, jobs = Feed(items), []
    while feed:
        lines = fill(feed, Lines(), "slant-1", "", max_requests, max_bytes, Purse(LaneMoney()))  # type: ignore[arg-type]
        jobs.append(list(lines))
    return jobs


@given(st.lists(st.integers(0, 300)), st.integers(1, 7), st.integers(1, 900))
def test_a_split_keeps_every_request_once_and_within_the_limits(sizes: list[int], most: int, room: int) -> None:
    jobs = split(sizes, most, room)
    assert [asked.trial.position for job in jobs for asked, _ in job] == list(range(len(sizes)))
    for job in jobs:
        assert 1 <= len(job) <= most
        assert len(job) == 1 or sum(len(line) for _, line in job) <= room
        assert [asked.custom_id for asked, _ in job] == [f"slant-1-{n}" for n in range(len(job))]


def test_a_job_of_a_plan_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    study, folder = load_study(str(write_tiny(tmp_path))), JobFolder(tmp_path / "a.duckdb")
    trials = [conversation.trials[0] for conversation in plan(study, study.models[0])]
    lines = [(JobRequest(f"slant-1-{n}", "c", "h", trial), b"{}\n") for n, trial in enumerate(trials)]
    job = folder.create(a_job(study=study.name, model={"model": "small", "settings": {}}), lines)
    assert folder.jobs() == [job]
    content = folder.requests(job).read_bytes()
    assert (job.n_requests, job.n_bytes, job.sha256) == (8, len(content), hashlib.sha256(content).hexdigest())
    assert [asked.trial for asked in folder.asked(job)] == trials


def test_status_says_for_how_long_the_oldest_open_answer_is_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = JobFolder(tmp_path / "a.duckdb")
    for hours in (1, 30):
        began = (datetime.now(UTC) - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.%f")
        (lines,) = split([5], 10, 1000)
        folder.create(a_job(model={"model": "small", "settings": {}}, state="sent", sending_at=began), lines)
    show_jobs(tmp_path / "a.duckdb", "csv")
    assert "2 batch jobs open; the oldest open requests were submitted 30 h ago (" in capsys.readouterr().err


@pytest.mark.parametrize("custom_id", ["slant-1-9", "slant-2-0", "slant-1-x", "slant-1", "", "-0", "slant-1-²"])
def test_an_id_of_another_job_is_nobody_s(tmp_path: Path, custom_id: str) -> None:
    folder = JobFolder(tmp_path / "a.duckdb")
    names = folder.map_of(folder.create(a_job(job_id="slant-1"), split([5], 10, 1000)[0]))
    assert names.find(custom_id) is None
    found = names.find("slant-1-0")
    assert found is not None
    assert found[0].trial == a_trial(0)


def test_what_was_never_an_intent_is_swept_away_and_a_closed_job_keeps_its_record(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "a.duckdb")
    job = folder.create(a_job(study="s"), split([5], 10, 1000)[0])
    (folder.folder / "slant-0.requests.jsonl").write_text("half a li")
    folder.sweep()
    assert list(folder.trial_ids("s")) == ["t0"]
    folder.close(job, "completed", {"answered": 1})
    assert [path.name for path in folder.folder.iterdir()] == [f"{job.job_id}.json"]
    assert list(folder.trial_ids("s")) == []


def test_a_job_that_can_t_be_read_stops_everything(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "a.duckdb")
    folder.create(a_job(), [])
    (folder.folder / "slant-9.json").write_text("{}")
    with pytest.raises(JournalError, match="Nothing was submitted"):
        folder.open_jobs()


def test_a_field_of_a_newer_slant_is_passed_over(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "a.duckdb")
    job = folder.create(a_job(), [])
    file = folder.folder / f"{job.job_id}.json"
    file.write_text(file.read_text().replace("{", '{"moon":"full",', 1))
    assert folder.jobs() == [job]


def test_a_key_is_told_from_another_without_being_kept(tmp_path: Path) -> None:
    assert key_check("slant-1", "sk-1") == key_check("slant-1", "sk-1")
    assert len({key_check("slant-1", "sk-1"), key_check("slant-1", "sk-2"), key_check("slant-2", "sk-1")}) == 3
    assert "sk-1" not in key_check("slant-1", "sk-1")


@given(st.text(), st.integers(1, 9))
def test_lines_break_at_line_feeds_only_however_they_arrive(text: str, width: int) -> None:
    data = text.encode("utf-8", "replace")
    chunks = [data[start : start + width] for start in range(0, len(data), width)]
    lines = [line for line in lines_of(chunks) if line and line.strip()]  # blank ones are counted, and passed over
    assert lines == [line for line in data.split(b"\n") if line.strip()]
