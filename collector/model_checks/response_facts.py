"""Collect what one model's responses say besides text and counts, and what slant reads differently than documented.

`collect check-model` shows them as rows: a provider's update is seen here first, before a study pays for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slant.collector.model_checks.documented_reading import differences as differences_from
from slant.collector.model_checks.documented_reading import documented_fields
from slant.collector.records import Reply
from slant.collector.terminal import printable

_LONGEST_VALUE = 60
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ResponseFacts:
    """Hold the facts of one response by name, and the fields that are read differently than documented."""

    facts: Mapping[str, str] = field(default_factory=dict)
    deviations: tuple[str, ...] = ()


def facts_of_response(body: Mapping[str, Any], reply: Reply) -> ResponseFacts:
    """Return the facts of one response and of the reply that was read from it."""
    shown = {
        "finish reason": f"{reply.finish_reason or 'none'} ({reply.ending})" if reply.ending else reply.finish_reason,
        "reasoning text": reply.reasoning_kind,
        "effort that the answer reports": reply.effective_effort,
        "temperature that the answer reports": _text(reply.effective_temperature),
        "service tier": reply.service_tier,
        "charge": "stated by the provider" if reply.stated_cost_usd is not None else None,
        "cache": "tokens written are counted" if reply.cache_write_tokens is not None else None,
        "contradictory counts": reply.count_conflict,
    }
    deviations = [
        f"{d.field}: documented {_short(d.documented)}, read {_short(d.read)}"
        for d in differences_from(documented_fields(body), reply)
        if not (d.documented is None and d.field == "reasoning_tokens" and d.read == 0)  # 0 is left out by some
    ]
    return ResponseFacts({name: printable(value) for name, value in shown.items() if value}, tuple(deviations))


def summed(responses: Sequence[ResponseFacts]) -> list[tuple[str, str]]:
    """Return rows of what was found and how often, in the order of `facts_of_response`, with the deviations last."""
    by_name: dict[str, Counter[str]] = {}
    for response in responses:
        for name, value in response.facts.items():
            by_name.setdefault(name, Counter())[value] += 1
    rows = [(name, _listed(values.most_common(), len(responses))) for name, values in by_name.items()]
    fields: dict[str, list[str]] = {}
    for response in responses:
        for deviation in response.deviations:
            name, _, details = deviation.partition(": ")
            fields.setdefault(name, []).append(details)
    rows += [
        (f"{name}, otherwise than documented", f"in {len(details)} of {len(responses)} answers: {details[0]}")
        for name, details in fields.items()
    ]
    return rows if fields else [*rows, ("read otherwise than documented", "nothing")]


def _listed(values: Iterable[tuple[str, int]], n: int) -> str:
    """Return "stop (answer) in 20 of 22, length (truncated) in 2 of 22"; a value that all have comes without a
    count."""
    found = list(values)
    if len(found) == 1 and found[0][1] == n:
        return found[0][0]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(f"{value} in {k} of {n}" for value, k in found[:_SHOWN]) + more


def _text(number: float | None) -> str | None:
    return None if number is None else f"{number:g}"


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    text = printable(" ".join(str(value).split()))
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
