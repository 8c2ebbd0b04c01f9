"""Speak Gemini's own API. Its thoughts are *not* inside the candidates' count: `output_tokens` here is the sum of both,
so that it means the same as everywhere else (all that was generated)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from slant.collector.providers.endings import ending
from slant.collector.providers.exchange import Request, at, count, request_id, tables, text
from slant.collector.providers.logprobs import MAX_LOGPROBS, read_gemini
from slant.collector.providers.prices import stated_charges
from slant.collector.providers.reasoning import joined, shown
from slant.collector.providers.tools import arguments
from slant.collector.records import Outcome, Prompt, Reply, ToolCall, Trial
from slant.collector.study.records import StudyModel

LOGPROBS: dict[str, Any] = {"generationConfig": {"responseLogprobs": True, "logprobs": MAX_LOGPROBS}}
TEMPERATURE_INSIDE = "generationConfig"
_GO_BACK = {"thoughtSignature", "functionCall"}  # parts of an answer that a later turn must hold
TAKES_TOOLS = TOOLS_NEED_REASONING = True


def structured_output(schema: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"generationConfig": {"responseMimeType": "application/json", "responseSchema": _as_openapi(schema)}}


def _as_openapi(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON schema in Gemini's words: types in capitals, and no `additionalProperties`, which it does
    not know.
    """
    openapi: dict[str, Any] = {name: value for name, value in schema.items() if name != "additionalProperties"}
    openapi["type"] = str(schema["type"]).upper()
    if "properties" in openapi:
        openapi["properties"] = {
            name: _as_openapi(property_schema) for name, property_schema in openapi["properties"].items()
        }
    return openapi


def request(base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
    system = [{"text": str(m["content"])} for m in prompt.messages if m["role"] == "system"]
    contents = [_sent(m, model) for m in prompt.messages if m["role"] != "system"]
    body: dict[str, Any] = {"contents": contents}
    if (tool := prompt.tool) is not None:
        function = {"name": tool.name, "description": tool.description, "parameters": _as_openapi(tool.schema)}
        body["tools"] = [{"functionDeclarations": [function]}]
    if system:
        body["systemInstruction"] = {"parts": system}
    name = quote(model.requested_model, safe="")
    # the key goes into a header: in the address it would end up in logs
    url, headers = f"{base_url}/models/{name}:generateContent", {"x-goog-api-key": key or ""}
    n_earlier = sum(m["role"] != "system" for m in prompt.messages[: prompt.n_earlier])
    return Request(url, headers, {**body, **model.settings}, "contents", n_earlier, prompt.earlier_hash)


def _sent(message: Mapping[str, Any], model: StudyModel) -> dict[str, Any]:
    """Return an answer to send back: by default as it came, with the signatures of its thoughts, as the API
    recommends."""
    blocks = message.get("blocks") if model.reasoning_back != "dropped" else None
    if message["role"] == "assistant":
        return {"role": "model", "parts": blocks or [{"text": str(message["content"])}]}
    results = [_returned(result) for result in message.get("results") or ()]
    texts = [{"text": str(message["content"])}] if message["content"] or not results else []
    return {"role": "user", "parts": [*results, *texts]}


def _returned(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's result as Gemini takes it; a call without an ID goes by its name."""
    its_id = {"id": result["call_id"]} if result["call_id"] != result["name"] else {}
    return {"functionResponse": {**its_id, "name": result["name"], "response": {"result": result["content"]}}}


def _calls(pieces: list[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    calls = [call for piece in pieces if isinstance(call := piece.get("functionCall"), Mapping)]
    return tuple(
        ToolCall(text(call.get("id")), text(call.get("name")) or "", arguments(call.get("args"))) for call in calls
    )


def reply(body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
    blocked, feedback = None, body.get("promptFeedback")
    if (stated := at(feedback, "blockReason")) or at(feedback, "blockReasonMessage"):
        blocked = text(stated) or "BLOCK_REASON_UNSPECIFIED"  # a block without a reason still counts as one
    listed = tables(body.get("candidates"))
    first = next((each for each in listed if each.get("index", 0) == 0), listed[0] if listed else None)
    finish = text(at(first, "finishReason"))
    pieces = tables(at(first, "content", "parts"))
    answer = _joined(pieces, is_thought=False)
    ended = ending("gemini", finish)
    outcome: Outcome | None = "filtered" if blocked else ended.outcome(has_text=bool(answer))
    if not blocked and (first is None or not (finish or pieces or body.get("usageMetadata"))):
        outcome = "failed"  # no model has answered
    is_empty = outcome == "failed" and ended.kind == "missing"
    usage = body.get("usageMetadata")
    reasoning_text, reasoning_kind = shown(
        None, _joined(pieces, is_thought=True), is_hidden=any("thoughtSignature" in part for part in pieces)
    )
    return Reply(
        answer=answer,
        reasoning_text=reasoning_text,
        reasoning_kind=reasoning_kind,
        outcome=outcome,
        detail=blocked or ("the response has no candidate" if is_empty else ended.detail),
        finish_reason=finish,
        ending=None if blocked else ended.kind,
        filter_category=blocked or (finish if outcome == "filtered" else None),
        **_counts(usage),
        **stated_charges(usage),
        served_model=text(body.get("modelVersion")),
        request_id=request_id(headers, body),
        service_tier=text(at(usage, "serviceTier")) or text(at(usage, "trafficType")),
        logprobs=read_gemini(at(first, "logprobsResult")),
        blocks=pieces if any(part.get("thought") or _GO_BACK & part.keys() for part in pieces) else None,
        tool_calls=_calls(pieces),
    )


def _counts(usage: Any) -> dict[str, Any]:
    """Return the counts. Gemini leaves out counts of 0, as protobuf does: if those given add up to the total, the
    others are 0. If they don't, the rest of the total was generated, but no count says that it was thinking."""
    prompt, total = count(usage, "promptTokenCount"), count(usage, "totalTokenCount")
    answer, thoughts = count(usage, "candidatesTokenCount"), count(usage, "thoughtsTokenCount")
    known = [number for number in (thoughts, answer) if number is not None]
    output, conflict = sum(known) if known else None, None
    if prompt is not None:
        prompt += count(usage, "toolUsePromptTokenCount") or 0
    if prompt is not None and total is not None:
        output = output or 0
        beyond = total - prompt - output
        if beyond == 0:
            thoughts = thoughts or 0
        else:
            conflict = f"the total is {total}, its parts are {prompt} + {output}"
            output += max(0, beyond)
    return {
        "input_tokens": prompt,
        "cached_input_tokens": count(usage, "cachedContentTokenCount"),
        "output_tokens": output,
        "reasoning_tokens": thoughts,
        "count_conflict": conflict,
    }


def _joined(parts: list[Mapping[str, Any]], *, is_thought: bool) -> str | None:
    return joined(part.get("text") for part in parts if bool(part.get("thought")) == is_thought)
