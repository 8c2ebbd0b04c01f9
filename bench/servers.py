"""Local servers in processes of their own.

    python -m bench.servers parsing LATENCY_S
    python -m bench.servers canned

The first parses each request, as a provider does, and answers each with the first option that the prompt offers (or one
of the hiring game's groups), as a whole chat completion. The second costs next to nothing: it answers every request
with the same bytes and parses none, so that what it leaves of two cores is for those who ask. Each prints its address,
and ends when its standard input closes.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import threading
from typing import Any

from aiohttp import web

_OPTIONS = re.compile(r"\[([^,\]]+), [^,\]]+\]")
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_GROUPS = ("Tufa", "Aima", "Reku", "Weki")  # a round of the hiring game offers these
_USAGE = {
    "prompt_tokens": 328, "completion_tokens": 210, "total_tokens": 538,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 192, "accepted_prediction_tokens": 0},
}  # fmt: skip


def completion(number: int, model: str, answer: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer, "refusal": None, "annotations": []}
    return {
        "id": f"chatcmpl-{number:024}",
        "object": "chat.completion",
        "created": 1763728800,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": _USAGE,
        "service_tier": "default",
        "system_fingerprint": "fp_ddf739c152",
    }


def headers(number: int) -> dict[str, str]:
    return {
        "x-request-id": f"req_{number:032x}",
        "openai-processing-ms": "812",
        "x-ratelimit-limit-requests": "1000000",
        "x-ratelimit-remaining-requests": "999999",
        "x-ratelimit-reset-requests": "6ms",
    }


async def parsing(latency_s: float) -> None:
    numbers = itertools.count(1)

    async def answer(request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        if latency_s:
            await asyncio.sleep(latency_s)
        offered = _OPTIONS.findall(body["messages"][-1]["content"])
        number = next(numbers)
        text = offered[-1] if offered else _GROUPS[number % 4]
        return web.json_response(completion(number, body["model"], text), headers=headers(number))

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    _say_address(runner.addresses[0][1])
    await _until_stdin_closes()
    await runner.cleanup()


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


async def canned() -> None:
    body = json.dumps(completion(1, "m", "Pleasant")).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    answer = head.encode() + body
    server = await asyncio.get_running_loop().create_server(lambda: Canned(answer), "127.0.0.1", 0, backlog=1000)
    _say_address(server.sockets[0].getsockname()[1])
    await _until_stdin_closes()


def _say_address(port: int) -> None:
    sys.stdout.write(f"http://127.0.0.1:{port}/v1\n")
    sys.stdout.flush()


async def _until_stdin_closes() -> None:
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    threading.Thread(target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(ended.set)), daemon=True).start()
    await ended.wait()


if __name__ == "__main__":
    asyncio.run(canned() if sys.argv[1] == "canned" else parsing(float(sys.argv[2])))
