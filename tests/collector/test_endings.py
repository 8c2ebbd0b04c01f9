"""An ending is an answer only if it is known to be one; whatever else comes is none, and is said once a run. Every
value that an SDK can give as the end of an answer has a verdict; a new one fails here until it is decided."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.providers import PROVIDERS, anthropic, gemini, ollama, openai, openai_responses, provider_named
from slant.collector.providers.endings import ending, ending_rows, known_endings, with_own_endings
from slant.collector.providers.error_meanings import error_rows
from slant.collector.records import Reply
from tests.support.each_row import each_row
from tests.support.local_server import LocalServer, completion, standing_for
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny
from tools.sdk_values import sdk_values


def chat(finish: Any, content: Any = "Calm", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    return {"choices": [{"finish_reason": finish, "message": message}], "usage": {"completion_tokens": 2}}


def claude(stop: Any, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"model": "other", "stop_reason": stop, "content": list(blocks) or [{"type": "text", "text": "Calm"}]}


def response(status: str, **more: Any) -> dict[str, Any]:
    said = [{"type": "message", "content": [{"type": "output_text", "text": "Calm"}]}]
    return {"status": status, "output": said, "usage": {"output_tokens": 2}, **more}


def candidate(finish: Any) -> dict[str, Any]:
    return {"candidates": [{"finishReason": finish, "content": {"parts": [{"text": "Calm"}]}}]}


@each_row(
    ("dialect", "body", "outcome", "detail"),
    [
        (openai, chat("stop"), None, None),
        (openai, chat("model_length"), "truncated", None),
        (openai, chat("sensitive"), "filtered", None),
        (openai, chat("network_error"), "failed", "the provider ended it with network_error"),
        (openai, chat("NEW_WORD"), "malformed", "NEW_WORD"),
        (openai, chat(None), "malformed", "no finish reason"),
        (openai, chat("NEW_WORD", refusal="No."), "refused", None),
        (openai_responses, response("completed"), None, None),
        (openai_responses, response("incomplete", incomplete_details={"reason": "max_messages"}), "truncated", None),
        (openai_responses, response("incomplete", incomplete_details={"reason": "steered"}), "malformed", "steered"),
        (openai_responses, response("queued"), "failed", "the provider ended it with queued"),
        (openai_responses, response("NEW_WORD"), "malformed", "NEW_WORD"),
        (anthropic, claude("end_turn"), None, None),
        (anthropic, claude("pause_turn"), "malformed", "pause_turn"),
        (anthropic, claude("NEW_WORD"), "malformed", "NEW_WORD"),
        (gemini, candidate("STOP"), None, None),
        (gemini, candidate("CONTINUATION"), "truncated", None),
        (gemini, candidate("ESCALATION"), "filtered", None),
        (gemini, candidate("MALFORMED_RESPONSE"), "malformed", "MALFORMED_RESPONSE"),
        (gemini, candidate("NEW_WORD"), "malformed", "NEW_WORD"),
        (gemini, candidate(None), "malformed", "no finish reason"),
        (ollama, {"message": {"content": "Calm"}, "done": True, "done_reason": "stop"}, None, None),
        (ollama, {"message": {"content": "Calm"}, "done": False}, "failed", "the provider ended it with not done"),
        (ollama, {"message": {"content": ""}, "done": True, "done_reason": "load"}, "failed",
         "the provider ended it with load"),
    ],
)  # fmt: skip
def test_each_ending_is_what_its_provider_means(
    dialect: Any, body: Any, outcome: str | None, detail: str | None
) -> None:
    reply = dialect.reply(body, {})
    assert (reply.outcome, reply.detail) == (outcome, detail)


@each_row(
    ("dialect", "body"),
    [
        (openai, {"choices": None, "usage": {"completion_tokens": 9}}),
        (openai, {"choices": []}),
        (openai, {"choices": [{"message": {"role": "assistant", "content": None}}]}),
        (openai, {"choices": [{"message": None, "finish_reason": None}]}),
        (openai_responses, {"status": "completed", "output": [], "usage": {"output_tokens": 0}}),
        (anthropic, {"model": "m"}),
        (gemini, {"modelVersion": "m"}),
        (gemini, {"candidates": [{"index": 0}]}),
        (ollama, {"model": "m", "done": True, "done_reason": "stop"}),
    ],
)
def test_a_response_in_which_nobody_answered_is_a_failure(dialect: Any, body: dict[str, Any]) -> None:
    assert dialect.reply(body, {}).outcome == "failed"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (chat("length", None), "truncated"),
        (chat("content_filter", None), "filtered"),
        (chat("stop", None, refusal="No."), "refused"),
        (chat("stop", None), None),  # billed: the design finds it empty
        (
            {"choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": [{"function": {"name": "f"}}]}}]},
            None,
        ),
    ],
)
def test_an_empty_text_that_ended_in_a_known_way_or_was_billed_keeps_its_outcome(body: Any, outcome: Any) -> None:
    assert openai.reply(body, {}).outcome == outcome


FALLBACK = {
    "type": "fallback", "from": {"model": "asked"}, "to": {"model": "other"},
    "trigger": {"type": "refusal", "category": "bio"},
}  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        claude("end_turn", {"type": "text", "text": "I"}, FALLBACK, {"type": "text", "text": "Calm"}),
        claude("end_turn") | {"usage": {"iterations": [{"type": "fallback_message", "model": "other"}]}},
    ],
)
def test_an_answer_by_another_model_after_a_refusal_is_a_refusal(body: dict[str, Any]) -> None:
    reply = anthropic.reply(body, {})
    assert (reply.outcome, reply.detail) == ("refused", "refused; other answered in its place")
    assert reply.answer != "Calm"


def test_a_refusal_has_the_category_that_its_provider_names() -> None:
    body = claude("refusal") | {"stop_details": {"type": "refusal", "category": "cyber", "explanation": "Harm."}}
    reply = anthropic.reply(body, {})
    assert (reply.outcome, reply.filter_category, reply.detail) == ("refused", "cyber", "Harm.")


def test_a_server_of_the_users_own_may_give_no_reason_or_one_of_its_own() -> None:
    local = provider_named("local")
    assert local.reply(chat(None), {}).outcome is None
    assert local.reply(chat(""), {}).outcome is None
    assert local.reply(chat("NEW_WORD"), {}).outcome == "malformed"
    own = openai.reply(chat("done"), {})
    assert with_own_endings(own, ("done",), takes_missing=True).outcome is None
    refused = Reply(outcome="refused", ending="unknown", finish_reason="done", detail="No.")
    assert with_own_endings(refused, ("done",), takes_missing=True).outcome == "refused"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "ending", "said"),
    [
        ("openai", "NEW_WORD", "openai ended 8 answers with NEW_WORD, which slant does not know; they are not counted"),
        ("local", None, "local gave no reason why 8 answers ended; they count as answers all the same."),
        ("local", "stop", None),
    ],
)
def test_what_is_unknown_or_missing_is_said_once_a_run(
    provider: str, ending: str | None, said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answers(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        choice = {"message": {"role": "assistant", "content": "Calm"}, "finish_reason": ending}
        return web.json_response(completion() | {"choices": [choice]})

    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    study, db = str(write_tiny(tmp_path)), tmp_path / "a.duckdb"
    with LocalServer(answers) as server, standing_for(provider, server) as base_url:
        report = collect(db, study, [f"{provider}/m"], base_url=base_url, yes=True, max_retries=0)
    notes = [note for note in report.notes if "malformed" not in note]
    assert len(notes) == (said is not None)
    assert all(note.startswith(said or "") for note in notes)
    kept = rows_in(db, "SELECT DISTINCT outcome, detail FROM trials")
    assert kept == [("malformed", "NEW_WORD") if ending == "NEW_WORD" else ("answered", None)]


def test_a_model_none_of_whose_answers_can_be_read_is_said_loudly(tmp_path: Path) -> None:
    async def prose(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion("Bananas."))

    with LocalServer(prose) as server:
        report = collect(tmp_path / "a.duckdb", str(write_tiny(tmp_path)), ["local/m"], base_url=server.base_url)
    assert "WARNING: 8 of 8 answers of local/m are malformed" in report.notes[0]


def test_an_account_that_may_not_be_used_stops_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def limited(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(candidate("PUP_LIMITED_DISABLED"))

    monkeypatch.setenv("GEMINI_API_KEY", "a-key")
    with LocalServer(limited) as server, standing_for("gemini", server):
        options = {"concurrency": 1}
        report = collect(tmp_path / "a.duckdb", str(write_tiny(tmp_path)), ["gemini/m"], yes=True, **options)
    assert (len(server.bodies), report.models[0]["asked"]) == (1, 0)
    assert "PUP_LIMITED_DISABLED" in report.models[0]["stopped_because"]


@each_row(
    ("dialect", "word", "kind"),
    [
        ("chat", "STOP", "answer"),
        ("chat", "content-filter", "filtered"),
        ("chat", "PROHIBITED_CONTENT", "filtered"),
        ("chat", "max_output_tokens", "truncated"),
        ("anthropic", "guardrail_intervened", "filtered"),
        ("responses", "COMPLETED", "answer"),
        ("responses", "SAFETY", "filtered"),
        ("chat", "unheard_of", "unknown"),
        ("gemini", "Unheard_Of", "unknown"),
        ("chat", "COMPLETE", "answer"),
        ("chat", "ERROR_TOXIC", "filtered"),
        ("chat", "blacklist", "filtered"),
        ("chat", "token_limit", "truncated"),
        ("chat", "FINISH_REASON_SAFETY", "filtered"),
        ("chat", "FinishReason.STOP", "answer"),
        ("chat", "FINISH_REASON_NEW", "unknown"),
    ],
)
def test_capitals_and_other_providers_words_are_known_and_a_new_word_is_not(dialect: str, word: str, kind: str) -> None:
    assert ending(dialect, word).kind == kind


PARTS: list[Any] = [
    [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Ca"}, {"type": "text", "text": "lm"}],
    {"type": "text", "text": "Calm"},
    ["Ca", "lm"],
]


@pytest.mark.parametrize("content", PARTS)
def test_an_answer_in_parts_of_any_shape_is_read(content: Any) -> None:
    chat = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    assert PROVIDERS["openrouter"].reply(chat, {}).answer == "Calm"


def test_a_refusal_in_a_part_is_a_refusal() -> None:
    message = {"content": [{"type": "refusal", "refusal": "No."}]}
    reply = PROVIDERS["openai"].reply({"choices": [{"message": message, "finish_reason": "stop"}]}, {})
    assert (reply.outcome, reply.answer) == ("refused", "No.")


def test_text_in_place_of_parts_is_read_in_the_other_dialects_too() -> None:
    item = {"type": "message", "content": "Calm"}
    assert PROVIDERS["openai-responses"].reply({"status": "completed", "output": [item]}, {}).answer == "Calm"
    said = {"content": "Calm", "stop_reason": "end_turn", "usage": {}}
    assert PROVIDERS["anthropic"].reply(said, {}).answer == "Calm"
    blocked = PROVIDERS["gemini"].reply({"promptFeedback": {"blockReasonMessage": "…"}}, {})
    assert (blocked.outcome, blocked.filter_category) == ("filtered", "BLOCK_REASON_UNSPECIFIED")


SNAPSHOT = Path(__file__).parent / "sdk_values.csv"
OTHERS = ("google-genai", "mistralai", "together", "groq", "ollama")
ROOT = Path(__file__).parents[2]


def snapshot() -> list[tuple[str, str, str]]:
    """(sdk, dialect, value) of the SDKs that slant does not depend on, as they were on the date in that file."""
    with SNAPSHOT.open(encoding="utf-8", newline="") as file:
        return [(row["sdk"], row["dialect"], row["value"]) for row in csv.DictReader(file)]


def installed() -> list[tuple[str, str, str]]:
    return [(sdk, dialect, value) for sdk, _, dialect, value in sdk_values() if sdk in ("openai", "anthropic")]


def undecided(values: list[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    codes = {code for row in error_rows() for code in row["code"].split()}
    for sdk, dialect, value in values:
        is_decided = value in codes if dialect == "error" else (dialect, value) in known_endings()
        if value and not is_decided:
            yield sdk, dialect, value


def test_each_value_of_the_sdks_is_decided() -> None:
    assert {sdk for sdk, _, _ in installed()} == {"openai", "anthropic"}
    assert {sdk for sdk, _, _ in snapshot()} == set(OTHERS)
    assert not list(undecided([*installed(), *snapshot()]))


def test_the_table_names_an_sdk_where_the_word_stands_in_its_types_and_only_there() -> None:
    in_types = {(sdk, dialect, value) for sdk, dialect, value in [*installed(), *snapshot()] if value}
    named = {(sdk, row["dialect"], row["ending"]) for row in ending_rows() for sdk in row["sdks"].split()}
    of_endings = {row for row in in_types if row[1] != "error"}
    assert of_endings - named == set()
    assert named - of_endings == {("ollama", "ollama", "not done")}  # done is false


@pytest.mark.slow
def test_the_newest_of_the_other_sdks_have_no_value_that_is_undecided(tmp_path: Path) -> None:
    """Installs them next to slant, in a folder that is thrown away; says which values the snapshot lacks."""
    folder = tmp_path / "sdks"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [folder / "bin/pip", "install", "--quiet", *OTHERS]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"they can't be installed here: {done.stderr.strip().splitlines()[-1]}")
    command = [folder / "bin/python", ROOT / "tools/sdk_values.py"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    values = [(row["sdk"], row["dialect"], row["value"]) for row in csv.DictReader(told.stdout.splitlines())]
    assert {sdk for sdk, _, _ in values} == set(OTHERS)
    assert not list(undecided(values))
    assert set(values) == set(snapshot()), "tools/sdk_values.py says what belongs into sdk_values.csv"
