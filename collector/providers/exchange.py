"""Hold what a dialect hands to the client, and what comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from slant.collector.providers.streams import assembled, of_list
from slant.collector.system.json_text import decoded

LARGEST_COUNT = 10**12  # a larger one is nonsense, and would not fit the column
LARGEST_AMOUNT = 1e6  # US dollars for one answer
_WHOLE = re.compile(r"([0-9]{1,13})(?:\.0+)?")
_AMOUNT = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,20})?(?:[eE]-?[0-9]{1,2})?")
_IDS_BY_RANK = ("x-request-id", "request-id", "apim-request-id", "x-ms-request-id")
_REQUEST_IDS = frozenset(_IDS_BY_RANK)
_UNREAD = object()


@dataclass(frozen=True, slots=True)
class Request:
    """Describe one POST. `headers` may hold the key and are never stored; `body` is stored as it was sent.

    Only what is new in a long conversation is stored, else a game of 40 rounds would be stored twenty times over:
    `n_earlier` items of body[`listed`] were sent before, in a prompt with the hash `earlier_hash`.
    """

    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    listed: str = "messages"
    n_earlier: int = 0
    earlier_hash: str | None = None

    @property
    def kept(self) -> Mapping[str, Any]:
        """Return the body as it is stored: `body` itself, or with "earlier" in place of what was sent before."""
        if not self.n_earlier:
            return self.body
        earlier = {"n": self.n_earlier, "hash": self.earlier_hash}
        return {**self.body, self.listed: self.body[self.listed][self.n_earlier :], "earlier": earlier}


@dataclass(slots=True)  # made for each request: freezing its fields would take four times as long as setting them
class Exchange:
    """Hold what one POST gave: a status and a body, or an error. `sent` is what was posted. Times are ISO 8601 in UTC.

    `is_packed`: the body came in a compression that was not requested, as every later one from there will.
    """

    queued_at: str | None = None
    sent_at: str | None = None
    first_byte_at: str | None = None
    done_at: str | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    error: str | None = None
    was_dropped: bool = False
    is_packed: bool = False
    sent: str | None = None
    _object: Any = field(default=_UNREAD, init=False, repr=False, compare=False)

    def json(self) -> dict[str, Any] | None:
        """Return the body as an object; None if it is none. Blank lines before it (keep-alives) and a byte order mark
        are skipped. It is read once.
        """
        if self._object is _UNREAD:
            self._object = self._decoded()
        found: dict[str, Any] | None = self._object
        return found

    def _decoded(self) -> dict[str, Any] | None:
        text = (self.body or "").lstrip("\ufeff").strip() or "null"
        try:
            value = decoded(text)
        except (ValueError, RecursionError):
            return assembled(text)
        if isinstance(value, list) and value and isinstance(value[0], dict) and value[0].get("error"):
            return value[0]  # Gemini, and gateways that stream, wrap an error in a list
        if isinstance(value, list):
            return of_list(value)
        return value if isinstance(value, dict) else None

    def plain_text(self) -> str:
        """Return the body of an error that is not JSON, or nothing if it is a web page."""
        text = (self.body or "").lstrip("\ufeff").strip()
        return "" if text.startswith("<") else text


def first_choice(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the choice of a chat completion that was asked for, if a server sends several and in any order."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    if len(choices) == 1:
        return choices[0] if isinstance(choices[0], dict) else None
    found = [choice for choice in choices if isinstance(choice, dict)]
    return next((choice for choice in found if choice.get("index") == 0), found[0] if found else None)


def at(value: Any, *path: str) -> Any:
    """Return the value at a place inside tables; None if a part of the path is missing."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def tables(value: Any) -> list[Mapping[str, Any]]:
    """Return the tables in a list; none if it is no list."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def count(mapping: Any, *path: str) -> int | None:
    """Return a token count deep inside a response; None if a part is missing or it is not a whole number from 0 to
    10¹².

    Some servers send whole numbers as 70.0 or "70": these are counts, too.
    """
    for name in path:
        mapping = mapping.get(name) if isinstance(mapping, dict) else None
    return whole(mapping)


def whole(value: Any) -> int | None:
    """Return a value as count() would, or None."""
    if value is None:  # first: of ten counts that are looked for, six are not there
        return None
    number = value if type(value) is int else _whole_number(value)
    return number if number is not None and 0 <= number <= LARGEST_COUNT else None


def wholes(values: Iterable[Any]) -> list[int | None]:
    """Return values as count() would, or None in the place of each that it would not give."""
    return [
        value if value is None or (type(value) is int and 0 <= value <= LARGEST_COUNT) else whole(value)
        for value in values
    ]


def _whole_number(value: Any) -> int | None:
    if isinstance(value, str):
        return int(match[1]) if (match := _WHOLE.fullmatch(value)) else None
    return int(value) if isinstance(value, float) and value.is_integer() else None


def amount(mapping: Any, *path: str) -> float | None:
    """Return an amount of money deep inside a response; None if a part is missing or it is not a finite number of at
    least 0.
    """
    value = at(mapping, *path)
    if isinstance(value, str):
        value = float(value) if _AMOUNT.fullmatch(value) else None
    is_amount = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LARGEST_AMOUNT
    return float(value) if is_amount else None


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def request_id(headers: Mapping[str, str], body: Mapping[str, Any] | None) -> str | None:
    """Return the provider's ID of one request, which its support asks for: answers and errors both have one."""
    if not _REQUEST_IDS.isdisjoint(headers):
        return next(headers[name] for name in _IDS_BY_RANK if name in headers)
    if body is None:
        return None
    return text(body.get("request_id")) or text(body.get("id")) or text(body.get("responseId"))
