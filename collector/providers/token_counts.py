"""Settle the token counts of one reply: what is part of what, and what a total holds beyond its parts.

Providers count differently. Most have the reasoning inside the completion; xAI has it next to it (prompt + completion +
reasoning = total); some count it in the total only. What a total holds beyond prompt and completion was generated and
is billed: hidden reasoning, unless the details name it as something else (audio). Counts that contradict each other (a
part larger than its sum, parts that do not make the total) are settled by the rules below, and `conflict` says what
contradicts what, so that they are not taken for plain counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from slant.collector.providers.exchange import count, whole, wholes
from slant.collector.records import Reply

_OTHER_PARTS = ("audio_tokens", "image_tokens", "video_tokens")
_CACHED = ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
_OTHER_NAMES = (
    ("input_tokens", "prompt_tokens"), ("inputTokens", "prompt_tokens"), ("promptTokens", "prompt_tokens"),
    ("output_tokens", "completion_tokens"), ("outputTokens", "completion_tokens"),
    ("completionTokens", "completion_tokens"), ("totalTokens", "total_tokens"),
    ("input_tokens_details", "prompt_tokens_details"), ("output_tokens_details", "completion_tokens_details"),
)  # fmt: skip


class Counts(NamedTuple):
    """Hold counts as they are everywhere in slant: input includes the cached, output the reasoning. None is unknown.

    `conflict` says what contradicts what in the provider's own counts; None if they agree.
    """

    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    conflict: str | None = None


def settled(
    prompt: int | None,
    completion: int | None,
    total: int | None,
    reasoning: int | None,
    in_prompt: int = 0,
    details: tuple[Any, ...] = (),
) -> Counts:
    """Return the settled counts of one reply. `in_prompt`: how many of the prompt's tokens the details name (cached,
    written to the cache); `details`: the provider's tables of parts, which may name some as something other than text.
    """
    if prompt is None or completion is None:
        return _settled(prompt, completion, total, reasoning, in_prompt, _named(details))
    if in_prompt <= prompt and (reasoning or 0) <= completion and total in (None, prompt + completion):
        return Counts(prompt, completion, reasoning)  # nearly always
    return _settled(prompt, completion, total, reasoning, in_prompt, _named(details))


def _settled(
    prompt: int | None,
    completion: int | None,
    total: int | None,
    reasoning: int | None,
    in_prompt: int,
    named: list[int],
) -> Counts:
    conflicts: list[str] = []
    if prompt is not None and in_prompt > prompt:
        conflicts.append(f"{in_prompt} tokens of the cache are more than the prompt's {prompt}")
        if total is None or completion is None or total >= prompt + in_prompt + completion:
            prompt += in_prompt  # they are counted next to the prompt, and the total has room for them
    if prompt is None or completion is None:
        return Counts(prompt, completion, reasoning, "; ".join(conflicts) or None)
    if total is None:
        if reasoning is not None and reasoning > completion:
            conflicts.append(
                f"{reasoning} reasoning tokens are more than the completion's {completion}: taken as added to it"
            )
            completion += reasoning
        return Counts(prompt, completion, reasoning, "; ".join(conflicts) or None)
    beyond = total - prompt - completion
    if beyond < 0:
        conflicts.append(f"the total of {total} is less than its parts, {prompt} + {completion}")
    if beyond > 0 and beyond not in named and beyond not in (sum(named), (reasoning or 0) + sum(named)):
        if reasoning and reasoning != beyond:
            conflicts.append(
                f"the total of {total} holds {beyond} tokens beyond {prompt} + {completion}: not the reasoning's"
            )
        elif reasoning == 0:
            conflicts.append(
                f"the total of {total} holds {beyond} tokens beyond {prompt} + {completion}, and 0 are reasoning"
            )
        completion += beyond
        reasoning = reasoning or beyond
    elif reasoning and beyond == reasoning + sum(named):
        completion += reasoning
    if reasoning is not None and reasoning > completion:
        conflicts.append(f"{reasoning} reasoning tokens are more than the {completion} of the output: left out")
        reasoning = None
    return Counts(prompt, completion, reasoning, "; ".join(conflicts) or None)


def chat_counts(usage: Any) -> dict[str, Any]:
    """Return the counts of `usage` as chat completions have it, by the names of Reply."""
    if not isinstance(usage, dict):
        return {}
    if "prompt_tokens" not in usage and "completion_tokens" not in usage:
        # gateways hand on the names of Responses and Anthropic, of Cohere (in a table `tokens`) or of JavaScript
        inner = {**usage, **_table(usage.get("tokens"))}
        usage = inner | {ours: inner[name] for name, ours in _OTHER_NAMES if name in inner}
    sent, generated = _table(usage.get("prompt_tokens_details")), _table(usage.get("completion_tokens_details"))
    prompt, completion, total, cached, written, reasoning = wholes(
        (
            usage.get("prompt_tokens"), usage.get("completion_tokens"), usage.get("total_tokens"),
            sent.get("cached_tokens"), sent.get("cache_write_tokens"), generated.get("reasoning_tokens"),
        )
    )  # fmt: skip
    if cached is None:
        cached = _first(usage, _CACHED) if "cache_read_tokens" not in sent else whole(sent["cache_read_tokens"])
    if written is None:
        written = whole(sent.get("cache_creation_tokens") or usage.get("cache_creation_input_tokens"))
    if reasoning is None and (reasoning := whole(generated.get("thinking_tokens"))) is None:
        reasoning = _first(usage, ("reasoning_tokens", "thinking_tokens")) or None  # SGLang has it there; 0 is no count
        if reasoning is None and "output_tokens_details" in usage:
            reasoning = count(usage, "output_tokens_details", "reasoning_tokens")
    counts = settled(prompt, completion, total, reasoning, (cached or 0) + (written or 0), (sent, generated))
    return by_name(counts, cached, written)


def _first(usage: dict[str, Any], names: tuple[str, ...]) -> int | None:
    if usage.keys().isdisjoint(names):  # nearly always
        return None
    return next((found for name in names if (found := whole(usage.get(name))) is not None), None)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def responses_counts(usage: Any) -> dict[str, Any]:
    """Return the counts of `usage` as the Responses API has it, by the names of Reply."""
    if not isinstance(usage, dict):
        return {}
    sent, generated = usage.get("input_tokens_details"), usage.get("output_tokens_details")
    cached, written = count(sent, "cached_tokens"), count(sent, "cache_write_tokens")
    counts = settled(
        count(usage, "input_tokens"),
        count(usage, "output_tokens"),
        count(usage, "total_tokens"),
        count(generated, "reasoning_tokens"),
        (cached or 0) + (written or 0),
        (sent, generated),
    )
    return by_name(counts, cached, written)


def by_name(counts: Counts, cached: int | None, written: int | None) -> dict[str, Any]:
    """Return settled counts under the names that they have in Reply."""
    return {
        "input_tokens": counts.input_tokens,
        "output_tokens": counts.output_tokens,
        "reasoning_tokens": counts.reasoning_tokens,
        "cached_input_tokens": cached,
        "cache_write_tokens": written,
        "count_conflict": counts.conflict,
    }


def without_false_zero(reply: Reply) -> Reply:
    """Return a reply without its count of 0 reasoning tokens if reasoning can be read in it: servers report a 0 that
    don't count. What the reasoning took is not known, and the output is no measure of it."""
    if reply.reasoning_tokens != 0 or not (reply.reasoning_text or "").strip():
        return reply
    conflict = reply.count_conflict or "0 reasoning tokens are counted, and reasoning can be read"
    return replace(reply, reasoning_tokens=None, count_conflict=conflict)


def _named(details: tuple[Any, ...]) -> list[int]:
    """Return the numbers of tokens that the details name as something other than text."""
    return [
        number for part in details if isinstance(part, dict) for name in _OTHER_PARTS if (number := count(part, name))
    ]
