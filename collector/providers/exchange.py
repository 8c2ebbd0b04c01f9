"""What a dialect hands to the client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LARGEST_COUNT = 10**12  # a larger one is nonsense, and would not fit the column


@dataclass(frozen=True, slots=True)
class Request:
    """One POST. `headers` may hold the key and are never stored; `body` is stored as it was sent."""

    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


def count(mapping: Any, *path: str) -> int | None:
    """A token count deep inside a response; None where a part is missing or it is no whole number from 0 to 10¹²."""
    for name in path:
        mapping = mapping.get(name) if isinstance(mapping, dict) else None
    is_count = isinstance(mapping, int) and not isinstance(mapping, bool) and 0 <= mapping <= LARGEST_COUNT
    return mapping if is_count else None


def first_count(*counts: int | None) -> int | None:
    """The first count that is known; 0 is one."""
    return next((number for number in counts if number is not None), None)


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
