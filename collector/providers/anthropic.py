"""Speak Anthropic's messages API. `usage.output_tokens` includes the thinking; newer models also say how much it
was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from slant.collector.providers.endings import ending
from slant.collector.providers.exchange import Request, at, count, request_id, tables, text
from slant.collector.providers.prices import stated_charges
from slant.collector.providers.reasoning import Shown, joined, shown
from slant.collector.providers.token_counts import settled
from slant.collector.providers.tools import NAME, arguments, without_end
from slant.collector.records import Outcome, Prompt, Reply, ToolCall, Trial
from slant.collector.study.records import StudyModel

API_VERSION = "2023-06-01"
PROMPT_CACHE = "cache_control, up to the last message"
TAKES_TOOLS = TOOLS_NEED_REASONING = True
DEFAULT_MAX_TOKENS = 16_000  # the API wants a number; reasoning has to fit
_SHOWS_THINKING = "claude-3-7"
_THINKING = ("thinking", "redacted_thinking")


def structured_output(schema: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool that must be used; every model accepts one. It excludes thinking: a model that is set to think is
    asked by `output_config`, which newer models know.
    """
    if settings.get("thinking"):
        return {"output_config": {"format": {"type": "json_schema", "schema": dict(schema)}}}
    tool = {"name": NAME, "description": "Gives the answer.", "input_schema": dict(schema)}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": NAME}}


def request(base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
    headers = {"x-api-key": key or "", "anthropic-version": API_VERSION}
    system = "\n\n".join(str(m["content"]) for m in prompt.messages if m["role"] == "system")
    messages = [_sent(m, model) for m in prompt.messages if m["role"] != "system"]
    if trial and trial.game is not None:
        # nothing is cached by default: mark all up to this message, which the next turn begins with
        message = messages[-1]
        content = message["content"]
        *before, last = content if isinstance(content, list) else [{"type": "text", "text": content}]
        messages[-1] = {**message, "content": [*before, {**last, "cache_control": {"type": "ephemeral"}}]}
    body: dict[str, Any] = {"model": model.requested_model, "max_tokens": DEFAULT_MAX_TOKENS, "messages": messages}
    if system:
        body["system"] = system
    if (tool := prompt.tool) is not None:
        body["tools"] = [{"name": tool.name, "description": tool.description, "input_schema": tool.schema}]
    n_earlier = sum(m["role"] != "system" for m in prompt.messages[: prompt.n_earlier])
    url, body = f"{base_url}/v1/messages", {**body, **model.settings}
    return Request(url, headers, body, "messages", n_earlier, prompt.earlier_hash)


def _sent(message: Mapping[str, Any], model: StudyModel) -> dict[str, Any]:
    """Return an answer to send back. By default it keeps its thinking, as the API asks; older models don't read it."""
    blocks = message.get("blocks") if model.reasoning_back != "dropped" else None
    return {"role": message["role"], "content": blocks or _results(message) or message["content"]}


def _results(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the results of tools, which have to come before anything else."""
    results = [
        {"type": "tool_result", "tool_use_id": result["call_id"], "content": result["content"]}
        for result in message.get("results") or ()
    ]
    return [*results, {"type": "text", "text": message["content"]}] if results and message["content"] else results


def reply(body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
    content = body.get("content")
    if isinstance(content, str):  # gateways that speak this dialect
        content = [{"type": "text", "text": content}]
    blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else None
    stop = text(body.get("stop_reason"))
    ended, declined = ending("anthropic", stop), _declined(body, blocks or [])
    own = blocks or []  # the blocks of the model itself: all, unless another one continued or answered in its place
    if declined is not None:
        own = own[: own.index(declined)] if declined in own else []
    answer_text = _tool_answer(own) or _joined(own, "text")
    outcome: Outcome | None = "refused" if declined else ended.outcome(has_text=bool(answer_text))
    if blocks is None and outcome in (None, "malformed"):
        outcome = "failed"  # no model has answered
    calls, has_thinking = _calls(blocks or []), any(block.get("type") in _THINKING for block in blocks or [])
    category = text(at(declined, "trigger", "category")) or text(at(body, "stop_details", "category")) or None
    reasoning_text, reasoning_kind = _reasoning(own, text(body.get("model")) or "")
    return Reply(
        answer=answer_text,
        reasoning_text=reasoning_text,
        reasoning_kind=reasoning_kind,
        outcome=outcome,
        detail=_detail(body, declined) if outcome in ("refused", "failed") else ended.detail,
        finish_reason=stop,
        ending=ended.kind,
        filter_category=category if outcome == "refused" else None,
        **_counts(body.get("usage")),
        **stated_charges(body.get("usage")),
        served_model=text(body.get("model")),
        service_tier=text(at(body, "usage", "service_tier")),
        request_id=request_id(headers, body),
        blocks=without_end(blocks or [], _THINKING) if calls or has_thinking else None,
        tool_calls=calls,
    )


def _calls(blocks: list[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    """Return the calls of tools, without the one that is the structured output."""
    return tuple(
        ToolCall(text(block.get("id")), text(block.get("name")) or "", arguments(block.get("input")))
        for block in blocks
        if block.get("type") == "tool_use" and block.get("name") != NAME
    )


def _counts(usage: Any) -> dict[str, Any]:
    """Return the counts. Anthropic's `input_tokens` are those outside the cache; here they are all, as elsewhere. What
    is written to the cache is kept for five minutes or, at a different price, for an hour."""
    outside = count(usage, "input_tokens")
    read, written = count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
    for_an_hour = count(usage, "cache_creation", "ephemeral_1h_input_tokens")
    if written is None:
        parts = [count(usage, "cache_creation", "ephemeral_5m_input_tokens"), for_an_hour]
        written = None if parts == [None, None] else sum(part or 0 for part in parts)
    thinking = count(usage, "output_tokens_details", "thinking_tokens")
    counts = settled(outside, count(usage, "output_tokens"), None, thinking)
    sent = None if outside is None else outside + (read or 0) + (written or 0)
    return {
        "input_tokens": sent,
        "cached_input_tokens": read,
        "cache_write_tokens": written,
        "cache_write_1h_tokens": for_an_hour,
        "output_tokens": counts.output_tokens,
        "reasoning_tokens": counts.reasoning_tokens,
        "count_conflict": counts.conflict,
    }


def _reasoning(blocks: list[Mapping[str, Any]], model: str) -> Shown:
    """Return the reasoning: from Claude 3.7 itself, from later models a summary; omitted thinking is an empty text."""
    thinking = joined(block.get("thinking") for block in blocks if block.get("type") == "thinking")
    is_hidden = any(block.get("type") in _THINKING for block in blocks)
    is_raw = _SHOWS_THINKING in model
    return shown(thinking if is_raw else None, None if is_raw else thinking, is_hidden=is_hidden)


def _joined(blocks: list[Mapping[str, Any]], kind: str) -> str | None:
    parts = [part for block in blocks if block.get("type") == kind and (part := text(block.get(kind))) is not None]
    return "".join(parts) if parts else None


def _tool_answer(blocks: list[Mapping[str, Any]]) -> str | None:
    """Return the arguments of the tool that is the structured output, as JSON."""
    for block in blocks:
        if block.get("type") == "tool_use" and block.get("name") == NAME and isinstance(block.get("input"), Mapping):
            return json.dumps(block["input"], ensure_ascii=False)
    return None


def _declined(body: Mapping[str, Any], blocks: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the field that shows that another model continued after the requested one had refused (`fallbacks`): this
    is a refusal by the studied model, whatever the other one said."""
    if hop := next((block for block in blocks if block.get("type") == "fallback"), None):
        return hop
    rounds = tables(at(body, "usage", "iterations"))
    return next((entry for entry in rounds if entry.get("type") == "fallback_message"), None)


def _detail(body: Mapping[str, Any], declined: Mapping[str, Any] | None) -> str | None:
    if declined is not None:
        served = declined.get("to")
        model = text(served.get("model") if isinstance(served, Mapping) else declined.get("model"))
        return f"refused; {model or 'another model'} answered in its place"
    details = body.get("stop_details")
    if isinstance(details, Mapping):
        return text(details.get("explanation")) or text(details.get("category"))
    return text(details) or ("the response has no content" if "content" not in body else None)
