"""Read what an answer shows of its reasoning, and what kind of text that is.

    raw         the reasoning itself, as the model generated it
    summary     a text about it, written by another model or cut down by the provider
    encrypted   only an unreadable block in its place
    none        neither
Only a raw text can be counted again or searched for the model's thoughts; a summary is another author's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from slant.collector.providers.exchange import text
from slant.collector.records import ReasoningKind

Shown = tuple[str | None, ReasoningKind]
_PLAIN = ("reasoning_content", "reasoning", "thinking")
_SHOWN_IN = frozenset({*_PLAIN, "reasoning_details", "reasoning_opaque"})


def shown(raw: str | None, summary: str | None, *, is_hidden: bool = False) -> Shown:
    """Return the text and its kind; if there are both, the raw one, for the two are never put together."""
    if raw and raw.strip():
        return raw, "raw"
    if summary and summary.strip():
        return summary, "summary"
    return None, "encrypted" if is_hidden else "none"


def joined(texts: Iterable[Any]) -> str | None:
    """Return the texts one after the other; None if there are none."""
    return "".join(part for value in texts if (part := text(value))) or None


def chat_reasoning(message: Mapping[str, Any]) -> Shown:
    """Return the reasoning of a chat completion's message: `reasoning_content`, `reasoning` or `thinking`, parts of the
    content (Mistral), or the list `reasoning_details` (OpenRouter, Snowflake), which also says what kind the others
    are."""
    content, details = message.get("content"), message.get("reasoning_details")
    if _SHOWN_IN.isdisjoint(message) and not isinstance(content, list):
        return None, "none"  # as for most models
    plain = next((shown_text for name in _PLAIN if (shown_text := text(message.get(name)))), None)
    if plain is None and isinstance(content, list):
        plain = joined(_thinking(content))
    if not isinstance(details, list):
        return shown(plain, None, is_hidden=bool(message.get("reasoning_opaque")))
    parts = [part for part in details if isinstance(part, Mapping)]
    raw = joined(part.get("text") for part in parts if part.get("type") == "reasoning.text")
    summary = joined(part.get("summary") for part in parts if part.get("type") == "reasoning.summary")
    if plain and summary and not raw:
        return shown(None, plain)
    return shown(plain or raw, summary, is_hidden=bool(parts))


def _thinking(content: list[Any]) -> Iterable[Any]:
    """Yield the texts of the parts of a content that are thinking; each is a text, or a list of texts."""
    for part in content:
        if isinstance(part, Mapping) and part.get("type") in ("thinking", "reasoning"):
            inner = part.get("thinking") or part.get("text")
            pieces = inner if isinstance(inner, list) else [inner]
            yield from (piece.get("text") if isinstance(piece, Mapping) else piece for piece in pieces)
