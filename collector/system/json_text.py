"""Encode and decode JSON that passes through in large numbers: requests, responses, lines of the journal.

orjson takes a tenth of the time, but refuses what must not be lost here: half a surrogate pair, a number of more than
64 bits, a bare control character in an answer. What it refuses goes through the standard library instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_MAX_DIGITS = 4000  # Python does not turn more into a whole number


def _whole(digits: str) -> int | float:
    """Return a whole number or a float: an unneeded one must not lose the answer next
    to it.
    """
    return int(digits) if len(digits) <= _MAX_DIGITS else float(f"{digits[:1].strip('0123456789')}inf")


_decode = json.JSONDecoder(strict=False, parse_int=_whole).decode


def encoded(value: Any) -> bytes:
    """Return compact UTF-8. Lone surrogates, which no file can hold, become question marks."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return _encode(value).encode("utf-8", "replace")


def decoded(text: str) -> Any:
    """Return the value of a text; control characters inside strings are accepted. Raise ValueError or
    RecursionError.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        return _decode(text)


def json_or(text: str | bytes, otherwise: Any = None) -> Any:
    """Return the value of a JSON text of others; `otherwise` if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise


def json_object(text: Any) -> dict[str, Any]:
    """Return the JSON object in a text of others; an empty one if it is no text, or of anything else."""
    value = json_or(text) if isinstance(text, str) else None
    return value if isinstance(value, dict) else {}


def texts_sorted(rows: Sequence[Mapping[str, Any]]) -> bytes | None:
    """Return mappings of nothing but texts as the standard library writes them with sorted keys; None for all others,
    in which orjson would spell numbers differently.
    """
    if not all(type(value) is str for row in rows for value in row.values()):
        return None
    try:
        return orjson.dumps(rows, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return None


_PLAIN = {str, int}


def plain_values(values: Sequence[Any]) -> bytes | None:
    """Return texts and whole numbers as the standard library writes them; None for all others."""
    if not {*map(type, values)} <= _PLAIN:
        return None
    try:
        return orjson.dumps(values)
    except TypeError:
        return None
