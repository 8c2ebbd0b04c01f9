"""Speak Ollama's own API. `eval_count` is thinking and answer together; the thinking is not counted separately."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slant.collector.providers.endings import ending
from slant.collector.providers.exchange import Request, count, text
from slant.collector.providers.logprobs import MAX_LOGPROBS, read_tokens
from slant.collector.providers.reasoning import without_template
from slant.collector.providers.tools import spoken_message
from slant.collector.records import Prompt, Reply, Trial
from slant.collector.study.records import StudyModel

LOGPROBS: dict[str, Any] = {"logprobs": True, "top_logprobs": MAX_LOGPROBS}
TEMPERATURE_INSIDE = "options"


def structured_output(schema: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"format": dict(schema)}


def request(base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
    messages = [spoken_message(m, model) for m in prompt.messages]
    body = {"model": model.requested_model, "messages": messages, "stream": False, **model.settings}
    return Request(f"{base_url}/api/chat", {}, body, "messages", prompt.n_earlier, prompt.earlier_hash)


def reply(body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
    raw_message = body.get("message")
    message: Mapping[str, Any] = raw_message if isinstance(raw_message, Mapping) else {}
    finish = text(body.get("done_reason"))
    ended = ending("ollama", "not done" if body.get("done") is False else finish)
    outcome = ended.outcome(has_text=bool(text(message.get("content"))))
    if not isinstance(raw_message, Mapping) and outcome is None:
        outcome = "failed"  # no model has answered
    thinking = text(message.get("thinking")) or None
    read = Reply(
        answer=text(message.get("content")),
        reasoning_text=thinking,
        reasoning_kind="raw" if thinking else "none",
        outcome=outcome,
        detail=ended.detail if isinstance(raw_message, Mapping) else "the response has no message",
        finish_reason=finish,
        ending=ended.kind,
        input_tokens=count(body, "prompt_eval_count"),
        output_tokens=count(body, "eval_count"),
        served_model=text(body.get("model")),
        logprobs=read_tokens(body.get("logprobs")),
        blocks={"thinking": thinking} if thinking else None,
    )
    return without_template(read)  # if thinking was not asked for, the template's marks are in the text
