"""Offer tools: a model answers by calling a function, and gets what the call returned (`collect --answer tool`).

A dialect that supports this says TAKES_TOOLS = True, offers `prompt.tool`, gives the calls of an answer as
`Reply.tool_calls`, and sends the "results" of a message back in its API's form. Whatever accompanied a call goes back
with it unchanged: APIs refuse a call without the reasoning that led to it, or give worse answers.
TOOLS_NEED_REASONING = True says that such a dialect can't be asked with reasoning_back = "dropped".

Ask for structured output: the provider itself makes every answer fit a JSON schema. A person must ask for it
(`collect --structured-output`), for it removes the malformed answers that a study of compliance counts.

A dialect that supports it has a function `structured_output(schema, settings)`: what to send besides the model's own
settings. One that can only ask for JSON of any shape (DeepSeek) has none."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from slant.collector.providers.exchange import Request, tables, text
from slant.collector.providers.logprobs import DialectMadeFrom, merged
from slant.collector.records import Prompt, Tool, ToolCall, Trial
from slant.collector.study.records import StudyModel
from slant.collector.system.json_text import json_or

NAME = "answer"
"""Name the schema (or the tool in its place) if a provider wants a name."""


class Enforcing(DialectMadeFrom):
    """Ask for answers of one schema in every request; otherwise behave as the wrapped dialect."""

    def __init__(self, dialect: Any, schema: Mapping[str, Any]) -> None:
        super().__init__(dialect)
        self._schema = schema

    def request(self, base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
        sent: Request = self._dialect.request(base_url, key, model, prompt, trial)
        setting = self._dialect.structured_output(self._schema, model.settings)
        return replace(sent, body=merged(sent.body, setting))


def response_format(schema: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the setting of OpenAI's chat completions, which vLLM, SGLang, llama.cpp, OpenRouter and Together accept,
    too.
    """
    named = {"name": NAME, "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def offered(tool: Tool | None) -> dict[str, Any]:
    """Return the tool as OpenAI's chat completions and all servers that speak them take it; nothing if there is
    none.
    """
    if tool is None:
        return {}
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"tools": [{"type": "function", "function": function}]}


def chat_calls(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the calls in a message of chat completions."""
    functions = [(call.get("id"), call.get("function")) for call in tables(message.get("tool_calls"))]
    return tuple(
        ToolCall(text(call_id), text(function.get("name")) or "", arguments(function.get("arguments")))
        for call_id, function in functions
        if isinstance(function, Mapping)
    )


def arguments(given: Any) -> Mapping[str, Any]:
    """Return the arguments of a call, which most providers write as JSON; empty if they can't be read."""
    value = json_or(given) if isinstance(given, str) else given
    return value if isinstance(value, Mapping) else {}


def without_end(pieces: list[Mapping[str, Any]], kinds: Collection[str]) -> list[Mapping[str, Any]] | None:
    """Return an answer to send back, without reasoning that was cut off before anything followed: Anthropic and OpenAI
    refuse a message that ends with it. None if nothing is left.
    """
    n = len(pieces)
    while n and pieces[n - 1].get("type") in kinds:
        n -= 1
    return pieces[:n] or None


def spoken_message(message: Mapping[str, Any], model: StudyModel) -> dict[str, Any]:
    """Return a message as chat completions take it. With a call, reasoning goes back unless it is to be dropped, as
    DeepSeek and OpenRouter ask; without one, only if a study wants it kept: OpenAI gives none here, DeepSeek refuses
    its own, and chat templates drop it.
    """
    sent = {name: value for name, value in message.items() if name not in ("blocks", "results")}
    blocks = message.get("blocks") or {}
    calls = {"tool_calls": blocks["tool_calls"]} if "tool_calls" in blocks else {}
    if calls and not sent["content"]:
        sent["content"] = None
    keeps = model.reasoning_back == "kept" or (calls and model.reasoning_back == "default")
    return {**sent, **(blocks if keeps else calls)}


def chat_messages(prompt: Prompt, model: StudyModel) -> tuple[list[Mapping[str, Any]], int]:
    """Return the messages as they are sent, and how many of them were sent before."""
    if prompt.tool is None:
        # a game sends each message many times: most are sent as they are
        whole = [m if type(m) is dict and "blocks" not in m else spoken_message(m, model) for m in prompt.messages]
        return list[Mapping[str, Any]](whole), prompt.n_earlier
    items = [_with_results(message, model) for message in prompt.messages]
    return [whole_message for item in items for whole_message in item], sum(map(len, items[: prompt.n_earlier]))


def _with_results(message: Mapping[str, Any], model: StudyModel) -> list[Mapping[str, Any]]:
    """Return results as separate messages; the user's message follows them if there is one."""
    results = message.get("results") or ()
    messages: list[Mapping[str, Any]] = [
        {"role": "tool", "tool_call_id": result["call_id"], "content": result["content"]} for result in results
    ]
    return [*messages, spoken_message(message, model)] if message["content"] or not results else messages
