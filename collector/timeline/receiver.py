"""Serve a timeline's page to people, and keep what each of them sends as a file of their own."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Container
from pathlib import Path

from aiohttp import web

from slant.collector.system.files import contents, regular_files
from slant.collector.system.json_text import json_or
from slant.collector.system.scratch import write_whole_file
from slant.collector.view.server import HEADERS, LOCAL, check_way_in

MAX_BYTES = 8_000_000
MAX_PEOPLE = 20_000


class Receiver:
    """Answer with the page, and write what people send into `folder`, one whole file a person; nothing is replaced.

    `on_person` gets the number of people so far. `hosts`: addresses by which the server may be asked; None: any.
    """

    def __init__(
        self,
        page: str,
        study: str,
        folder: Path,
        token: str,
        on_person: Callable[[int], None],
        hosts: Container[str | None] | None = LOCAL,
    ) -> None:
        self._page, self._study, self._folder, self._token = page.encode("utf-8"), study, folder, token
        self._on_person, self._hosts = on_person, hosts
        self._n_people = len(regular_files(folder, "*.json"))
        self._writing = asyncio.Lock()  # a browser that sends twice meets what it sent first

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self._guard], client_max_size=MAX_BYTES)
        app.router.add_get("/{token}/", self._show)
        app.router.add_post("/{token}/answers", self._keep)
        return app

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        check_way_in(request, self._token, "collect timeline --serve", self._hosts)
        response = await handler(request)
        response.headers.update(HEADERS)
        return response

    async def _show(self, request: web.Request) -> web.StreamResponse:
        return web.Response(body=self._page, content_type="text/html", charset="utf-8")

    async def _keep(self, request: web.Request) -> web.StreamResponse:
        sent = await request.read()
        participant = _participant(sent, self._study)
        if participant is None:
            raise web.HTTPBadRequest(text="These are no answers of this page.\n")
        if self._n_people >= MAX_PEOPLE:
            raise web.HTTPInsufficientStorage(text="No more answers are taken.\n")
        # what a stranger sends never names a file
        path = self._folder / f"{hashlib.sha256(participant.encode()).hexdigest()[:16]}.json"
        async with self._writing:
            if path.exists() and contents(path) != sent:
                raise web.HTTPConflict(text="Other answers of this person are here already.\n")
            if not path.exists():
                await asyncio.to_thread(write_whole_file, path, sent)
                self._n_people += 1
                self._on_person(self._n_people)
        return web.Response(text="kept\n")


def _participant(sent: bytes, study: str) -> str | None:
    """Return who sent these rows; None if they are no rows of one person's answers in this study."""
    rows = json_or(sent)
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return None
    people = {row.get("participant") if isinstance(row.get("participant"), str) else None for row in rows}
    participant = people.pop()
    is_one = not people and {str(row.get("study")) for row in rows} == {study}
    return participant if is_one and participant and len(participant) <= 100 else None
