"""What `collect check-model` says of the responses themselves, and of fields that it reads as nobody documents them."""

from __future__ import annotations

from typing import Any

from slant.collector.model_checks.findings import Answered, facts
from slant.collector.model_checks.response_facts import documented_fields, facts_of_response, shape_of, summed
from slant.collector.providers import PROVIDERS


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
    evil = chat(completion_tokens=2, total_tokens=11) | {"service_tier": "\x1b[2Jflex"}
    assert "\x1b" not in str(summed([read("openai", evil)]))


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
