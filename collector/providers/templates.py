"""Split off reasoning that a server leaves in the answer's text, as the model's own template writes it.

    <think>…</think>answer            DeepSeek, Qwen …; the opening tag may be in the prompt, and not here; with other
                                      names in it: <seed:think> (Seed-OSS), <longcat_think>, <thought> (EXAONE)
    [THINK]…[/THINK]answer            Magistral
    ◁think▷…◁/think▷answer            Kimi
    <|channel>thought…<channel|>answer                      Gemma 4; <unused94>thought…<unused95> MedGemma
    <|inner_prefix|>…<|inner_suffix|>answer                 Apertus
    <|START_THINKING|>…<|END_THINKING|><|START_RESPONSE|>answer<|END_RESPONSE|>        Command A
    [unused16]…[unused17]answer       openPangu
    Here is my thought process:…Here is my response:answer  Granite 3
    <|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>answer        harmony (gpt-oss)
    analysis…assistantfinalanswer     the same if the server dropped the special tokens
A tag that was opened and never closed is reasoning that was cut off: then there is no answer. The marks are those of
vLLM's and SGLang's reasoning parsers (looked up 2026-11-27).
"""

from __future__ import annotations

import re
from dataclasses import replace

from slant.collector.records import Reply
from slant.collector.system.patterns import lazy_pattern

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
        return _harmony(content, channels)
    if _BARE_FINAL in content:
        reasoning, _, answer = content.rpartition(_BARE_FINAL)
        return reasoning.removeprefix("analysis").strip(), answer.strip()
    opening, closing = _OPENING.match(content), _CLOSING.search(content)
    start = opening.end() if opening else 0
    if closing and (opening or not closing[0].startswith("Here")):
        return content[start : closing.start()].strip(), _AROUND_ANSWER.sub("", content[closing.end() :]).strip()
    return (content[start:].strip(), "") if opening else None


def _harmony(content: str, channels: list[re.Match[str]]) -> tuple[str, str]:
    """Return the analysis channel and the last final one; the commentary channel (calls of tools) is neither."""
    parts: dict[str, list[str]] = {}
    ends = [match.start() for match in channels[1:]] + [len(content)]
    for channel, end in zip(channels, ends, strict=True):
        parts.setdefault(channel[1], []).append(_ENDED.split(content[channel.end() : end])[0].strip())
    return "\n".join(parts.get("analysis", [])), parts.get("final", [""])[-1]
