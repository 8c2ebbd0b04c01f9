"""A server that costs next to nothing: it answers every request with the same bytes, and parses none.

    python -m bench.canned

Prints its address, and ends when its standard input closes. What it leaves of two cores is for those who ask.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading

from bench.server import completion

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


def _answer() -> bytes:
    body = json.dumps(completion(1, "m", "Pleasant")).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Canned(asyncio.Protocol):
    def __init__(self, answer: bytes) -> None:
        self._answer, self._received = answer, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(self._received, 0, end)
            size = end + 4 + int(length[1] if length else 0)
            if len(self._received) < size:
                return
            self._received = self._received[size:]
            self._transport.write(self._answer)


async def serve() -> None:
    answer = _answer()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Canned(answer), "127.0.0.1", 0, backlog=1000)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1\n")
    sys.stdout.flush()
    over = asyncio.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(over.set)), daemon=True).start()
    await over.wait()


if __name__ == "__main__":
    asyncio.run(serve())
