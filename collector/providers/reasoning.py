"""Read what an answer shows of its reasoning, and what kind of text that is.

    raw         the reasoning itself, as the model generated it
    summary     a text about it, written by another model or cut down by the provider
    encrypted   only an unreadable block in its place
    none        neither
Only a raw text can be counted again or searched for the model's thoughts; a summary is another author's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from slant.collector.providers.exchange import text
from slant.collector.records import ReasoningKind, Reply
from slant.collector.system.patterns import lazy_pattern

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


_NAME = r"(?:[\w:-]{0,20}think(?:ing)?|thought|reasoning)"
_CLOSING = lazy_pattern(
    rf"</{_NAME}>|\[/THINK\]|◁/think▷|<channel[|]>|<unused95>|<[|](?:inner_suffix|END_THINKING)[|]>|\[unused17\]"
    r"|\bHere(?:'s| is) my response:"
)
_OPENING = lazy_pattern(
    rf"\s*(?:<{_NAME}>|\[THINK\]|◁think▷|(?:<[|]channel>|<unused94>)(?:thought\b)?"
    r"|<[|](?:inner_prefix|START_THINKING)[|]>|\[unused16\]|Here(?:'s| is) my thought process:)"
)
_MARKS = ("<", "THINK]", "◁", "[unused1", "Here is my", "Here's my")
"""List texts of which each template holds one."""
_AROUND_ANSWER = lazy_pattern(r"<[|]START_RESPONSE[|]>|<[|]END_RESPONSE[|]>")
_CHANNEL = lazy_pattern(
    r"(?:<[|]start[|]>assistant)?<[|]channel[|]>(\w+)(?:(?!<[|]message).)*<[|]message[|]>", re.DOTALL
)
_ENDED = lazy_pattern(r"<[|](?:end|return|call)[|]>")
_BARE_FINAL = "assistantfinal"


def without_template(reply: Reply) -> Reply:
    """Return the reply with its reasoning apart if the server has not done that; else unchanged."""
    if reply.answer is None or (reply.reasoning_text or "").strip():
        return reply
    parts = split(reply.answer)
    if parts is None:
        return reply
    return replace(
        reply, reasoning_text=parts[0] or None, reasoning_kind="raw" if parts[0] else "none", answer=parts[1]
    )


def split(content: str) -> tuple[str, str] | None:
    """Return reasoning and answer, without the marks around them; None if no template shows."""
    if _BARE_FINAL not in content and not any(mark in content for mark in _MARKS):  # nearly always
        return None
    if channels := list(_CHANNEL.finditer(content)):
        # the commentary channel (calls of tools) is neither reasoning nor answer
        parts: dict[str, list[str]] = {}
        ends = [match.start() for match in channels[1:]] + [len(content)]
        for channel, end in zip(channels, ends, strict=True):
            parts.setdefault(channel[1], []).append(_ENDED.split(content[channel.end() : end])[0].strip())
        return "\n".join(parts.get("analysis", [])), parts.get("final", [""])[-1]
    if _BARE_FINAL in content:
        reasoning, _, answer = content.rpartition(_BARE_FINAL)
        return reasoning.removeprefix("analysis").strip(), answer.strip()
    opening, closing = _OPENING.match(content), _CLOSING.search(content)
    start = opening.end() if opening else 0
    if closing and (opening or not closing[0].startswith("Here")):
        return content[start : closing.start()].strip(), _AROUND_ANSWER.sub("", content[closing.end() :]).strip()
    return (content[start:].strip(), "") if opening else None
