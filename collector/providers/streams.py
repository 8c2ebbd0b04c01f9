"""Put a streamed response together. None is requested, but some gateways stream whatever they are asked.

data: {"choices": [{"index": 0, "delta": {"content": "Ca"}}]}     chat completions, as server-sent events
{"message": {"content": "Ca"}, "done": false}                     Ollama, a line of JSON each
"""

from __future__ import annotations

from typing import Any

from slant.collector.system.json_text import decoded

_END = "[DONE]"


def is_stream(body: str) -> bool:
    """Return whether a body is a stream of server-sent events, whole or not."""
    return any(line.startswith("data:") for line in body.splitlines()[:20])


def assembled(body: str) -> dict[str, Any] | None:
    """Return the response that a stream amounts to, or the error in it; None if it is no stream that is known, or broke
    off before its end."""
    lines = [line.strip() for line in body.splitlines()]
    events = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    try:
        if events:
            pieces = [decoded(event) for event in events if event and event != _END]
            return _chat(pieces, has_ended=_END in events)
        return _ollama([decoded(line) for line in lines if line])
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        return None


def _chat(pieces: list[dict[str, Any]], *, has_ended: bool) -> dict[str, Any] | None:
    if error := next((piece for piece in pieces if piece.get("error")), None):
        return error
    message: dict[str, Any] = {}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": None}
    whole: dict[str, Any] = {}
    for piece in pieces:
        whole |= {name: value for name, value in piece.items() if name != "choices" and value is not None}
        for part in piece.get("choices") or ():
            if part.get("index", 0) == 0:
                _add(message, part.get("delta") or {})
                choice |= {name: value for name, value in part.items() if name != "delta" and value is not None}
    if not message or not (has_ended or choice["finish_reason"]):
        return None
    return {**whole, "choices": [choice]}


def _add(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for name, value in delta.items():
        if name == "tool_calls":
            for call in value or ():
                _add_call(message.setdefault("tool_calls", []), call)
        elif isinstance(value, str) and name != "role":
            message[name] = message.get(name, "") + value
        elif isinstance(value, list):
            message[name] = [*message.get(name, []), *value]
        elif value is not None:
            message[name] = value


def _add_call(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    if piece.get("index", 0) >= len(calls):
        calls.append({"type": "function", "function": {"name": "", "arguments": ""}})
    call, function = calls[-1], piece.get("function") or {}
    call |= {name: value for name, value in piece.items() if name not in ("index", "function") and value}
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""


def _ollama(pieces: list[dict[str, Any]]) -> dict[str, Any] | None:
    if len(pieces) < 2 or not pieces[-1].get("done"):
        return None
    message: dict[str, Any] = {}
    for piece in pieces:
        _add(message, piece["message"])
    return {**pieces[-1], "message": message}
