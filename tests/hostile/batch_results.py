"""Lines of a batch job's results that are none, among good ones: each costs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def good(custom_id: str, **response: Any) -> dict[str, Any]:
    body = {"id": "r", "model": "m", "choices": [{"message": {"content": "Calm"}, "finish_reason": "stop"}]}
    return {"custom_id": custom_id, "response": {"status_code": 200, "request_id": "r", "body": body} | response}


def line(record: Any) -> bytes:
    return json.dumps(record).encode() + b"\n"


BAD_LINES: dict[str, bytes] = {
    "bytes that are no text": b"\xff\xfe{\n",
    "half a line": line(good("x"))[:-40] + b"\n",
    "a list": b"[]\n",
    "a number": b"5\n",
    "nothing but a name": b'{"custom_id": "x"}{\n',
    "no name": line({"response": None}),
    "nested 100,000 deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n",
    "a number of 5,000 digits": b'{"custom_id": "x", "error": ' + b"9" * 5_000 + b"}\n",
    "a status of 31 digits": line(good("x", status_code=10**30)),
    "a status that is none": line(good("x", status_code=None)),
    "a status that is a list": line(good("x", status_code=[200])),
    "a status that is true": line(good("x", status_code=True)),
    "40 MB without an end": b"x" * 40_000_001 + b"\n",
}

ODD_LINES: dict[str, tuple[bytes, Callable[[Any], bool]]] = {
    "a status as text": (line(good("x", status_code="200")), lambda row: row.status == 200),
    "a request id that is a table": (line(good("x", request_id={"a": 1})), lambda row: row.request_id is None),
    "an error that is a number": (line({"custom_id": "x", "error": 5}), lambda row: row.error == "no response"),
}
"""Lines that are read all the same, and what is read."""
