"""Read a response as the provider documents it: field by field, by the paths in documented_fields.csv.

This second reading knows nothing of the dialects (collector/providers): if the two differ, either slant settles counts
that contradict each other, or a provider has changed what it sends. A path names keys by dots and items of a list by
[0], [] (all) or [key=value;key!=value]; texts of several items are joined. ` | ` separates alternatives, and the first
that exists counts; ` + ` separates terms of a sum, and the first has to exist; ` / ` comes before a unit.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from slant.collector.records import Reply

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
    """Return what the documentation says about this response, by the names of Reply; empty for an unknown kind."""
    shape = shape_of(body)
    return {field: _value(path, body) for field, path in _paths().get(shape or "", {}).items()}


def differences(expected: Mapping[str, Any], reply: Reply) -> list[Difference]:
    """Return the fields that differ from `expected`. An answer without text may be empty or None."""
    found = []
    for name, value in expected.items():
        read = _read(reply, name)
        is_same = read == value or (name in ("answer", "reasoning_text") and read in _EMPTY and value in _EMPTY)
        if not is_same and not (isinstance(value, float) and isinstance(read, float) and abs(value - read) < 1e-12):
            found.append(Difference(name, value, read))
    return found


def _read(reply: Reply, name: str) -> Any:
    return bool(reply.tool_calls) if name == "has_tool_calls" else getattr(reply, name)


@cache
def _paths() -> dict[str, dict[str, str]]:
    with _FILE.open(encoding="utf-8", newline="") as file:
        paths: dict[str, dict[str, str]] = {}
        for row in csv.DictReader(file):
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
