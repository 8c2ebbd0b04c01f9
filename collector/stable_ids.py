"""Make ids that are hashes of what they name: the same on every machine and in every session."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from slant.collector.system.json_text import plain_values

_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def stable_id(*parts: Any) -> str:
    """Return a 16-byte hexadecimal hash of JSON-able parts; the same on every machine and in every session."""
    return hashlib.blake2b(_json(parts).encode(), digest_size=16).hexdigest()


def numbered_ids(*parts: Any) -> Callable[[int], str]:
    """Give `stable_id(*parts, number)` for any number."""
    start = _json(parts)[:-1]
    return lambda number: hashlib.blake2b(f"{start},{number}]".encode(), digest_size=16).hexdigest()


class StableIds:
    """Make stable ids that begin alike, each in a tenth of the time: `StableIds(*a).of(n, StableIds.end(*b))` is
    `stable_id(*a, n, *b)`, with at least one `a`."""

    def __init__(self, *parts: Any) -> None:
        start = _json(parts)[:-1]
        self._begun = lru_cache(4096)(lambda n: hashlib.blake2b(f"{start},{n}".encode(), digest_size=16))

    @staticmethod
    def end(*parts: Any) -> bytes:
        return b"," + (plain_values(parts) or _json(parts).encode())[1:]

    def of(self, number: int, end: bytes) -> str:
        hashed = self._begun(number).copy()
        hashed.update(end)
        return hashed.hexdigest()
