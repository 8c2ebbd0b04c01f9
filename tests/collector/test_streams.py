"""Responses that come as a stream although none was requested, and choices in any order."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.ask.attempts import analysed_tokens
from slant.collector.ask.retries import judge
from slant.collector.ask.uncounted_answers import read_exchange
from slant.collector.providers import PROVIDERS, chat_completions, ollama
from slant.collector.providers.exchange import Exchange
from slant.collector.providers.prices import Price, cost_usd
from slant.collector.providers.streams import assembled
from slant.collector.records import Reply, Trial
from slant.collector.study.records import StudyModel
from tests.support.local_server import completion

TRIAL = Trial("t", "s", "v", "base", "m", "t", "c", "i", "g", 1, None, None, None, 1, 1)
USAGE = {"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 14}


def events(*deltas: dict, finish: str | None = "stop", end: str = "data: [DONE]\n\n") -> str:
    pieces: list[dict] = [{"model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    pieces.append({"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    pieces.append({"model": "m", "choices": [], "usage": USAGE})
    return ": keep-alive\n\n" + "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + end


@given(st.lists(st.text(max_size=5), min_size=1, max_size=6), st.lists(st.text(max_size=5), max_size=4))
def test_the_pieces_of_a_stream_are_the_answer_and_its_reasoning(answer: list[str], reasoning: list[str]) -> None:
    said = [{"role": "assistant"}, *({"reasoning_content": r} for r in reasoning), *({"content": a} for a in answer)]
    body = assembled(events(*said))
    assert body is not None
    message = body["choices"][0]["message"]
    assert (message["content"], message.get("reasoning_content", "")) == ("".join(answer), "".join(reasoning))
    assert (body["choices"][0]["finish_reason"], body["usage"], body["model"]) == ("stop", USAGE, "m")


def test_calls_of_tools_are_put_together() -> None:
    call = {"index": 0, "id": "1", "function": {"name": "choose", "arguments": '{"gro'}}
    more = {"index": 0, "function": {"arguments": 'up": "Tufa"}'}}
    body = assembled(events({"tool_calls": [call]}, {"tool_calls": [more]}, finish="tool_calls"))
    assert body is not None
    function = body["choices"][0]["message"]["tool_calls"][0]["function"]
    assert function == {"name": "choose", "arguments": '{"group": "Tufa"}'}


@pytest.mark.parametrize(
    "body",
    [
        events({"content": "Ca"}, finish=None, end=""),
        events({"content": "Ca"})[:-150],
        "data: {",
        "data: [DONE]",
        "event: message_start\ndata: {}\n\n",
    ],
    ids=["without an end", "cut off", "half a line", "nothing", "another kind"],
)
def test_a_stream_that_broke_off_is_no_answer(body: str) -> None:
    step = judge(Exchange(status=200, body=body), 1)
    assert (step.action, "broke off" in step.reason) == ("again", True)


def test_an_error_in_a_stream_is_an_error() -> None:
    step = judge(Exchange(status=200, body='data: {"error": {"message": "slow down", "code": 429}}\n\n'), 1)
    assert (step.action, step.status) == ("again", 429)


def test_lines_of_ollama_are_put_together() -> None:
    lines = [
        {"message": {"content": "Ca"}, "done": False},
        {"message": {"content": "lm", "thinking": "hm"}, "done": False},
    ]
    last = {"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop", "eval_count": 9}
    body = assembled("\n".join(json.dumps(line) for line in (*lines, last)))
    reply = ollama.reply(body or {}, {})
    assert (reply.answer, reply.reasoning_text, reply.output_tokens) == ("Calm", "hm", 9)
    assert assembled("\n".join(map(json.dumps, lines))) is None


@given(st.text(max_size=200))
def test_a_text_that_is_no_stream_is_no_response_and_never_an_exception(text: str) -> None:
    assert assembled(text) is None
    assert assembled(f"data: {text}\n\ndata: {{}}") is None


def test_of_several_choices_the_first_by_its_index_is_read() -> None:
    body = completion("Calm")
    other = {**body["choices"][0], "index": 1, "message": {"content": "Busy"}}
    assert chat_completions.reply({**body, "choices": [other, {**body["choices"][0], "index": 0}]}, {}).answer == "Calm"


def test_the_text_of_an_older_completion_is_the_answer() -> None:
    body = {"choices": [{"index": 0, "text": "Calm", "finish_reason": "stop"}], "usage": USAGE}
    reply = chat_completions.reply(body, {})
    assert (reply.answer, reply.outcome) == ("Calm", None)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"detail": "Not authenticated"}, "Not authenticated"),
        ({"code": 500, "msg": "internal"}, "HTTP 500: internal"),
        ({"message": "The upstream is gone"}, "The upstream is gone"),
    ],
)
def test_a_200_without_an_answer_says_what_the_server_said(body: dict, sentence: str) -> None:
    step = judge(Exchange(status=200, body=json.dumps(body)), 1)
    assert step.action != "read"
    assert sentence in step.reason


def test_a_web_page_is_called_one() -> None:
    assert "a web page" in judge(Exchange(status=200, body="<html>Sign in</html>"), 1).reason


def sse(*pieces: dict) -> str:
    return "".join(f"event: {piece.get('type', 'x')}\ndata: {json.dumps(piece)}\n\n" for piece in pieces)


THOUGHT = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]
STARTED = {
    "type": "message_start",
    "message": {"type": "message", "model": "m", "content": [], "usage": {"input_tokens": 5}},
}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
SAID = [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}} for t in ("Ca", "lm")]
ENDED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
CUT = ENDED | {"delta": {"stop_reason": "max_tokens"}}
RESPONSE = {
    "status": "completed", "model": "m", "usage": {"input_tokens": 5, "output_tokens": 9},
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "Calm"}]}],
}  # fmt: skip
CREATED = {"type": "response.created", "response": {"status": "in_progress", "output": []}}
TOLD = [{"type": "response.output_text.delta", "delta": piece} for piece in ("Ca", "lm")]
COUNTS = {"promptTokenCount": 5, "candidatesTokenCount": 9, "totalTokenCount": 14}
PART = {"candidates": [{"content": {"parts": [{"text": "Ca"}]}}], "modelVersion": "m"}
LAST = {"candidates": [{"content": {"parts": [{"text": "lm"}]}, "finishReason": "STOP"}], "usageMetadata": COUNTS}
OTHER = {
    "candidates": [{"index": 1, "content": {"parts": [{"text": "no"}]}, "finishReason": "STOP"}, LAST["candidates"][0]]
}
ERROR = {"error": {"message": "overloaded", "code": 503}}
UNASKED = [
    ("mistral", events({"content": THOUGHT}, {"content": "Ca"}, {"content": "lm"}), ("Calm", None, 5, 9)),
    ("mistral", events({"content": THOUGHT}, {"content": [{"type": "text", "text": "Calm"}]}), ("Calm", None, 5, 9)),
    ("openai", events({"content": "Ca"}, finish="length", end=sse(ERROR)), ("Ca", "truncated", 5, 9)),
    ("openai", events({"content": "Ca"}, finish=None, end=sse(ERROR)), (None, "failed", 5, 9)),
    ("anthropic", sse(STARTED, BLOCK, *SAID, ENDED, {"type": "message_stop"}), ("Calm", None, 5, 9)),
    ("anthropic", sse(STARTED, BLOCK, *SAID, CUT, {"type": "error", **ERROR}), ("Calm", "truncated", 5, 9)),
    ("anthropic", sse(STARTED, BLOCK, *SAID), (None, "failed", 5, None)),
    ("openai-responses", sse(CREATED, {"type": "response.completed", "response": RESPONSE}), ("Calm", None, 5, 9)),
    ("openai-responses", sse(CREATED), (None, "failed", None, None)),
    ("gemini", sse(PART, LAST), ("Calm", None, 5, 9)),
    ("gemini", json.dumps([PART, LAST]), ("Calm", None, 5, 9)),
    ("gemini", sse(PART | {"usageMetadata": COUNTS}), (None, "failed", 5, 9)),
    ("gemini", json.dumps(OTHER), ("lm", None, None, None)),
    ("gemini", json.dumps([PART | {"usageMetadata": COUNTS}, LAST])[:-20], (None, "failed", 5, 9)),
    ("gemini", json.dumps([PART | {"usageMetadata": COUNTS}, ERROR]), (None, "failed", 5, 9)),
    ("groq", sse({"choices": [{"delta": {"content": "Ca"}}], "x_groq": {"usage": USAGE}}), (None, "failed", 5, 9)),
    ("openai-responses", sse(CREATED, *TOLD, {"type": "response.completed", "response": RESPONSE | {"output": []}}),
     ("Calm", None, 5, 9)),
    ("ollama", '{"message": {"content": "Ca"}, "done": false}\n{"error": "boom"}', (None, "failed", None, None)),
]  # fmt: skip
CONTENTS: list[tuple[Any, str]] = [
    ({"choice": "Calm"}, '{"choice": "Calm"}'), ({"type": "animal", "n": 1}, '{"type": "animal", "n": 1}'),
    ([{"choice": "Calm"}], '[{"choice": "Calm"}]'), (7, "7"), (True, "true"), (["Ca", "lm"], "Calm"),
    ([{"type": "text", "text": "Ca"}, {"type": "text", "text": "lm"}], "Calm"), ({"text": "Calm"}, "Calm"),
]  # fmt: skip
"""Contents that are no text, and the answer that they are."""


def test_streams_of_every_dialect_are_read_and_what_broke_off_is_charged() -> None:
    wrong = []
    for name, body, expected in UNASKED:
        exchange, provider = Exchange(status=200, body=body), PROVIDERS[name]
        reply, _ = read_exchange(provider, exchange, judge(exchange, 1), TRIAL, 1)
        if (read := (reply.answer, reply.outcome, reply.input_tokens, reply.output_tokens)) != expected:
            wrong.append((name, body[-200:], read, expected))
    assert wrong == []


def test_a_content_that_is_no_text_is_read_as_json_unless_it_is_made_of_parts() -> None:
    read = [PROVIDERS["openai"].reply(completion(content), {}).answer for content, _ in CONTENTS]
    assert read == [answer for _, answer in CONTENTS]


def test_what_a_router_hides_behind_stop_counts_and_a_false_zero_does_not() -> None:
    body = completion()
    body["choices"][0]["native_finish_reason"] = "SAFETY"
    assert PROVIDERS["openrouter"].reply(body, {}).outcome == "filtered"
    body = completion() | {"usage": USAGE | {"completion_tokens_details": {"reasoning_tokens": 0}}}
    body["choices"][0]["message"]["reasoning"] = "Hm."
    reply = PROVIDERS["openai"].reply(body, {})
    assert (reply.reasoning_tokens, analysed_tokens(reply, StudyModel("m", "", "openai", "m"))) == (None, (None, None))


def test_the_flex_tier_has_its_own_price_or_none() -> None:
    reply = Reply(input_tokens=1_000_000, output_tokens=0, service_tier="flex")
    price = Price("openai", "m", 2.0, 8.0, None, None, 0.5, "2026-01-01", "")
    assert [cost_usd(replace(price, provider=name), reply) for name in ("openai", "gemini")] == [1.0, None]
    assert cost_usd(price, replace(reply, service_tier="default")) == 2.0
