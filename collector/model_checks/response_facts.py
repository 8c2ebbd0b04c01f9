"""Collect what one model's responses say besides text and counts, and what slant reads differently than documented.

`collect check-model` shows them as rows: a provider's update is seen here first, before a study pays for it.

What is documented is read field by field, by the paths in documented_fields.csv. This second reading knows nothing of
the dialects (collector/providers): if the two differ, either slant settles counts that contradict each other, or a
provider has changed what it sends. A path names keys by dots and items of a list by [0], [] (all) or
[key=value;key!=value]; texts of several items are joined. ` | ` separates alternatives, and the first that exists
counts; ` + ` separates terms of a sum, and the first has to exist; ` / ` comes before a unit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from slant.collector.records import Reply
from slant.collector.system.shipped_files import csv_rows
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
    temperature = reply.effective_temperature
    shown = {
        "finish reason": f"{reply.finish_reason or 'none'} ({reply.ending})" if reply.ending else reply.finish_reason,
        "reasoning text": reply.reasoning_kind,
        "effort that the answer reports": reply.effective_effort,
        "temperature that the answer reports": None if temperature is None else f"{temperature:g}",
        "service tier": reply.service_tier,
        "charge": "stated by the provider" if reply.stated_cost_usd is not None else None,
        "cache": "tokens written are counted" if reply.cache_write_tokens is not None else None,
        "contradictory counts": reply.count_conflict,
    }
    deviations = [
        f"{d.field}: documented {_short(d.documented)}, read {_short(d.read)}"
        for d in differences(documented_fields(body), reply)
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


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    text = printable(" ".join(str(value).split()))
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


_FILE = Path(__file__).resolve().parent / "documented_fields.csv"
_STEP = re.compile(r"(\w+)|\[([^\]]*)\]|\.")
_SHAPES = (  # the top-level keys by which a response is known
    ("choices", "chat"), ("candidates", "generate_content"), ("promptFeedback", "generate_content"),
    ("usageMetadata", "generate_content"), ("output", "responses"), ("stop_reason", "messages"), ("done", "ollama"),
    ("message", "ollama"),
)  # fmt: skip
_EMPTY = (None, "")


@dataclass(frozen=True, slots=True)
class Difference:
    """Hold a field that slant reads differently than it is documented."""

    field: str
    documented: Any
    read: Any


def shape_of(body: Mapping[str, Any]) -> str | None:
    """Return the kind of this response; None if it is unknown."""
    return next((shape for key, shape in _SHAPES if key in body), None)


def documented_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the documented values of this response, by the names of Reply; empty for an unknown kind."""
    shape = shape_of(body)
    return {field: _value(path, body) for field, path in _paths().get(shape or "", {}).items()}


def differences(expected: Mapping[str, Any], reply: Reply) -> list[Difference]:
    """Return the fields that differ from `expected`. An answer without text may be empty or None."""
    found = []
    for name, value in expected.items():
        read = bool(reply.tool_calls) if name == "has_tool_calls" else getattr(reply, name)
        is_same = read == value or (name in ("answer", "reasoning_text") and read in _EMPTY and value in _EMPTY)
        if not is_same and not (isinstance(value, float) and isinstance(read, float) and abs(value - read) < 1e-12):
            found.append(Difference(name, value, read))
    return found


@cache
def _paths() -> dict[str, dict[str, str]]:
    paths: dict[str, dict[str, str]] = {}
    for row in csv_rows(_FILE):
        paths.setdefault(row["shape"], {})[row["field"]] = row["path"]
    return paths


def _value(path: str, body: Any) -> Any:
    for alternative in path.split(" | "):
        path, _, unit = alternative.partition(" / ")
        first, *others = path.split(" + ")
        if (value := _at(first, body)) is not None:
            value = value + sum(_at(other, body) or 0 for other in others) if others else value
            return value / float(unit) if unit else value
    return None


def _at(path: str, body: Any) -> Any:
    """Return the value at one path: a number, or a text; None if there is none."""
    values = [value for value in _items(path, [body]) if value is not None and not isinstance(value, Mapping | list)]
    if not values or not all(isinstance(value, str) for value in values):
        return values[0] if len(values) == 1 else None
    return "".join(values) or None


def _items(path: str, items: list[Any]) -> list[Any]:
    for step in _STEP.finditer(path):
        key, condition = step[1], step[2]
        if key is not None:
            items = [item.get(key) for item in items if isinstance(item, Mapping)]
        elif condition is not None:
            items = [piece for item in items if isinstance(item, list) for piece in _chosen(condition, item)]
    return items


def _chosen(condition: str, items: list[Any]) -> Iterator[Any]:
    if condition.isdigit():
        yield from items[int(condition) : int(condition) + 1]
        return
    tests = [
        (name.rstrip("!"), value, name.endswith("!"))
        for name, _, value in (t.partition("=") for t in condition.split(";"))
        if name
    ]
    for item in items:
        if isinstance(item, Mapping) and all(
            (str(item.get(name)).lower() == value) != negated for name, value, negated in tests
        ):
            yield item
