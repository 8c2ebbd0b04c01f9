"""`collect check-model`: what a real local server's counts show of its model, and what is kept of that; what it says of
the responses themselves, and of fields that it reads as nobody documents them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.errors import JournalError, ProviderError
from slant.collector.keep.journal import FolderLock, journal_folder
from slant.collector.keep.journal_loader import load_journals
from slant.collector.model_checks.check import Check, calibration, check_model, check_questions, probes
from slant.collector.model_checks.findings import Answered, decide_verdict, facts, rank_correlation, step
from slant.collector.model_checks.response_facts import documented_fields, facts_of_response, shape_of, summed
from slant.collector.providers import PROVIDERS, anthropic, chat_completions
from slant.collector.study.records import StudyModel
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer, completion, error, standing_for
from tests.support.stored import rows_in
from tests.support.thinking_server import Thinker, by_effort

MODEL = StudyModel("local/thinker", "local/thinker", "local", "thinker", "")


def checked(db: Path, thinker: Any, model: StudyModel = MODEL, **options: Any) -> Check:
    with LocalServer(thinker) as server, standing_for(model.provider, server) as base_url:
        return check_model(model, db, base_url=base_url, **options)


def kept(db: Path, columns: str) -> list[tuple[Any, ...]]:
    return rows_in(db, f"SELECT {columns} FROM checks ORDER BY checked_at")  # noqa: S608


def test_a_count_that_exists_moves_and_adds_up_is_ok(tmp_path: Path) -> None:
    check = checked(tmp_path / "t.duckdb", Thinker(by_effort))
    its = check.facts
    assert (check.verdict, check.reasons) == ("ok", ())
    assert (its.n_asked, its.n_right, its.n_counted, its.counted) == (20, 20, 20, "reasoning")
    assert (its.zero_share, its.sum_share, its.step) == (0, 1, 1)
    assert its.difficulty_correlation == pytest.approx(1)
    assert (its.temperature, its.seed, its.effort.partition(":")[0]) == ("acts", "acts", "acts")
    assert its.served_models == ("thinker-2026-01-31",)


def test_a_live_model_is_asked_what_slant_reads_otherwise_than_documented_and_when_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A total that holds more than its parts, as xAI's: the output is documented as the completion alone."""

    async def with_others(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 311}
        counted = {"completion_tokens_details": {"reasoning_tokens": 300}}
        return web.json_response(completion("4", **usage | counted) | {"service_tier": "flex"})

    monkeypatch.setenv("OPENAI_API_KEY", "made-up-key-0123456789")
    model = StudyModel("openai/o3-mini", "openai/o3-mini", "openai", "o3-mini", "")
    rows = dict(checked(tmp_path / "t.duckdb", with_others, model, yes=True).responses)
    assert rows["output_tokens, otherwise than documented"].endswith("answers: documented 2, read 302")
    assert (rows["service tier"], rows["finish reason"]) == ("flex", "stop (answer)")
    assert "is gone since 23 October 2026" in rows["end of the model"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("thinker", "how", "why"),
    [
        (Thinker(lambda d, body: 64 * d), "usable with care", "steps of 64"),
        (Thinker(lambda d, body: None, text="Hm."), "not usable", "the same for every question"),
        (Thinker(lambda d, body: max(0, d - 2) * 101 % 250), "usable with care", "40% of the counts are zero"),
        (Thinker(lambda d, body: 0 if d < 5 else 70), "not usable", "80% of the counts are zero"),
        (Thinker(lambda d, body: 200 - d), "not usable", "does not move with difficulty"),
        (Thinker(answer_tokens=90), "usable with care", "not reasoning and answer together in 100%"),
        (Thinker(served_model="o1"), "usable with care", "another model answered: o1"),
    ],
)
def test_a_doubtful_count_is_told_with_the_reason(tmp_path: Path, thinker: Thinker, how: str, why: str) -> None:
    check = checked(tmp_path / "t.duckdb", thinker)
    assert check.verdict == how
    assert why in "; ".join(check.reasons)


def test_without_a_reasoning_count_the_output_is_judged_and_said_to_be(tmp_path: Path) -> None:
    class Plain(Thinker):
        def _completion(self, body: dict[str, Any], answer: str, reasoning: int | None) -> dict[str, Any]:
            said = super()._completion(body, answer, reasoning)
            del said["usage"]["completion_tokens_details"]
            return said

    check = checked(tmp_path / "t.duckdb", Plain(text="Hm."))
    assert (check.verdict, check.facts.counted, check.facts.sum_share) == ("usable with care", "output", None)
    assert "collect recount" in check.reasons[0]


def test_a_rejected_parameter_is_a_finding_and_no_failure(tmp_path: Path) -> None:
    check = checked(tmp_path / "t.duckdb", Thinker(rejects=("temperature", "reasoning_effort")))
    assert "rejected: HTTP 400: Unsupported parameter: 'temperature'" in check.facts.temperature
    assert check.facts.effort.startswith("rejected")
    assert (check.facts.seed, check.facts.n_answered) == ("acts", 20)


def test_a_parameter_without_effect_is_told(tmp_path: Path) -> None:
    class Deaf(Thinker):
        def _digits(self, body: dict[str, Any]) -> str:
            return super()._digits({})

    found = checked(tmp_path / "t.duckdb", Deaf()).facts
    assert found.temperature == found.seed == "no effect seen: two answers differ"
    assert found.effort.startswith("no effect seen")


def test_a_check_is_kept_whole_and_comes_back_from_its_journal_alone(tmp_path: Path) -> None:
    db = tmp_path / "t.duckdb"
    checked(db, Thinker())
    [before] = kept(db, "*")
    db.unlink()
    load_journals(db)
    assert kept(db, "*") == [before]
    [(answers, asked)] = kept(db, "answers, n_asked")
    responses = [json.loads(one["response"]) for one in json.loads(answers)]
    assert asked == 20
    assert all(response["usage"] for response in responses)


def test_a_check_runs_beside_a_collector_on_the_same_database(tmp_path: Path) -> None:
    lock = FolderLock(journal_folder(tmp_path / "t.duckdb"))
    try:
        checked(tmp_path / "t.duckdb", Thinker())
    finally:
        lock.release()
    assert kept(tmp_path / "t.duckdb", "verdict") == [("ok",)]


def test_a_wrong_key_ends_the_check_with_the_providers_sentence_and_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no(request: Any, body: Any) -> Any:
        return error(401, "invalid_api_key", "Incorrect API key provided: sk-secret")

    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    model = StudyModel("openai/o3-mini", "", "openai", "o3-mini", "")
    with pytest.raises(ProviderError) as caught:
        checked(tmp_path / "t.duckdb", no, model, yes=True)
    assert r"Incorrect API key provided: [key]" in str(caught.value)
    assert not (tmp_path / "t.duckdb").exists()


def test_a_key_that_is_echoed_is_in_no_file_of_a_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    thinker = Thinker(text="sk-secret", rejects=("temperature",))
    model = StudyModel("openai/thinker", "", "openai", "thinker", "")
    checked(tmp_path / "t.duckdb", thinker, model, yes=True)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 2
    assert not [path for path in files if b"sk-secret" in path.read_bytes()]


def test_paid_questions_are_sent_only_when_somebody_agreed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with LocalServer() as server, standing_for("openai", server):
        result = run_collect("check-model", "openai/o3-mini", "--db", tmp_path / "t.duckdb")
    assert (result.exit_code, server.bodies) == (2, [])
    assert "30 paid requests" in result.stderr
    assert "--yes" in result.stderr


def test_the_command_prints_the_findings_and_ends_with_a_plain_verdict(tmp_path: Path) -> None:
    with LocalServer(Thinker(lambda d, body: 64 * d)) as server:
        db = tmp_path / "t.duckdb"
        words = ("local/thinker", "--base-url", server.base_url, "--db", db, "--format", "json")
        result = run_collect("check-model", *words)
    found = {row["what"]: row["found"] for row in json.loads(result.stdout)}
    assert found["step"] == "64"
    assert found["verdict"] == "usable with care"
    assert "local/thinker: usable with care as a dependent variable.\n  the count comes in steps of 64" in result.stderr


@pytest.mark.parametrize(("name", "said"), [("o3-mini", "PROVIDER/NAME"), ("simulated/o3-mini", "published table")])
def test_what_cannot_be_checked_is_said_before_anything_is_sent(name: str, said: str, tmp_path: Path) -> None:
    result = run_collect("check-model", name, "--db", tmp_path / "t.duckdb", code=2)
    assert said in result.stderr


def test_the_settings_of_a_study_are_sent_with_every_question(tmp_path: Path) -> None:
    model = StudyModel("m", "m", "local", "thinker", "", settings={"top_p": 0.5})
    with LocalServer(Thinker()) as server:
        check_model(model, tmp_path / "t.duckdb", base_url=server.base_url)
    assert {body["top_p"] for body in server.bodies} == {0.5}
    assert kept(tmp_path / "t.duckdb", "settings") == [('{"top_p": 0.5}',)]


def test_questions_are_shuffled_by_the_seed_and_grow_in_difficulty_in_the_file() -> None:
    difficulties = [question.difficulty for question in calibration()]
    assert difficulties == sorted(difficulties)
    assert len(difficulties) == 20
    first, second = check_questions(chat_completions, 1), check_questions(chat_completions, 2)
    assert check_questions(chat_completions, 1) == first != second
    assert second[0] == first[0] == calibration()[0]


def test_every_dialect_has_parameters_to_try_but_the_simulated_one() -> None:
    tried = {name: set(probes(provider.dialect)) for name, provider in PROVIDERS.items()}
    assert not tried.pop("simulated")
    assert all({"temperature", "effort_low", "effort_high"} <= names for names in tried.values())
    assert "seed" not in probes(anthropic)


counts = st.lists(st.integers(0, 5000), max_size=30)


@given(counts)
def test_the_step_divides_every_count(found: list[int]) -> None:
    divisor = step(found)
    assert divisor is None or all(count % divisor == 0 for count in found)


@given(counts, st.booleans())
def test_facts_and_verdict_come_of_any_answers_and_shares_stay_shares(found: list[int], is_answered: bool) -> None:
    answers = [
        Answered(
            purpose="calibration",
            difficulty=n % 5,
            expected="1",
            answer="1" if is_answered or n % 3 else None,
            reasoning_tokens=count if n % 4 else None,
            output_tokens=count + n,
        )
        for n, count in enumerate(found)
    ]
    its = facts(answers)
    how, reasons = decide_verdict(its, "m")
    assert (how == "ok") == (not reasons)
    assert all(share is None or 0 <= share <= 1 for share in (its.zero_share, its.sum_share, its.readable_share))


def test_ranks_of_ties_are_their_mean() -> None:
    assert rank_correlation([1, 1, 2, 2], [5, 5, 9, 9]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [4, 4, 4]) is None


def test_a_check_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.duckdb.journal").write_text("in the way")
    with pytest.raises(JournalError, match="Can't write the journal"):
        checked(tmp_path / "t.duckdb", Thinker())


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_questions_are_in_flight_than_a_server_can_take(tmp_path: Path, concurrency: int) -> None:
    thinker, in_flight, most = Thinker(by_effort), 0, 0

    async def counting(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await asyncio.sleep(0.01)
        in_flight -= 1
        return await thinker(request, body)

    checked(tmp_path / "t.duckdb", counting, concurrency=concurrency)
    assert most == concurrency


def read(provider: str, body: dict[str, Any]) -> Any:
    return facts_of_response(body, PROVIDERS[provider].reply(body, {}))


def chat(**usage: Any) -> dict[str, Any]:
    choice = {"message": {"content": "Calm"}, "finish_reason": "stop"}
    return {"model": "m", "choices": [choice], "service_tier": "flex", "usage": {"prompt_tokens": 9, **usage}}


def test_a_plain_answer_deviates_in_nothing() -> None:
    rows = dict(summed([read("openai", chat(completion_tokens=2, total_tokens=11))] * 3))
    assert rows["read otherwise than documented"] == "nothing"
    assert (rows["service tier"], rows["reasoning text"]) == ("flex", "none")
    assert rows["finish reason"] == "stop (answer)"


def test_charges_as_xai_perplexity_and_openrouter_state_them_are_no_deviation() -> None:
    ticks, parts = {"cost_in_usd_ticks": 37_756_000}, {"cost": {"input_tokens_cost": 0.001, "total_cost": 0.0061}}
    stated = {}
    for name, usage in {"xai": ticks, "perplexity": parts, "openrouter": {"cost": 0.0061, "is_byok": False}}.items():
        body = chat(completion_tokens=2, total_tokens=11, **usage)
        output = [{"type": "message", "content": [{"type": "output_text", "text": "Calm"}]}]
        response = {"status": "completed", "model": "m", "output": output, "usage": {"input_tokens": 9, **usage}}
        assert dict(summed([read("local", body)]))["read otherwise than documented"] == "nothing", name
        assert dict(summed([read("openai-responses", response)]))["read otherwise than documented"] == "nothing", name
        stated[name] = PROVIDERS["local"].reply(body, {}).stated_cost_usd
    assert stated == {"xai": 0.0037756, "perplexity": 0.0061, "openrouter": 0.0061}


def test_hidden_reasoning_is_a_field_that_is_read_otherwise_than_documented() -> None:
    hidden = read("openai", chat(completion_tokens=2, total_tokens=311))
    rows = dict(summed([hidden, read("openai", chat(completion_tokens=2, total_tokens=11))]))
    assert rows["output_tokens, otherwise than documented"] == "in 1 of 2 answers: documented 2, read 302"
    assert rows["reasoning_tokens, otherwise than documented"] == "in 1 of 2 answers: documented nothing, read 300"


def test_what_a_server_says_reaches_a_terminal_as_plain_text() -> None:
    evil = chat(completion_tokens="\x1b[2J2", total_tokens=11) | {"service_tier": "\x1b[2Jflex"}
    said = dict(summed([read("openai", evil)]))
    assert [row for row in said.items() if "\x1b" in "".join(row)] == []
    assert "[2J2, read" in said["output_tokens, otherwise than documented"]


def test_a_temperature_that_the_answer_reports_otherwise_was_ignored() -> None:
    tried = [Answered(purpose="temperature", answer=str(n), effective_temperature=1.0) for n in range(2)]
    assert facts(tried).temperature == "ignored: the answers report 1"


def test_the_documentation_knows_each_kind_of_response_and_no_other() -> None:
    gemini = {"candidates": [{"content": {"parts": [{"text": "Hm", "thought": True}, {"text": "Calm"}]}}]}
    assert documented_fields(gemini)["answer"] == "Calm"
    assert documented_fields(gemini)["reasoning_text"] == "Hm"
    commentary = {"type": "message", "phase": "commentary", "content": [{"type": "output_text", "text": "First"}]}
    final = {"type": "message", "content": [{"type": "output_text", "text": "Calm"}]}
    assert documented_fields({"output": [commentary, final], "usage": {}})["answer"] == "Calm"
    assert (shape_of({"hello": 1}), documented_fields({"hello": 1})) == (None, {})
