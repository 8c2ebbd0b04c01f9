"""A local server in a process of its own. Like a provider it parses each request, and it answers each with the first
option that the prompt offers (or one of the hiring game's groups), as a whole chat completion.

    python -m bench.server [LATENCY_S]

Prints its address, and ends when its standard input closes.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import threading
from typing import Any

import click
from aiohttp import web

_OPTIONS = re.compile(r"\[([^,\]]+), [^,\]]+\]")
_GROUPS = ("Tufa", "Aima", "Reku", "Weki")  # a round of the hiring game offers these
_USAGE = {
    "prompt_tokens": 328, "completion_tokens": 210, "total_tokens": 538,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 192, "accepted_prediction_tokens": 0},
}  # fmt: skip


def completion(number: int, model: str, answer: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer, "refusal": None, "annotations": []}
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


async def serve(latency_s: float) -> None:
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
    click.echo(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
    sys.stdout.flush()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(ended.set)), daemon=True).start()
    await ended.wait()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0))
