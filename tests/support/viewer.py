"""The viewer as it runs: on a socket of its own, in a thread."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from slant.collector.view.notes_file import NotesFile
from slant.collector.view.server import HOST, Viewer, listening_socket, serve

TOKEN = "a-token-of-the-tests"
REQUEST = json.dumps({"messages": [{"role": "user", "content": 'Say "aster"\nor not.'}]})
CONDITIONS = ("compatible", "incompatible")


def a_pair(n: int, difference: int) -> list[dict[str, object]]:
    """Two trials of one word, of which the second takes so many tokens more."""
    return [
        {
            "trial_id": f"trial-{n}-{side}", "sequence": 2 * n + side, "condition": condition, "item": f"word-{n}",
            "tokens": 100 + side * difference, "reasoning_tokens": 100, "request": REQUEST, "source": "collected",
            "reasoning_text": f"I think of word-{n}.", "outcome": "refused" if n == 3 and side else "answered",
            "sent_at": "2026-01-01 00:00:00", "done_at": f"2026-01-0{1 + n % 9} 00:00:01", "model": "o3-mini",
        }
        for side, condition in enumerate(CONDITIONS)
    ]  # fmt: skip


RUN = {
    "run_id": "r1", "study": "rmiat", "study_version": "v1", "source": "collected", "variant": "base",
    "started_at": "2026-01-01", "models": [{"model": "o3-mini", "settings": '{"effort": "low"}'}],
    "tests": [{"test": "flowers_insects"}],
}  # fmt: skip


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: dict[str, str]
    body: bytes


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object, **__: object) -> None:
        return None


@dataclass(frozen=True)
class RunningViewer:
    """`root` is the address with the token; `port` that of the socket."""

    root: str
    port: int

    def get(self, place: str = "trials", **query: str) -> Answer:
        return self.ask(self.root + place + (f"?{urllib.parse.urlencode(query)}" if query else ""))

    def ask(self, address: str, data: dict[str, str] | None = None, **headers: str) -> Answer:
        body = None if data is None else urllib.parse.urlencode(data).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(address, body, named)
        try:
            response = urllib.request.build_opener(_NoRedirect).open(request, timeout=30)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            whole = response.read()
            return Answer(response.status, whole.decode("utf-8", "replace"), dict(response.headers), whole)


@contextmanager
def running_viewer(db: Path, notes: Path | None = None) -> Iterator[RunningViewer]:
    viewer = Viewer(db, NotesFile(notes) if notes else None, TOKEN)
    with running(viewer.application()) as server:
        yield server


@contextmanager
def running(application: web.Application) -> Iterator[RunningViewer]:
    listener = listening_socket(0)
    port = listener.getsockname()[1]
    ready, loop = threading.Event(), asyncio.new_event_loop()
    task = loop.create_task(serve(application, listener, ready.set))

    def run() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(20)
    try:
        yield RunningViewer(f"http://{HOST}:{port}/{TOKEN}/", port)
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(20)
