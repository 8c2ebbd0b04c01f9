"""What can go wrong between a run and a provider, one by one, and what is to come of it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from tests.support.local_server import completion
from tests.support.raw_server import Act, http


@dataclass(frozen=True)
class Fault:
    """`tries`: requests that a trial takes. `outcome`: what becomes of it. `limit_s`: time for one answer."""

    act: Act
    tries: int = 2
    outcome: str = "answered"
    limit_s: float = 20.0


def says(data: bytes) -> Act:
    async def act(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return act


def gives(value: Any) -> bytes:
    return http(json.dumps(value).encode())


def answer(text: str) -> bytes:
    """A completion with this in the place of the answer, written by hand: no encoder would."""
    return http(json.dumps(completion("ANSWER")).encode().replace(b"ANSWER", text.encode("latin-1")))


async def reset(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def reset_after_headers(writer: asyncio.StreamWriter) -> None:
    writer.write(http(b"", length=1000))
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.transport.abort()


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        await writer.drain()


async def dripping(writer: asyncio.StreamWriter) -> None:
    writer.write(http(b"{", length=100_000))
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.1)


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


async def slow_to_begin(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(5)
    writer.write(http(json.dumps(completion()).encode()))
    await writer.drain()


async def keep_alives(writer: asyncio.StreamWriter) -> None:
    """What DeepSeek sends while an answer is waiting for its turn."""
    body = json.dumps(completion()).encode()
    writer.write(http(b"", length=len(body) + 6))
    for _ in range(3):
        writer.write(b"\n\n")
        await writer.drain()
        await asyncio.sleep(0.05)
    writer.write(body)
    await writer.drain()


async def hundred_megabytes(writer: asyncio.StreamWriter) -> None:
    writer.write(http(b'{"text": "', length=100_000_000))
    for _ in range(100):
        writer.write(b"x" * 1_000_000)
        await writer.drain()


FAULTS = {
    "reset before the headers": Fault(reset),
    "reset after the headers": Fault(reset_after_headers),
    "half a body": Fault(says(http(b'{"choices": [', length=1000))),
    "a body that never ends, fast": Fault(endless),
    "a body that never ends, slow": Fault(dripping, limit_s=1.0),
    "silence": Fault(silence, limit_s=1.0),
    "5 s of silence, then the answer": Fault(slow_to_begin, tries=1),
    "blank lines that keep the connection alive, then the answer": Fault(keep_alives, tries=1),
    "a body of 100 MB": Fault(hundred_megabytes),
    "wrong content type, right body": Fault(
        says(http(json.dumps(completion()).encode(), Content_Type="text/html")), tries=1
    ),
    "a page instead of an answer": Fault(says(http(b"<html>Sign in</html>", Content_Type="text/html"))),
    "invalid JSON": Fault(says(http(b'{"choices": [}'))),
    "JSON, but a list": Fault(says(gives([1, 2]))),
    "JSON nested too deeply": Fault(says(http(b"[" * 100_000))),
    "a number of five thousand digits": Fault(says(http(b'{"choices": ' + b"9" * 5000 + b"}"))),
    "JSON of another shape": Fault(says(gives({"result": {"text": "Calm"}}))),
    "empty choices": Fault(says(gives(completion() | {"choices": []}))),
    "choices that are no list": Fault(says(gives(completion() | {"choices": {"0": "Calm"}}))),
    "invalid UTF-8": Fault(says(answer("Calm \xff\xfe")), 1, "malformed"),  # kept as the letters \xff\xfe
    "NUL characters": Fault(says(answer("Ca\\u0000lm")), tries=1),
    "a NUL byte": Fault(says(answer("Ca\x00lm")), tries=1),
    "lone surrogates": Fault(says(answer("Calm \\ud800")), tries=1),
    "an empty answer": Fault(says(answer("")), tries=1, outcome="malformed"),
    "HTTP 500": Fault(says(http(b"oops", "500 Internal Server Error"))),
    "HTTP 503": Fault(says(http(b"", "503 Service Unavailable"))),
    "HTTP 529": Fault(says(http(b'{"error": {"type": "overloaded_error"}}', "529 Overloaded"))),
    "HTTP 429, wait 0.2 s": Fault(says(http(b"{}", "429 Too Many Requests", retry_after_ms="200"))),
    "HTTP 429 without a wait": Fault(says(http(b"{}", "429 Too Many Requests"))),
    "no HTTP at all": Fault(says(b"\x15\x03\x01\x00\x02\x02\x28")),
    "a header line of 100 kB": Fault(says(http(b"{}", x_long="y" * 100_000))),
}
