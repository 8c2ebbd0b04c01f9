"""Split off reasoning that a server leaves in the answer's text, as the model's own template writes it.

    <think>…</think>answer            DeepSeek, Qwen …; the opening tag may be in the prompt, and not here
    [THINK]…[/THINK]answer            Magistral
    <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>answer        harmony (gpt-oss)
    analysis…assistantfinalanswer     the same if the server dropped the special tokens
A tag that was opened and never closed is reasoning that was cut off: then there is no answer.
"""

from __future__ import annotations

import re
from dataclasses import replace

from slant.collector.records import Reply

_CLOSING = re.compile(r"</(think|thinking|thought|reasoning)>|\[/THINK\]")
_OPENING = re.compile(r"\s*(?:<(?:think|thinking|thought|reasoning)>|\[THINK\])")
_CHANNEL = re.compile(r"(?:<[|]start[|]>assistant)?<[|]channel[|]>(\w+)(?:(?!<[|]message).)*<[|]message[|]>", re.DOTALL)
_ENDED = re.compile(r"<[|](?:end|return|call)[|]>")
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
    if "<" not in content and "THINK]" not in content and _BARE_FINAL not in content:  # nearly always
        return None
    if channels := list(_CHANNEL.finditer(content)):
        return _harmony(content, channels)
    if _BARE_FINAL in content:
        reasoning, _, answer = content.rpartition(_BARE_FINAL)
        return reasoning.removeprefix("analysis").strip(), answer.strip()
    opening, closing = _OPENING.match(content), _CLOSING.search(content)
    start = opening.end() if opening else 0
    if closing:
        return content[start : closing.start()].strip(), content[closing.end() :].strip()
    return (content[start:].strip(), "") if opening else None


def _harmony(content: str, channels: list[re.Match[str]]) -> tuple[str, str]:
    """Return the analysis channel and the last final one; the commentary channel (calls of tools) is neither."""
    parts: dict[str, list[str]] = {}
    ends = [match.start() for match in channels[1:]] + [len(content)]
    for channel, end in zip(channels, ends, strict=True):
        parts.setdefault(channel[1], []).append(_ENDED.split(content[channel.end() : end])[0].strip())
    return "\n".join(parts.get("analysis", [])), parts.get("final", [""])[-1]
