"""Servers that let a model call a tool, in four dialects. Like the real ones they refuse a call without its result, and
one that comes back without what stood next to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from aiohttp import web

from tests.support.local_server import completion, error

Body = dict[str, Any]
DIALECT = {
    "openai": "chat", "local": "chat", "openrouter": "chat", "openai-responses": "responses", "anthropic": "anthropic",
    "gemini": "gemini",
}  # fmt: skip
LISTED = {"chat": "messages", "responses": "input", "anthropic": "messages", "gemini": "contents"}


def caller(provider: str, chosen: Callable[[Body], list[str]] = lambda body: ["Ato"]) -> Any:
    """Calls the tool once for each group that `chosen` gives; answers questions after the game in words."""
    dialect = DIALECT[provider]

    async def handler(request: web.Request, body: Body) -> web.StreamResponse:
        items = body[LISTED[dialect]]
        if wrong := _RULES[dialect](items):
            return error(400, "invalid_request_error", wrong)
        is_question = "the best" in str(items[-1])
        groups = [] if is_question else chosen(body)
        return web.json_response(_ANSWERS[dialect]("Beno" if is_question else "", groups, len(items)))

    return handler


def _chat(text: str, groups: list[str], number: int) -> Body:
    calls = [
        {
            "id": f"c{number}-{group}",
            "type": "function",
            "extra_content": {"signature": "s1"},
            "function": {"name": "assign", "arguments": json.dumps({"group": group})},
        }
        for group in groups
    ]
    found: Body = completion(text)
    found["choices"][0]["message"] |= {"content": text or None, "reasoning_content": "Ato won before."}
    found["choices"][0]["message"] |= {"tool_calls": calls} if calls else {}
    return found


def _chat_rule(items: list[Body]) -> str:
    for number, item in enumerate(items):
        ids = [call["id"] for call in item.get("tool_calls", ())]
        results = [one.get("tool_call_id") for one in items[number + 1 : number + 1 + len(ids)]]
        if ids != results:
            return f"tool_calls {ids} must be followed by tool messages, not {results}"
        if any("extra_content" not in call for call in item.get("tool_calls", ())):
            return "the signature is missing"
    return ""


def _responses(text: str, groups: list[str], number: int) -> Body:
    calls = [
        {
            "type": "function_call",
            "call_id": f"c{number}-{group}",
            "name": "assign",
            "arguments": json.dumps({"group": group}),
        }
        for group in groups
    ]
    said = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]
    reasoning = {"type": "reasoning", "id": f"r{number}", "summary": []}
    return {"status": "completed", "model": "m", "output": [reasoning, *(calls or said)]}


def _responses_rule(items: list[Body]) -> str:
    outputs = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    for before, item in zip([{}, *items], items, strict=False):
        if item.get("type") == "function_call" and item["call_id"] not in outputs:
            return f"No tool output found for function call {item['call_id']}"
        if item.get("type") == "function_call" and before.get("type") not in ("reasoning", "function_call"):
            return "function_call was provided without its required reasoning item"
    return ""


def _anthropic(text: str, groups: list[str], number: int) -> Body:
    calls = [
        {"type": "tool_use", "id": f"c{number}-{group}", "name": "assign", "input": {"group": group}}
        for group in groups
    ]
    thought = {"type": "thinking", "thinking": "Ato won before.", "signature": "s1"}
    return {
        "model": "m",
        "stop_reason": "tool_use" if calls else "end_turn",
        "content": [thought, *(calls or [{"type": "text", "text": text}])],
    }


def _anthropic_rule(items: list[Body]) -> str:
    for item, after in pairwise(items):
        ids = [block["id"] for block in item["content"] if isinstance(block, dict) and block["type"] == "tool_use"]
        results = [block.get("tool_use_id") for block in after["content"][: len(ids)]]
        if ids and ids != results:
            return f"`tool_use` ids {ids} were found without `tool_result` blocks immediately after"
        if ids and item["content"][0]["type"] != "thinking":
            return "Expected `thinking`, but found `tool_use`"
    return ""


def _gemini(text: str, groups: list[str], number: int) -> Body:
    calls = [
        {"functionCall": {"name": "assign", "args": {"group": group}}, "thoughtSignature": "s1"} for group in groups
    ]
    return {"candidates": [{"content": {"role": "model", "parts": calls or [{"text": text}]}, "finishReason": "STOP"}]}


def _gemini_rule(items: list[Body]) -> str:
    for item, after in pairwise(items):
        calls = [part for part in item["parts"] if "functionCall" in part]
        results = [part for part in after["parts"] if "functionResponse" in part]
        if len(calls) != len(results):
            return "the number of function response parts must equal that of the function call parts"
        if any("thoughtSignature" not in call for call in calls):
            return "Function call is missing a thought_signature"
    return ""


_ANSWERS = {"chat": _chat, "responses": _responses, "anthropic": _anthropic, "gemini": _gemini}
_RULES = {"chat": _chat_rule, "responses": _responses_rule, "anthropic": _anthropic_rule, "gemini": _gemini_rule}
