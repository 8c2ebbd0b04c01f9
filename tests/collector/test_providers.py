"""What each dialect sends and how it reads what comes back. The bodies have the shapes of the public API references."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.plan.conversations import plan
from slant.collector.providers import (
    PROVIDERS,
    anthropic,
    chat_completions,
    checked_address,
    deepseek,
    gemini,
    ollama,
    openai,
    openai_responses,
    openrouter,
    provider_named,
    simulated,
    together,
)
from slant.collector.providers.services import spoken_by
from slant.collector.records import Prompt, Reply
from slant.collector.studies.catalogue import load_study
from tests.support.each_row import each_row
from tests.support.local_server import completion

STUDY = load_study("rmiat")
TRIAL = next(plan(STUDY, STUDY.model("o3-mini"))).trials[0]
PROMPT = Prompt(({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Sort it."}))

TOP = ["choices", "usage", "content", "stop_reason", "model", "id", "output", "candidates", "usageMetadata", "message"]
DIALECTS = [openai, openai_responses, anthropic, gemini, chat_completions, ollama, simulated, together]

KEYS = [
    "choices",
    "message",
    "content",
    "usage",
    "type",
    "text",
    "parts",
    "thinking",
    "stop_reason",
    "completion_tokens",
    "refusal",
    "reasoning",
    "model",
    "completion_tokens_details",
    "reasoning_tokens",
    "output_tokens",
    "thoughtsTokenCount",
    "finishReason",
    "summary",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(TOP), json_values))
def test_a_reply_of_any_shape_is_read_without_a_crash_and_counts_are_never_made_up(body: dict[str, Any]) -> None:
    for dialect in DIALECTS:
        reply = dialect.reply(body, {})
        for count in (reply.reasoning_tokens, reply.output_tokens, reply.input_tokens):
            assert count is None or count >= 0


@each_row("dialect", DIALECTS)
def test_an_empty_reply_is_no_answer_and_its_counts_unknown_not_zero(dialect: Any) -> None:
    reply = dialect.reply({}, {})
    assert reply.outcome == "failed"
    assert (reply.answer, reply.reasoning_tokens, reply.output_tokens) == (None, None, None)


def test_openai_counts_and_provenance_are_read() -> None:
    reply = openai.reply(completion("Career"), {"x-request-id": "req_1"})
    assert (reply.answer, reply.outcome, reply.reasoning_tokens, reply.output_tokens) == ("Career", None, 64, 74)
    assert (reply.served_model, reply.fingerprint, reply.request_id) == ("o3-mini-2025-01-31", "fp_1", "req_1")


@pytest.mark.parametrize(
    ("usage", "text", "counted"),
    [
        ({"completion_tokens_details": {"reasoning_tokens": 64}}, "Hm.", 64),
        ({"completion_tokens_details": {"reasoning_tokens": 0}}, "Hm.", None),  # vLLM, thinking opened by the prompt
        ({"completion_tokens_details": {"reasoning_tokens": 0}}, None, 0),
        ({"completion_tokens_details": None, "reasoning_tokens": 40}, "Hm.", 40),  # SGLang
        ({"completion_tokens_details": None, "reasoning_tokens": 0}, None, None),  # older SGLang: always 0
        ({"completion_tokens_details": None}, "Hm.", None),
    ],
)
def test_a_count_of_zero_that_a_server_did_not_count_is_unknown(usage: Any, text: str | None, counted: Any) -> None:
    message = {"content": "Career", "reasoning_content": text}
    body = completion(**usage) | {"choices": [{"message": message, "finish_reason": "stop"}]}
    assert chat_completions.reply(body, {}).reasoning_tokens == counted


def test_openai_sends_the_settings_of_the_study_and_nothing_else() -> None:
    model = replace(STUDY.model("o3-mini"), settings={"reasoning_effort": "low"})
    request = openai.request("http://h/v1", "sk-1", model, PROMPT, TRIAL)
    assert request.url == "http://h/v1/chat/completions"
    assert request.body == {"model": "o3-mini", "messages": list(PROMPT.messages), "reasoning_effort": "low"}
    assert request.headers == {"Authorization": "Bearer sk-1"}


def test_anthropic_sends_the_papers_thinking_budget_and_the_system_prompt_apart() -> None:
    request = anthropic.request("http://h", "sk-ant", STUDY.model("claude-3.7-sonnet"), PROMPT, TRIAL)
    assert request.url == "http://h/v1/messages"
    assert request.body["thinking"] == {"type": "enabled", "budget_tokens": 5000}
    assert request.body["max_tokens"] == 5020
    assert request.body["system"] == "Be brief."
    assert [m["role"] for m in request.body["messages"]] == ["user"]
    assert request.headers["anthropic-version"] == anthropic.API_VERSION


ANTHROPIC = {
    "id": "msg_1", "model": "claude-3-7-sonnet-20250219", "stop_reason": "end_turn",
    "content": [{"type": "thinking", "thinking": "An IAT.", "signature": "…"}, {"type": "text", "text": "Career"}],
    "usage": {"input_tokens": 9, "output_tokens": 200, "output_tokens_details": {"thinking_tokens": 190}},
}  # fmt: skip


def test_anthropic_thinking_and_answer_are_told_apart() -> None:
    reply = anthropic.reply(ANTHROPIC, {"request-id": "req_9"})
    assert (reply.answer, reply.reasoning_text, reply.outcome) == ("Career", "An IAT.", None)
    assert (reply.output_tokens, reply.reasoning_tokens, reply.request_id) == (200, 190, "req_9")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"stop_reason": "refusal", "content": []}, Reply(outcome="refused")),
        ({"stop_reason": "max_tokens", "content": []}, Reply(outcome="truncated")),
        ({"content": [{"type": "redacted_thinking"}, {"type": "text", "text": "Career"}]}, Reply(answer="Career")),
        ({"content": [{"type": "thinking", "thinking": "", "signature": "…"}, {"type": "text", "text": "Career"}]},
         Reply(answer="Career")),
    ],
)  # fmt: skip
def test_anthropic_refusals_limits_and_redacted_or_omitted_thinking_are_read(
    changed: dict[str, Any], expected: Reply
) -> None:
    reply = anthropic.reply(ANTHROPIC | changed, {})
    assert (reply.outcome, reply.answer, reply.reasoning_text) == (expected.outcome, expected.answer, None)


def test_older_anthropic_models_have_no_thinking_count_and_it_stays_unknown() -> None:
    reply = anthropic.reply(ANTHROPIC | {"usage": {"input_tokens": 9, "output_tokens": 200}}, {})
    assert (reply.output_tokens, reply.reasoning_tokens) == (200, None)


def test_an_unknown_provider_is_named_with_the_nearest_known_one() -> None:
    with pytest.raises(UnknownNameError, match='Did you mean "openai"'):
        provider_named("opneai")


def test_every_provider_has_an_address_or_asks_for_one() -> None:
    for provider in PROVIDERS.values():
        assert provider.base_url or provider.address_variable
        assert bool(provider.key_variable) == provider.costs_money


ANSWERS = {
    openai: completion("Career"),
    chat_completions: completion("Career"),
    deepseek: completion("Career"),
    openrouter: completion("Career"),
    together: completion("Career"),
    simulated: completion("Career"),
    anthropic: ANTHROPIC,
    openai_responses: {
        "id": "resp_1",
        "model": "o3-mini-2025-01-31",
        "status": "completed",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "content": [{"type": "output_text", "text": "Career"}]},
        ],
        "usage": {"input_tokens": 100, "output_tokens": 74, "output_tokens_details": {"reasoning_tokens": 64}},
    },
    gemini: {
        "responseId": "g_1",
        "modelVersion": "gemini-3-pro",
        "candidates": [
            {"finishReason": "STOP", "content": {"parts": [{"text": "Hm.", "thought": True}, {"text": "Career"}]}}
        ],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 64},
    },
    ollama: {
        "model": "qwen3:8b",
        "done_reason": "stop",
        "message": {"content": "Career", "thinking": "Hm."},
        "prompt_eval_count": 100,
        "eval_count": 74,
    },
}


@each_row("dialect", DIALECTS)
def test_the_same_answer_gives_the_same_fields_from_every_provider(dialect: Any) -> None:
    reply = dialect.reply(ANSWERS[dialect], {})
    assert reply.answer == "Career"
    assert reply.outcome is None
    assert reply.served_model
    assert reply.input_tokens
    assert reply.output_tokens in (74, 200)
    assert (reply.reasoning_tokens is None) == (dialect is ollama)


def test_every_dialect_has_such_an_answer() -> None:
    assert {spoken_by(provider.dialect) for provider in PROVIDERS.values()} == set(ANSWERS)


def test_gemini_thoughts_are_added_to_the_output_because_they_are_not_in_it() -> None:
    reply = gemini.reply(ANSWERS[gemini], {})
    assert (reply.output_tokens, reply.reasoning_tokens, reply.reasoning_text) == (74, 64, "Hm.")
    bare = gemini.reply({"candidates": [{"content": {"parts": []}}], "usageMetadata": {"candidatesTokenCount": 3}}, {})
    assert (bare.output_tokens, bare.reasoning_tokens) == (3, None)


@pytest.mark.parametrize(
    ("dialect", "body", "outcome"),
    [
        (gemini, {"promptFeedback": {"blockReason": "SAFETY"}}, "filtered"),
        (gemini, {"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}, "filtered"),
        (gemini, {"candidates": [{"finishReason": "MAX_TOKENS", "content": {}}]}, "truncated"),
        (
            openai_responses,
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "truncated",
        ),
        (openai_responses, {"output": [], "incomplete_details": {"reason": "content_filter"}}, "filtered"),
        (openai_responses, {"output": [{"content": [{"type": "refusal", "refusal": "No."}]}]}, "refused"),
        (ollama, {"message": {"content": ""}, "done_reason": "length"}, "truncated"),
    ],
)
def test_blocks_limits_and_refusals_of_the_others_are_outcomes(dialect: Any, body: Any, outcome: str) -> None:
    assert dialect.reply(body, {}).outcome == outcome


def test_gemini_takes_the_key_in_a_header_and_names_roles_its_own_way() -> None:
    prompt = Prompt((*PROMPT.messages, {"role": "assistant", "content": "Career"}))
    request = gemini.request("http://h", "g-key", STUDY.model("gemini/gemini-3-pro"), prompt, TRIAL)
    assert request.url == "http://h/models/gemini-3-pro:generateContent"
    assert "g-key" not in request.url
    assert [content["role"] for content in request.body["contents"]] == ["user", "model"]
    assert request.body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}


@pytest.mark.parametrize(
    ("dialect", "listed", "thought", "said"),
    [
        (anthropic, "content", {"type": "thinking", "thinking": "Hm", "signature": "s"}, {"type": "text", "text": "A"}),
        (openai_responses, "output", {"type": "reasoning", "summary": []}, {"type": "message", "content": []}),
    ],
)  # fmt: skip
def test_reasoning_that_was_cut_off_does_not_go_back_alone(
    dialect: Any, listed: str, thought: dict[str, Any], said: dict[str, Any]
) -> None:
    """The APIs refuse it ("The final block in an assistant message cannot be `thinking`"), and a game would be over."""
    assert dialect.reply({listed: [thought]}, {}).blocks is None
    assert dialect.reply({listed: [thought, said]}, {}).blocks == [thought, said]
    assert dialect.reply({listed: [thought, said, thought]}, {}).blocks == [thought, said]


@pytest.mark.parametrize(
    "url", ["localhost:8080/v1", "http://", "http://[::1/v1", "http://a:0/v1", "http://a:70000/v1"]
)
def test_what_no_request_can_be_sent_to_is_no_address(url: str) -> None:
    with pytest.raises(UsageError, match="--base-url is no address"):
        checked_address(url, "--base-url")
    assert checked_address("http://[::1]:8080/v1", "--base-url") == "http://[::1]:8080/v1"
