"""A real HTTP server on loopback that does what a test tells it: answers, fails, hangs, resets. In its own thread."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest
from aiohttp import web

from slant.collector.providers import provider_named
from tests.support.server_thread import ServerThread

Handler = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]

SNAPSHOTS = {"o3-mini": "o3-mini-2025-01-31"}
requested_model = ContextVar("requested_model", default="o3-mini")


def completion(answer: str = "Calm", **usage: Any) -> dict[str, Any]:
    """What OpenAI's chat completions would say; inside a handler of LocalServer, with the model that was asked for."""
    model = requested_model.get()
    generated = usage.get("completion_tokens", 74)
    reasoning = min(64, generated) if isinstance(generated, int) else 64
    counts = {
        "prompt_tokens": 100,
        "completion_tokens": 74,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    return {
        "id": "chatcmpl-1",
        "model": SNAPSHOTS.get(model, model),
        "system_fingerprint": "fp_1",
        "choices": [{"message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}],
        "usage": counts | usage,
    }


async def answers(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return web.json_response(completion())


def error(status: int, code: str = "", message: str = "", **headers: str) -> web.Response:
    return web.json_response({"error": {"code": code, "message": message}}, status=status, headers=headers)


@contextmanager
def standing_for(provider: str, server: LocalServer) -> Iterator[str | None]:
    """The `base_url` that leads to the server; a provider with a key is moved by its variable, and takes none."""
    known = provider_named(provider)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(known.address_variable, server.base_url)
        yield None if known.key_variable else server.base_url


class LocalServer(ServerThread):
    """`handler(request, body)` answers each POST; `bodies` holds what was asked, in order. A context manager."""

    def __init__(self, handler: Handler = answers) -> None:
        self.handler = handler
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        super().__init__()

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.bodies]

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application()
        app.router.add_post("/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        if isinstance(body, dict) and isinstance(body.get("model"), str):
            requested_model.set(body["model"])
        return await self.handler(request, body)
