"""What a model said before, as it is sent back to it in a later turn of the same conversation."""

from __future__ import annotations

from typing import Any

from slant.collector.records import Reply


def quoted_answer(reply: Reply) -> tuple[dict[str, Any], ...]:
    """The message of the assistant, with what its provider wants back of it. Empty where nothing was said: some
    providers refuse an empty message."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.answer or ""}
    message |= {"blocks": reply.blocks} if reply.blocks else {}
    return (message,) if reply.blocks or reply.tool_calls or (reply.answer or "").strip() else ()
