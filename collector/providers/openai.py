"""Speak OpenAI's chat completions. `usage.completion_tokens` includes the reasoning tokens (o3-mini: steps of 64).

The field names are from the public API reference; all compatible servers share them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slant.collector.providers.endings import ending, ending_behind
from slant.collector.providers.error_meanings import filtered_categories
from slant.collector.providers.exchange import Request, first_choice, request_id, text
from slant.collector.providers.logprobs import MAX_LOGPROBS, read_choice
from slant.collector.providers.prices import stated_charges
from slant.collector.providers.reasoning import chat_reasoning
from slant.collector.providers.token_counts import chat_counts
from slant.collector.providers.tools import chat_calls, chat_messages, offered, response_format
from slant.collector.records import Outcome, Prompt, Reply, Trial
from slant.collector.study.records import StudyModel

LOGPROBS: dict[str, Any] = {"logprobs": True, "top_logprobs": MAX_LOGPROBS}
PROMPT_CACHE = "prompt_cache_key, one for each game"
TAKES_TOOLS = HIDES_REASONING = True
structured_output = response_format


def request(base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
    sent = chat_request(base_url, key, model, prompt, trial)
    return replace(sent, body={**cache_key(trial), **sent.body})


def cache_key(trial: Trial) -> dict[str, str]:
    """Return the cache key of a game. Games begin alike, and OpenAI picks a machine, which has its own cache, by the
    beginning of the prompt: with its own key a game finds the machine that has seen its last round."""
    return {"prompt_cache_key": trial.game} if trial and trial.game is not None else {}


def chat_request(base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
    """Return a request for chat completions. Only the parameters that the study or the user set are sent; everything
    else is the provider's default."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    messages, n_earlier = chat_messages(prompt, model)
    body = {"model": model.requested_model, "messages": messages, **offered(prompt.tool), **model.settings}
    return Request(f"{base_url}/chat/completions", headers, body, "messages", n_earlier, prompt.earlier_hash)


def reply(body: Mapping[str, Any], headers: Mapping[str, str], kept: tuple[str, ...] = ()) -> Reply:
    """Return the reply in a response. `kept`: fields of the message that go back to the server as they came."""
    choice = first_choice(body)
    if choice is None:  # no model has answered, whatever was counted
        return Reply(outcome="failed", detail="the response has no choice", **_provenance(body, headers))
    raw = choice.get("message")
    # a choice that was filtered may have none; servers of older completions have a text in its place
    message: Mapping[str, Any] = raw if isinstance(raw, dict) else {"content": choice.get("text")}
    finish, refusal, calls = text(choice.get("finish_reason")), _refusal(message), chat_calls(message)
    answer, (reasoning_text, reasoning_kind) = refusal or _content(message.get("content")), chat_reasoning(message)
    if not (finish or answer or reasoning_text or calls or body.get("usage")):
        return Reply(outcome="failed", detail="the response has an empty choice", **_provenance(body, headers))
    ended = ending_behind(ending("chat", finish), text(choice.get("native_finish_reason")))
    outcome: Outcome | None = "refused" if refusal else ended.outcome(has_text=bool(answer))
    blocks = {name: message[name] for name in kept if message.get(name)}
    return Reply(
        answer=answer,
        reasoning_text=reasoning_text,
        reasoning_kind=reasoning_kind,
        outcome=outcome,
        detail=None if refusal else ended.detail,
        finish_reason=finish,
        ending=ended.kind,
        filter_category=filtered_categories(choice.get("content_filter_results")) if outcome == "filtered" else None,
        logprobs=read_choice(choice),
        blocks={**blocks, "tool_calls": message["tool_calls"]} if calls else blocks or None,
        tool_calls=calls,
        **_provenance(body, headers),
    )


def _content(value: Any) -> str | None:
    """Return the answer's text; some servers send it as a part or a list of parts, which includes the thinking."""
    if value is None or isinstance(value, str):
        return value
    listed = value if isinstance(value, list) else [value]
    if listed and not any(isinstance(part, str) or _is_part(part) for part in listed):
        return json.dumps(value, ensure_ascii=False)  # Cloudflare's JSON mode
    parts = [piece for part in listed if (piece := _part(part)) is not None]
    return "".join(parts) if parts else None


def _is_part(part: Any) -> bool:
    """Return whether an object is a part of a message, and no JSON answer with a key `type` of its own."""
    return isinstance(part, Mapping) and (part.get("type") in _PARTS or isinstance(part.get("text"), str))


_PARTS = ("text", "output_text", "thinking", "reasoning", "refusal", "image_url", "reference")


def _part(part: Any) -> str | None:
    if not isinstance(part, Mapping):
        return text(part)
    return None if part.get("type") in ("thinking", "reasoning") else text(part.get("text"))


def _refusal(message: Mapping[str, Any]) -> str | None:
    """Return the text of a refusal that is marked as one; if the content comes in parts, from its parts."""
    content = message.get("content")
    if not isinstance(content, list):  # nearly always
        return text(message.get("refusal"))
    refused = [part.get("refusal") for part in content if isinstance(part, Mapping) and part.get("type") == "refusal"]
    return text(message.get("refusal")) or next((piece for part in refused if (piece := text(part))), None)


def _provenance(body: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    usage = body.get("usage")
    return {
        **chat_counts(usage),
        **stated_charges(usage),
        "served_model": text(body.get("model")),
        "fingerprint": text(body.get("system_fingerprint")),
        "service_tier": text(body.get("service_tier")),
        "request_id": request_id(headers, body),
    }
