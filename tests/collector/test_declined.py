"""A request that is declined in words that nobody knows ends its trial, not its model; twice, and it is rejected."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.ask.reading_again import read_again
from slant.collector.keep.database import writing
from slant.collector.keep.journal_loader import load_journals, put_aside
from slant.collector.records import READ_AGAIN
from tests.support.local_server import Handler, LocalServer, answers, completion, error
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

ONE: dict[str, Any] = {"concurrency": 1, "max_retries": 1}


def declines(*words: str) -> Handler:
    async def handler(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if any(f'"{word}"' in body["messages"][-1]["content"] for word in words):
            return error(400, "odd", "The gremlins said no.")
        return await answers(request, body)

    return handler


def declines_one_but_the_first() -> Handler:
    """One word is declined, which is not the one that is asked first."""
    declined = ""

    async def handler(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        nonlocal declined
        declined = declined or ("latte" if '"mocha"' in body["messages"][-1]["content"] else "mocha")
        return await declines(declined)(request, body)

    return handler


def outcomes(db: Path) -> Counter[str]:
    return Counter(dict(rows_in(db, "SELECT outcome, count(*) FROM trials GROUP BY ALL")))


@pytest.fixture
def study(tmp_path: Path) -> str:
    return str(write_tiny(tmp_path))


@pytest.mark.slow
def test_a_trial_that_is_declined_in_two_calls_is_rejected_and_asked_no_more(study: str, db: Path) -> None:
    with LocalServer(declines_one_but_the_first()) as server:
        reports = [collect(db, study, ["local/m"], base_url=server.base_url, **ONE) for _ in range(3)]
    rows = [(r.models[0]["answered"], r.models[0]["rejected"], r.models[0]["failed"]) for r in reports]
    assert (rows, len(server.bodies)) == ([(6, 0, 2), (0, 2, 0), (0, 0, 0)], 10)
    assert (outcomes(db), reports[-1].is_complete) == ({"answered": 6, "rejected": 2}, True)
    counted = rows_in(db, "SELECT n_trials, n_refused, n_filtered, n_rejected FROM outcome_counts")
    assert counted == [(4, 0, 0, 1)] * 2
    rates = rows_in(db, "SELECT n_rejected, n_refusals, refusal_rate FROM refusals_by_condition")
    assert rates == [(1, 0, 0.0)] * 2  # it is no refusal


@pytest.mark.slow
def test_a_study_whose_first_prompts_are_declined_is_complete_in_a_few_calls(study: str, db: Path) -> None:
    """What was declined before is asked last, once the model has answered others."""
    with LocalServer(answers) as server:
        collect(db.with_name("b.duckdb"), study, ["local/m"], base_url=server.base_url, **ONE)
        first = next(word for word in ("mocha", "latte", "oolong", "sencha") if f'"{word}"' in server.prompts[0])
        server.handler = declines(first)
        while not (report := collect(db, study, ["local/m"], base_url=server.base_url, **ONE)).is_complete:
            assert len(server.bodies) < 30
    assert (report.is_complete, outcomes(db)) == (True, {"answered": 6, "rejected": 2})


@pytest.mark.slow
def test_rejected_trials_are_asked_again_where_a_person_wants_it_also_after_a_rebuild(study: str, db: Path) -> None:
    with LocalServer(declines_one_but_the_first()) as server:
        for _ in range(3):
            collect(db, study, ["local/m"], base_url=server.base_url, **ONE)
        server.handler = answers
        collect(db, study, ["local/m"], base_url=server.base_url, **ONE, ask_rejected=True)
    assert outcomes(db) == {"answered": 8}
    put_aside(db)
    load_journals(db)
    assert outcomes(db) == {"answered": 8}


@pytest.mark.parametrize("limit", [2, 3])
def test_several_different_trials_in_a_row_end_the_model(study: str, db: Path, limit: int) -> None:
    n_asked = 0

    async def breaks(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        nonlocal n_asked
        n_asked += 1
        return await answers(request, body) if n_asked == 1 else error(403, "", "The gremlins said no.")

    with LocalServer(breaks) as server:
        options = {"concurrency": 1, "max_retries": 1, "stop_after_declined": limit}
        [row] = collect(db, study, ["local/m"], base_url=server.base_url, **options).models
    assert (row["answered"], row["failed"], n_asked) == (1, limit, 1 + limit)
    assert "trials in a row were declined" in row["stopped_because"]


def test_a_model_that_has_never_answered_is_stopped_by_one_request(study: str, db: Path) -> None:
    with LocalServer(declines("mocha", "latte", "oolong", "sencha")) as server:
        [row] = collect(db, study, ["local/m"], base_url=server.base_url, **ONE).models
    assert (len(server.bodies), row["asked"], "gremlins" in row["stopped_because"]) == (1, 0, True)


def test_a_declined_prompt_waits_for_answers_in_flight_before_it_stops_a_model(study: str, db: Path) -> None:
    """Errors are quicker than answers: the first response of a run may be the only one that is none."""

    async def slow_but(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if '"mocha"' in body["messages"][-1]["content"]:
            was_declined.set()
            return error(400, "odd", "The gremlins said no.")
        await was_declined.wait()
        return await answers(request, body)

    was_declined = asyncio.Event()
    with LocalServer(slow_but) as server:
        [row] = collect(db, study, ["local/m"], base_url=server.base_url, **{**ONE, "concurrency": 8}).models
    assert (row["answered"], row["failed"], row["stopped_because"]) == (6, 2, None)


@pytest.mark.slow
def test_other_settings_have_to_answer_first_once_more(tmp_path: Path, db: Path) -> None:
    study = str(write_tiny(tmp_path))
    with LocalServer(answers) as server:
        collect(db, study, ["local/small"], base_url=server.base_url, **ONE)
        change = ('frame = "plain"\n\n[variants', 'frame = "plain"\nsettings = { top_k = 3 }\n\n[variants')
        changed = str(write_tiny(tmp_path, study=change))
        server.handler = declines("mocha", "latte", "oolong", "sencha")
        [row] = collect(db, changed, ["local/small"], base_url=server.base_url, **ONE).models
    assert (len(server.bodies), row["stopped_because"] is not None) == (9, True)


@pytest.mark.slow
def test_what_an_older_slant_took_for_an_answer_is_read_again_and_asked(study: str, db: Path) -> None:
    """As if `CUT` had been an answer when it came: the journal still holds what the older slant made of it."""

    async def cut(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        answer = completion("Calm")
        answer["choices"][0]["finish_reason"] = "error" if '"mocha"' in body["messages"][-1]["content"] else "stop"
        return web.json_response(answer)

    with LocalServer(cut) as server, pytest.MonkeyPatch.context() as patch:
        from slant.collector.providers import endings

        patch.setattr(endings, "known_endings", lambda: {("chat", "stop"): "answer", ("chat", "error"): "answer"})
        endings.ending.cache_clear()
        collect(db, study, ["local/m"], base_url=server.base_url, **ONE)
    endings.ending.cache_clear()
    assert outcomes(db) == {"answered": 8}
    report = read_again(db)
    assert (report.read, report.changed, report.outcomes) == (8, 2, {("answered", "failed"): 2})
    assert outcomes(db) == {"answered": 6}
    with LocalServer(answers) as server:
        assert collect(db, study, ["local/m"], base_url=server.base_url, **ONE).is_complete
    assert (len(server.bodies), outcomes(db), read_again(db).changed) == (2, {"answered": 8}, 0)


def test_all_that_a_reading_decides_comes_back_when_a_response_is_read_again(study: str, db: Path) -> None:
    lost = [name for name in READ_AGAIN if name not in ("outcome", "is_final", "factors")]
    kept = f"SELECT {', '.join(READ_AGAIN)} FROM attempts ORDER BY attempt_id"  # noqa: S608
    with LocalServer(answers) as server:
        collect(db, study, ["local/m"], base_url=server.base_url, **ONE)
    before = rows_in(db, kept)
    with writing(db) as connection:
        connection.execute(f"UPDATE attempts SET {', '.join(f'{name} = NULL' for name in lost)}")  # noqa: S608
    assert read_again(db).changed == 8
    assert rows_in(db, kept) == before
