"""Speak OpenAI's Responses API. `usage.output_tokens` includes the reasoning. Its text is at most a summary, on
request; open models behind the same API show the reasoning itself (`reasoning_text`). A message of the phase
`commentary` is not an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slant.collector.providers.endings import ending
from slant.collector.providers.exchange import Request, amount, at, count, request_id, tables, text
from slant.collector.providers.logprobs import MAX_LOGPROBS, read_tokens
from slant.collector.providers.openai import PROMPT_CACHE as PROMPT_CACHE
from slant.collector.providers.openai import cache_key
from slant.collector.providers.prices import stated_charges
from slant.collector.providers.reasoning import joined, shown
from slant.collector.providers.token_counts import responses_counts
from slant.collector.providers.tools import NAME, arguments, without_end
from slant.collector.records import Outcome, Prompt, Reply, Tool, ToolCall, Trial
from slant.collector.study.records import StudyModel

TAKES_TOOLS = TOOLS_NEED_REASONING = HIDES_REASONING = True
LOGPROBS: dict[str, Any] = {"top_logprobs": MAX_LOGPROBS, "include": ["message.output_text.logprobs"]}


def structured_output(schema: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": {"format": {"type": "json_schema", "name": NAME, "strict": True, "schema": dict(schema)}}}


def request(base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    items = [_sent(m, model) for m in prompt.messages]
    body = {
        "model": model.requested_model,
        "input": [item for listed in items for item in listed],
        **_offered(prompt.tool),
        **cache_key(trial),
        **model.settings,
    }
    n_earlier = sum(map(len, items[: prompt.n_earlier]))
    return Request(f"{base_url}/responses", headers, body, "input", n_earlier, prompt.earlier_hash)


def _sent(message: Mapping[str, Any], model: StudyModel) -> list[Any]:
    """Return an answer to send back: by default its original items with the reasoning's, as the API recommends."""
    if "blocks" in message and model.reasoning_back != "dropped":
        return list(message["blocks"])
    results = [
        {"type": "function_call_output", "call_id": result["call_id"], "output": result["content"]}
        for result in message.get("results") or ()
    ]
    spoken = {name: value for name, value in message.items() if name not in ("blocks", "results")}
    return [*results, spoken] if spoken["content"] or not results else results


def _offered(tool: Tool | None) -> dict[str, Any]:
    if tool is None:
        return {}
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"tools": [{"type": "function", **function}]}


def _calls(items: list[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(text(item.get("call_id")), text(item.get("name")) or "", arguments(item.get("arguments")))
        for item in items
        if item.get("type") == "function_call"
    )


def _in_parts(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an item with its content as a list of parts, which servers other than OpenAI's don't always send."""
    content = item.get("content")
    return {**item, "content": [{"type": "output_text", "text": content}]} if isinstance(content, str) else item


def reply(body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
    items = tables(body.get("output"))
    message_items = [_in_parts(item) for item in items if "commentary" not in (item.get("phase"), item.get("channel"))]
    refusal = _joined(message_items, "content", "refusal", "refusal")
    answer = refusal or _joined(message_items, "content", "output_text", "text")
    reasoning = [item for item in items if item.get("type") == "reasoning"]
    reasoning_text, reasoning_kind = shown(
        _joined(reasoning, "content", "reasoning_text", "text"),
        _joined(reasoning, "summary", "summary_text", "text"),
        is_hidden=bool(reasoning),
    )
    finish = text(at(body, "incomplete_details", "reason")) or text(body.get("status"))
    ended = ending("responses", finish)
    outcome: Outcome | None = "refused" if refusal else ended.outcome(has_text=bool(answer))
    calls = _calls(items)
    if not items and outcome is None and not count(body.get("usage"), "output_tokens"):
        outcome = "failed"  # no model has answered, and nothing was billed
    detail = "the response has no output" if outcome == "failed" and ended.kind == "answer" else ended.detail
    logprobs = [read_tokens(p.get("logprobs")) for p in _pieces(message_items, "content") if "logprobs" in p]
    return Reply(
        answer=answer,
        reasoning_text=reasoning_text,
        reasoning_kind=reasoning_kind,
        outcome=outcome,
        detail=None if refusal else detail,
        finish_reason=finish,
        ending=ended.kind,
        **responses_counts(body.get("usage")),
        **stated_charges(body.get("usage")),
        served_model=text(body.get("model")),
        request_id=request_id(headers, body),
        effective_effort=text(at(body, "reasoning", "effort")),
        effective_temperature=amount(body, "temperature"),
        service_tier=text(body.get("service_tier")),
        logprobs=sum(logprobs, ()),
        blocks=without_end(items, ("reasoning",)) if calls or reasoning else None,
        tool_calls=calls,
    )


def _joined(items: list[Mapping[str, Any]], part: str, kind: str, key: str) -> str | None:
    return joined(piece.get(key) for piece in _pieces(items, part) if piece.get("type") == kind)


def _pieces(items: list[Mapping[str, Any]], part: str) -> Iterator[Mapping[str, Any]]:
    return (piece for item in items for piece in tables(item.get(part)))
