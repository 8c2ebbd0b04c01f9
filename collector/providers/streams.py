"""Put a streamed response together. None is requested, but some gateways stream whatever they are asked.

data: {"choices": [{"index": 0, "delta": {"content": "Ca"}}]}     chat completions, as server-sent events
{"message": {"content": "Ca"}, "done": false}                     Ollama, a line of JSON each
data: {"type": "content_block_delta", …}                          Anthropic
data: {"type": "response.completed", "response": {…}}             Responses
data: {"candidates": […]}, or a list of them                      Gemini

A stream that broke off, or ends with an error, is no answer; what it said of its counts comes with the error, for they
are billed. If the answer had been cut off at its limit before, that is what it is.
"""

from __future__ import annotations

import json
import re
from typing import Any

from slant.collector.system.json_text import decoded

_END = "[DONE]"
_CUT_OFF = ("length", "max_tokens", "MAX_TOKENS", "model_length")


def is_stream(body: str) -> bool:
    """Return whether a body is a stream of server-sent events, whole or not."""
    return any(line.startswith("data:") for line in body.splitlines()[:20])


def assembled(body: str) -> dict[str, Any] | None:
    """Return the response that a stream amounts to, or the error in it; None if it is no stream that is known, or broke
    off before its end without a word about its counts."""
    lines = [line.strip() for line in body.splitlines()]
    events = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    try:
        if events:
            return _of_events(events)
        if body.startswith("["):
            return of_list(_begun(body))
        return _ollama([decoded(line) for line in lines if line])
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError, IndexError):
        return None


def of_list(pieces: list[Any]) -> dict[str, Any] | None:
    """Return the response that a list of Gemini's pieces amounts to, or the error in it; None if it is none."""
    try:
        error = next((piece for piece in pieces if piece.get("error")), None)
        return _gemini(pieces, error) if _are_gemini([piece for piece in pieces if piece is not error]) else None
    except (TypeError, AttributeError, KeyError, IndexError):
        return None


def _begun(body: str) -> list[Any]:
    """Return the pieces of a list that broke off, up to the last whole one."""
    pieces, at = [], 1
    while found := _NEXT.match(body, at):
        try:
            piece, at = _DECODER.raw_decode(body, found.end())
        except ValueError:
            break
        pieces.append(piece)
    return pieces


_NEXT, _DECODER = re.compile(r"[\s,]*(?=\{)"), json.JSONDecoder()


def _of_events(events: list[str]) -> dict[str, Any] | None:
    *whole, last = [event for event in events if event and event != _END] or [""]
    pieces: list[dict[str, Any]] = [decoded(event) for event in whole]
    try:
        pieces.append(decoded(last))
    except ValueError:  # it broke off in the middle of an event
        if not pieces:
            raise
    error = next((piece for piece in pieces if piece.get("error")), None)
    kinds = [str(piece.get("type") or "") for piece in pieces]
    if any(kind.startswith("response.") for kind in kinds):
        return _responses(pieces, error)
    if "message_start" in kinds:
        return _anthropic(pieces, error)
    if _are_gemini([piece for piece in pieces if piece is not error]):
        return _gemini(pieces, error)
    return _chat(pieces, error, has_ended=_END in events)


def _broken(error: dict[str, Any] | None, **counts: Any) -> dict[str, Any] | None:
    """Return the error of a stream that gives no answer, with the counts that came before it."""
    known = {name: value for name, value in counts.items() if value}
    if error is None:
        return {"error": {"message": "the stream broke off"}, **known} if known else None
    return {**known, **error}


def _chat(pieces: list[dict[str, Any]], error: dict[str, Any] | None, *, has_ended: bool) -> dict[str, Any] | None:
    message: dict[str, Any] = {}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": None}
    whole: dict[str, Any] = {}
    for piece in pieces:
        if piece is error and choice["finish_reason"] in _CUT_OFF:
            continue
        whole |= {name: value for name, value in piece.items() if name != "choices" and value is not None}
        for part in piece.get("choices") or ():
            if part.get("index", 0) == 0:
                _add(message, part.get("delta") or {})
                choice |= {name: value for name, value in part.items() if name != "delta" and value is not None}
    if isinstance(groq := whole.get("x_groq"), dict) and groq.get("usage"):
        whole.setdefault("usage", groq["usage"])
    if error is not None and "error" in whole:
        return _broken(error, usage=whole.get("usage"))
    if not message or not (has_ended or choice["finish_reason"]):
        return _broken(None, usage=whole.get("usage"))
    return {**whole, "choices": [choice]}


def _add(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for name, value in delta.items():
        before = message.get(name)
        if name == "tool_calls":
            for call in value or ():
                _add_call(message.setdefault("tool_calls", []), call)
        elif name == "role":
            message[name] = value
        elif isinstance(value, list) or (isinstance(value, str) and isinstance(before, list)):
            message[name] = [*_parts(before), *_parts(value)]  # Mistral thinks in parts, and answers in text
        elif isinstance(value, str):
            message[name] = (before or "") + value
        elif value is not None:
            message[name] = value


def _parts(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}] if value else []
    return value or []


def _add_call(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    if piece.get("index", 0) >= len(calls):
        calls.append({"type": "function", "function": {"name": "", "arguments": ""}})
    call, function = calls[-1], piece.get("function") or {}
    call |= {name: value for name, value in piece.items() if name not in ("index", "function") and value}
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""


def _responses(pieces: list[dict[str, Any]], error: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the last state of a Response; its items also where a gateway leaves them to the events before."""
    states = [piece["response"] for piece in pieces if isinstance(piece.get("response"), dict)]
    last = next(
        (state for state in reversed(states) if state.get("status") not in (None, "in_progress", "queued")), None
    )
    usage = next((state["usage"] for state in reversed(states) if state.get("usage")), None)
    if last is None:
        error = error or next(({"error": piece} for piece in pieces if piece.get("type") == "error"), None)
        return _broken(error, usage=usage)
    items = [piece["item"] for piece in pieces if piece.get("type") == "response.output_item.done"]
    said = "".join(piece["delta"] for piece in pieces if piece.get("type") == "response.output_text.delta")
    if not items and said:
        items = [{"type": "message", "content": [{"type": "output_text", "text": said}]}]
    return last if last.get("output") or not items else {**last, "output": items}


_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def _anthropic(pieces: list[dict[str, Any]], error: dict[str, Any] | None) -> dict[str, Any] | None:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    arguments: dict[int, str] = {}
    for piece in pieces:
        kind, no = piece.get("type"), piece.get("index", 0)
        if kind == "message_start":
            message = dict(piece["message"])
        elif kind == "content_block_start":
            blocks[no] = dict(piece["content_block"])
        elif kind == "content_block_delta":
            delta = piece["delta"]
            if name := _DELTAS.get(delta.get("type")):
                blocks[no][name] = (blocks[no].get(name) or "") + delta[name]
            elif delta.get("type") == "input_json_delta":
                arguments[no] = arguments.get(no, "") + delta["partial_json"]
        elif kind == "message_delta":
            message |= {name: value for name, value in (piece.get("delta") or {}).items() if value is not None}
            message["usage"] = {**(message.get("usage") or {}), **(piece.get("usage") or {})}
    if (error is not None and message.get("stop_reason") not in _CUT_OFF) or not message.get("stop_reason"):
        return _broken(error, usage=message.get("usage"))
    for no, text in arguments.items():
        blocks[no]["input"] = json.loads(text or "{}")
    return {**message, "content": [blocks[no] for no in sorted(blocks)]}


def _are_gemini(pieces: list[Any]) -> bool:
    names = ("candidates", "promptFeedback", "usageMetadata")
    return bool(pieces) and all(isinstance(piece, dict) and any(name in piece for name in names) for piece in pieces)


def _gemini(pieces: list[dict[str, Any]], error: dict[str, Any] | None) -> dict[str, Any] | None:
    whole: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    parts: list[Any] = []
    for piece in pieces:
        whole |= {name: value for name, value in piece.items() if name not in ("candidates", "error") and value}
        for part in piece.get("candidates") or ():
            if part.get("index", 0) == 0:
                parts += (part.get("content") or {}).get("parts") or ()
                candidate |= {name: value for name, value in part.items() if name != "content"}
    finish = candidate.get("finishReason")
    if (error is not None and finish not in _CUT_OFF) or not (finish or whole.get("promptFeedback")):
        return _broken(error, usageMetadata=whole.get("usageMetadata"))
    if not candidate:
        return whole
    return {**whole, "candidates": [{**candidate, "content": {"role": "model", "parts": parts}}]}


def _ollama(pieces: list[dict[str, Any]]) -> dict[str, Any] | None:
    if len(pieces) > 1 and pieces[-1].get("error"):
        return _broken(pieces[-1])
    if len(pieces) < 2 or not pieces[-1].get("done"):
        return None
    message: dict[str, Any] = {}
    for piece in pieces:
        _add(message, piece["message"])
    return {**pieces[-1], "message": message}
