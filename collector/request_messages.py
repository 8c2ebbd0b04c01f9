"""Read messages of a request as it was sent, whatever its provider calls them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slant.collector.system.json_text import decoded


@dataclass(frozen=True)
class Message:
    role: str
    text: str


def messages_of(request: str | None) -> tuple[list[Message], str | None]:
    """Return the messages sent, in one form for all providers, and the number of earlier ones (None: unknown). There
    are no messages if the request is unknown or holds no words."""
    body = values_of(request)
    system = body.get("system", body.get("systemInstruction", body.get("instructions")))
    listed: Any = next((body[name] for name in ("messages", "input", "contents", "prompt") if name in body), [])
    messages = [Message("system", text)] if (text := "\n".join(_texts(system))) else []
    for item in listed if isinstance(listed, list) else [listed]:
        role = str(item.get("role") or item.get("type") or "message") if isinstance(item, Mapping) else "user"
        messages.append(Message(role, "\n".join(_texts(item)) or _as_json(item)))
    earlier = body.get("earlier")
    n = earlier.get("n") if isinstance(earlier, Mapping) else None
    return messages, None if n is None else f"{n} earlier messages of this conversation"


def sent_text(request: str | None) -> str:
    """Return the messages sent as one text, each after its role in brackets."""
    return "\n\n".join(f"[{message.role}]\n{message.text}" for message in messages_of(request)[0])


def _texts(part: Any) -> Iterator[str]:
    """Yield the words in a message: its content, the texts of its parts, what a tool gave."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for inner in part:
            yield from _texts(inner)
    elif isinstance(part, Mapping):
        for name in ("content", "parts", "text", "output", "summary", "thinking"):
            yield from _texts(part.get(name))
        for name in ("tool_calls", "functionCall", "functionResponse", "arguments", "results"):
            if part.get(name):
                yield f"{name}: {_as_json(part[name])}"


def values_of(text: str | None) -> dict[str, Any]:
    """Return an object of JSON in a column (factors, settings, headers); empty if there is none."""
    try:
        value = decoded(text or "null")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
