"""OpenAI responses. `usage.output_tokens` includes the reasoning; its text is at most a summary, on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slant.collector.providers.endings import Ending, ending
from slant.collector.providers.exchange import Request, count, text
from slant.collector.providers.logprobs import MOST_LIKELY, read_tokens
from slant.collector.providers.openai import PROMPT_CACHE, cache_key
from slant.collector.providers.structured import NAME
from slant.collector.providers.tools import arguments, without_end
from slant.collector.records import Outcome, Prompt, Reply, TokenLogprob, Tool, ToolCall, Trial
from slant.collector.study.records import StudyModel

__all__ = ["LOGPROBS", "PROMPT_CACHE", "TAKES_TOOLS", "TOOLS_NEED_REASONING", "reply", "request", "structured_output"]

TAKES_TOOLS = TOOLS_NEED_REASONING = True
LOGPROBS: dict[str, Any] = {"top_logprobs": MOST_LIKELY, "include": ["message.output_text.logprobs"]}


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
    """By default an answer goes back as the items it came in, the reasoning's among them, as the API recommends."""
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


def reply(body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
    output = body.get("output")
    items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
    refusal = _joined(items, "content", "refusal", "refusal")
    answer = refusal or _joined(items, "content", "output_text", "text")
    details = body.get("incomplete_details")
    reason = text(details.get("reason")) if isinstance(details, Mapping) else None
    finish = reason or text(body.get("status"))
    ended = ending("responses", finish)
    outcome: Outcome | None = "refused" if refusal else ended.outcome(has_text=bool(answer))
    calls, has_reasoning = _calls(items), any(item.get("type") == "reasoning" for item in items)
    if not items and outcome is None and not count(body.get("usage"), "output_tokens"):
        outcome = "failed"  # nobody has answered, and nothing was billed
    return Reply(
        answer=answer,
        reasoning_text=_joined(items, "summary", "summary_text", "text"),
        outcome=outcome,
        detail=None if refusal else _detail(ended, outcome),
        finish_reason=finish,
        ending=ended.kind,
        input_tokens=count(body.get("usage"), "input_tokens"),
        cached_input_tokens=count(body.get("usage"), "input_tokens_details", "cached_tokens"),
        output_tokens=count(body.get("usage"), "output_tokens"),
        reasoning_tokens=count(body.get("usage"), "output_tokens_details", "reasoning_tokens"),
        served_model=text(body.get("model")),
        request_id=headers.get("x-request-id") or text(body.get("id")),
        logprobs=_logprobs(items),
        blocks=without_end(items, ("reasoning",)) if calls or has_reasoning else None,
        tool_calls=calls,
    )


def _detail(ended: Ending, outcome: Outcome | None) -> str | None:
    return "the response has no output" if outcome == "failed" and ended.kind == "answer" else ended.detail


def _logprobs(items: list[Mapping[str, Any]]) -> tuple[TokenLogprob, ...]:
    listed = [read_tokens(piece.get("logprobs")) for piece in _pieces(items, "content") if "logprobs" in piece]
    return sum(listed, ())


def _joined(items: list[Mapping[str, Any]], part: str, kind: str, key: str) -> str | None:
    texts = [
        piece_text
        for piece in _pieces(items, part)
        if piece.get("type") == kind and (piece_text := text(piece.get(key)))
    ]
    return "".join(texts) if texts else None


def _pieces(items: list[Mapping[str, Any]], part: str) -> Iterator[Mapping[str, Any]]:
    for item in items:
        pieces = item.get(part)
        if isinstance(pieces, list):
            yield from (piece for piece in pieces if isinstance(piece, Mapping))
