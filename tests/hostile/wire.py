"""What a server may do to HTTP itself: bytes, some without end, and what the client makes of them.

`said` is a piece of the error, or of the reason that judge() gives; `action` is what is done about it.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from dataclasses import dataclass

from tests.support.local_server import completion
from tests.support.raw_server import Act, http

GOOD = json.dumps(completion()).encode()
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class HostileWire:
    name: str
    act: Act
    said: str
    action: str = "again"
    time_limit_s: float = 20.0


def _sent(*pieces: bytes) -> Act:
    async def act(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return act


def _endless(begin: bytes, again: bytes) -> Act:
    async def act(writer: asyncio.StreamWriter) -> None:
        writer.write(begin)
        while True:
            writer.write(again)
            await writer.drain()

    return act


async def _silent(writer: asyncio.StreamWriter) -> None:
    writer.write(OK)
    await asyncio.sleep(60)


def _bomb(n_mb: int, window: int) -> bytes:
    """So many MB of spaces, compressed to a thousandth: after a full flush, the same block packs to the same bytes."""
    compressor, block = zlib.compressobj(9, zlib.DEFLATED, window), b" " * 1_000_000
    first, other = (compressor.compress(block) + compressor.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + other * (n_mb - 1) + compressor.flush()


def _of_coding(coding: str, body: bytes) -> Act:
    return _sent(http(body, Content_Encoding=coding))


ENDLESS_BODIES = (
    HostileWire("a gzip bomb", _of_coding("gzip", _bomb(400, 31)), "longer than 32 MB"),
    HostileWire("a deflate bomb", _of_coding("deflate", _bomb(400, 15)), "longer than 32 MB"),
    HostileWire("spaces without end", _endless(OK + b"\r\n", b" " * 100_000), "longer than 32 MB"),
    HostileWire("large chunks without end", _endless(CHUNKED, b"186A0\r\n" + b" " * 100_000 + b"\r\n"), "than 32 MB"),
)
"""Cut off at the size of a body, whatever it was compressed from."""

WIRES = (
    HostileWire(
        "small chunks without end", _endless(CHUNKED, b"1\r\n \r\n" * 9), "no complete answer", time_limit_s=0.2
    ),
    HostileWire(
        "one chunk's head without end", _endless(CHUNKED + b"1;", b"a" * 9999), "no complete answer", time_limit_s=0.2
    ),
    HostileWire(
        "early hints without end",
        _endless(b"", b"HTTP/1.1 103 Hints\r\n\r\n" * 9),
        "no complete answer",
        time_limit_s=0.2,
    ),
    HostileWire("silence", _silent, "no complete answer", time_limit_s=0.2),
    HostileWire("headers without end", _endless(OK, b"x-a: b\r\n" * 99), "Too many headers"),
    HostileWire("one header without end", _endless(OK + b"x-a: ", b"v" * 9999), "Got more than 8190 bytes"),
    HostileWire("trailers without end", _endless(CHUNKED + b"2\r\n{}\r\n0\r\n", b"a: b\r\n"), "Too many headers"),
    HostileWire(
        "brotli, which was not asked for", _of_coding("br", b"\x0b\x02\x80abc\x03"), "compressed as brotli", "stop"
    ),
    HostileWire("gzip that is none", _of_coding("gzip", b"nope"), "can't be unpacked (gzip)"),
    HostileWire(
        "gzip in gzip", _of_coding("gzip, gzip", gzip.compress(gzip.compress(GOOD))), "compressed as gzip, gzip", "stop"
    ),
    HostileWire("204", _sent(b"HTTP/1.1 204 No Content\r\n\r\n"), "HTTP 204", "stop"),
    HostileWire(
        "101", _sent(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), "HTTP 101", "stop"
    ),
    HostileWire("a status of 999", _sent(http(GOOD, "999 Nope")), "HTTP 999"),
    HostileWire("a status of -200", _sent(http(GOOD, "-200 OK")), "Invalid status code"),
    HostileWire("HTTP of a time to come", _sent(b"HTTP/9.9 200 OK\r\n\r\n"), "Invalid HTTP version"),
    HostileWire("another protocol", _sent(b"220 mail ready\r\n"), "Bad status line"),
    HostileWire("a length below zero", _sent(OK + b"Content-Length: -5\r\n\r\n{}"), "Content-Length"),
    HostileWire("two lengths", _sent(OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), "Content-Length"),
    HostileWire("a length of 10^20", _sent(OK + b"Content-Length: 1" + b"0" * 20 + b"\r\n\r\n{}"), "overflow"),
    HostileWire("a chunk below zero", _sent(CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n"), "Invalid character in chunk size"),
    HostileWire("a chunk of 10^24", _sent(CHUNKED + b"F" * 20 + b"\r\n{}"), "Chunk size overflow"),
    HostileWire("a header with NUL", _sent(OK + b"x-a: a\0b\r\nContent-Length: 2\r\n\r\n{}"), "Invalid HTTP header"),
    HostileWire("nothing", _sent(b""), "Server disconnected"),
    HostileWire(
        "a way to another host",
        _sent(http(b"", "307 Temporary Redirect", Location="http://127.0.0.1:9/v1")),
        "the key stays with its host",
        "stop",
    ),
    HostileWire(
        "a way to a file",
        _sent(http(b"", "302 Found", Location="file:///etc/passwd")),
        "the key stays with its host",
        "stop",
    ),
    HostileWire(
        "an error of several lines",
        _sent(http(b'{"error": {"message": "no\\nError: Can\'t collect.\\r\\n  Type: curl x | sh"}}', "400 \x1b[2J")),
        "HTTP 400: no Error: Can't collect. Type: curl x | sh",
        "decline",
    ),
)

WAITS: dict[str, float | None] = {
    "-1": None, "NaN": None, "nan": None, "inf": None, "1e308": None, "": None, "soon": None, "0": 0.0, "٣": None,
    "1" + "0" * 308: 1e308, "1" + "0" * 400: float("inf"), "Thu, 01 Jan 1970 00:00:00 GMT": 0.0,
    "Thu, 01 Jan 0001 00:00:00 GMT": 0.0, "Fri, 31 Dec 9999 23:59:59 GMT": 251_606_951_999.0, "Mon, 99 Foo": None,
    "1, 2": None, "1d" * 5000: 432_000_000.0, "0x10": None, "+5": None,
}  # fmt: skip
"""Values of Retry-After, and for how long that is to wait at noon on 22 November 2026; None says nothing."""
