"""Serve the viewer to one person on this machine: who may ask, what is answered, and nothing else.

The page for coders is served in the same way: one person codes the drawn texts of a coding study, one text at a time.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import logging
import os
import random
import secrets
import socket
from collections.abc import Awaitable, Callable, Container, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from slant.collector.designs.coding.codebook import SEVERAL
from slant.collector.designs.study import Study
from slant.collector.errors import DatabaseBusyError, SlantError, UnknownNameError, UsageError, as_typed, check_known
from slant.collector.keep.database import fetched
from slant.collector.keep.export import write_rows
from slant.collector.keep.view_heads import known_view
from slant.collector.system.files import opened
from slant.collector.system.scratch import temporary_folder
from slant.collector.system.shipped_files import sql_query
from slant.collector.view.notes_file import NotesFile
from slant.collector.view.pages import ITEMS, LISTS, Pages, security_policy
from slant.collector.view.trial_filter import guarded

HOST = "127.0.0.1"
TOKEN_VARIABLE = "SLANT_VIEW_TOKEN"
LOCAL = ("127.0.0.1", "localhost")
_ENDINGS = {"csv": ("csv", False), "safe.csv": ("csv", True), "parquet": ("parquet", False)}
_DOWNLOAD_LIMIT_S = 600.0
HEADERS = {
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
    "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip
# aiohttp's log is off, too: a client's malformed HTTP, and a traceback of it, do not concern the reader.
_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def new_token() -> str:
    """Return an unguessable token; or that of the variable SLANT_VIEW_TOKEN, so that addresses last."""
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        return secrets.token_urlsafe(24)
    if len(token) < 16 or not token.replace("-", "").replace("_", "").isalnum() or not token.isascii():
        raise UsageError(
            f"{TOKEN_VARIABLE} must have 16 letters and digits or more: anyone who knows it can read along."
        )
    return token


def check_way_in(request: web.Request, token: str, command: str, hosts: Container[str | None] | None = LOCAL) -> None:
    """Raise HTTPForbidden for a request without the token, to another host than these (None: any), or for a change
    that another site's page sends."""
    host = (request.headers.get("Host") or "").rpartition(":")[0] or request.headers.get("Host")
    typed = request.path.partition("/")[2].partition("/")[0]
    is_known = hmac.compare_digest(typed.encode("utf-8", "replace"), token.encode())
    if not is_known or (hosts is not None and host not in hosts):
        raise web.HTTPForbidden(text=f"The address that `{command}` has printed is the only way in.\n")
    origin = request.headers.get("Origin")
    if request.method == "POST" and origin not in (None, "null", f"http://{request.headers['Host']}"):
        raise web.HTTPForbidden(text=f"This page is not of `{command}`.\n")


class ServerLinks:
    """Give this server's addresses, with the token."""

    def __init__(self, token: str) -> None:
        self._root = f"/{token}"

    def __call__(self, kind: str, key: str = "", query: Mapping[str, str] | None = None, fragment: str = "") -> str:
        place = f"{self._root}/{kind}" + (f"/{quote(key, safe='')}" if key else "")
        return place + (f"?{urlencode(query)}" if query else "") + fragment


class Viewer:
    """Run the application. A page is made in a thread, for DuckDB may take its time."""

    def __init__(self, db: Path, notes: NotesFile | None, token: str) -> None:
        self._token = token
        self._links = ServerLinks(token)
        self._pages = Pages(db, self._links, notes)
        self._notes = notes
        self._policy = security_policy(has_forms=True)

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self._guard], client_max_size=200_000)
        root = "/{token}"
        app.router.add_get(f"{root}/{{kind:{'|'.join(LISTS)}}}", self._page)
        app.router.add_get(f"{root}/{{kind:{'|'.join(ITEMS)}}}/{{key}}", self._page)
        app.router.add_get(f"{root}/", self._start)
        app.router.add_get(f"{root}/download/{{key}}", self._download)
        app.router.add_post(f"{root}/note/{{key}}", self._keep_note)
        app.router.add_post(f"{root}/search/{{key}}", self._steer_search)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Admit only requests to an address of this machine (another page could have its name point here) with the
        token, and changes only from one of our pages."""
        check_way_in(request, self._token, "collect view")
        try:
            response = await handler(request)
        except web.HTTPException as error:  # a redirection, an unknown address
            error.headers.update(HEADERS)
            raise
        except SlantError as error:
            statuses = {UnknownNameError: 404, UsageError: 400, DatabaseBusyError: 503}
            status = next((n for kind, n in statuses.items() if isinstance(error, kind)), 500)
            response = _html(self._pages.problem(error), status)
        except Exception as error:  # a defect of ours: the reader still sees a page, and the others can go on
            _log.debug("a page can't be made", exc_info=True)
            defect = SlantError(f"This page can't be made, which is a defect of slant's: {type(error).__name__}.")
            response = _html(self._pages.problem(defect), 500)
        if not response.prepared:
            response.headers.update(HEADERS)
            response.headers["Content-Security-Policy"] = f"{self._policy}; frame-ancestors 'none'"
        return response

    async def _start(self, request: web.Request) -> web.StreamResponse:
        raise web.HTTPFound(self._links("trials"))

    async def _page(self, request: web.Request) -> web.StreamResponse:
        kind, key = request.match_info["kind"], request.match_info.get("key", "")
        return _html(await asyncio.to_thread(self._pages.rendered, kind, key, dict(request.query)))

    async def _download(self, request: web.Request) -> web.StreamResponse:
        name, _, ending = request.match_info["key"].partition(".")
        check_known("format", ending, _ENDINGS)
        with temporary_folder("view") as folder:
            path = await asyncio.to_thread(self._written, name, ending, dict(request.query), folder)
            named = f'attachment; filename="{"trials" if name == "trials" else "table"}.{ending}"'
            response = web.StreamResponse(headers={**HEADERS, "Content-Disposition": named})
            response.content_type = "text/csv" if ending.endswith("csv") else "application/vnd.apache.parquet"
            response.content_length = path.stat().st_size
            await response.prepare(request)
            with opened(path) as file:
                while block := await asyncio.to_thread(file.read, 1 << 20):
                    await response.write(block)
            await response.write_eof()
        return response

    def _written(self, name: str, ending: str, query: dict[str, str], folder: Path) -> Path:
        file_format, is_safe = _ENDINGS[ending]
        path = folder / f"download.{file_format}"
        if name == "trials":
            with self._pages.chosen(query, folder, _DOWNLOAD_LIMIT_S) as trials:
                write_rows(trials, path, file_format, spreadsheet_safe=is_safe)
        else:
            with guarded(self._pages.db, _DOWNLOAD_LIMIT_S, folder) as connection:
                write_rows(known_view(connection, name), path, file_format, spreadsheet_safe=is_safe)
        return path

    async def _keep_note(self, request: web.Request) -> web.StreamResponse:
        if self._notes is None:
            raise UsageError("Notes need a file.", "Start with: collect view --notes notes.csv")
        try:
            form = await request.post()
        except (ValueError, LookupError, web.RequestPayloadError, HttpProcessingError) as error:  # not from a browser
            raise UsageError("The note can't be read as a form.") from error
        trial_id = request.match_info["key"]
        label, note = (str(form.get(name, "")) for name in ("label", "note"))
        await asyncio.to_thread(self._pages.check_trial, trial_id)
        await asyncio.to_thread(self._notes.keep, trial_id, label.strip(), note.strip().replace("\r\n", "\n"))
        raise web.HTTPSeeOther(self._links("trial", trial_id, dict(request.query), "#note"))

    async def _steer_search(self, request: web.Request) -> web.StreamResponse:
        search = self._pages.searches.of(request.query.get("text", "").strip())
        if request.match_info["key"] == "stop":
            search.stop()
        else:
            search.restart()
        raise web.HTTPSeeOther(self._links("trials", "", dict(request.query)))


def _html(text: str, status: int = 200) -> web.Response:
    return web.Response(body=text.encode("utf-8", "replace"), status=status, content_type="text/html", charset="utf-8")


def listening_socket(port: int, host: str = HOST) -> socket.socket:
    """Return a socket on this machine's own address, or another of its addresses; port 0 chooses a free one. UsageError
    if the port is taken, or the address is not this machine's."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        what, hint = f"Port {port}", "Leave --port out: a free one is taken."
        if host != HOST:
            what, hint = f"{host}, port {port}", "Name an address of this machine: --host ADDRESS"
        raise UsageError(f"{what} can't be used: {error.strerror or error}.", hint) from error
    return listener


async def serve(application: web.Application, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Answer until the task is cancelled. `ready` is called once the server answers."""
    runner = web.AppRunner(application, access_log=None, handle_signals=False, logger=_log)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        ready()
        await asyncio.Event().wait()
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await runner.cleanup()


ADJUDICATOR = "adjudicator"
"""Name the coder who decides where others differ; those codes count alone."""
NO_CODE = "none"
_SCRIPT = PackageLoader("slant.collector.view").get_source(Environment(autoescape=True), "code.js")[0]
_HASH = f"'sha256-{base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()}'"


def texts_to_code(db: Path, study: Study, coder: str) -> list[str]:
    """Return the drawn texts that a coder is to read, in an order of this coder's own; of the adjudicator those on
    which people differ. UsageError if there is none."""
    query = sql_query("disputed_texts" if coder == ADJUDICATOR else "drawn_texts")
    drawn = {row[0] for row in fetched(db, query, {"study": study.name})}
    items = [item for item in study.data.texts if item in drawn]
    if not items and coder == ADJUDICATOR:
        raise UsageError(
            f'There is no text of "{study.name}" in {db} on which two people differ.',
            "Bring the codes of both in first: collect import",
        )
    if not items:
        raise UsageError(
            f'No text of "{study.name}" is drawn for people to code.',
            f"Draw some at random: collect sample --study {study.as_typed} --n 200 --db {as_typed(db)}",
        )
    random.Random(f"{study.name} {coder}").shuffle(items)
    return items


class CodingViewer(Viewer):
    """Serve the page of one coder; there is no way from it to the trials."""

    def __init__(self, db: Path, study: Study, coder: str, codes: NotesFile, token: str) -> None:
        super().__init__(db, codes, token)
        self._codes, self._study, self._coder = codes, study, coder
        self._items = texts_to_code(db, study, coder)
        self._pages = self._coding_pages = _CodingPages(db, ServerLinks(token), codes)
        self._policy = security_policy(has_forms=True, script=_HASH)

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self._guard], client_max_size=200_000)
        app.router.add_get("/{token}/", self._next_text)
        app.router.add_post("/{token}/code/{key}", self._keep_code)
        app.router.add_post("/{token}/undo", self._undo)
        return app

    async def _next_text(self, request: web.Request) -> web.StreamResponse:
        return _html(await asyncio.to_thread(self._rendered))

    def _rendered(self) -> str:
        known = self._codes.read()
        left = [item for item in self._items if not known.get(item, {}).get("label")]
        n_done = len(self._items) - len(left)
        shown = self._coding_pages.coding(self._study, left[0]) if left else {}
        counts = {"n_done": n_done, "n": len(self._items), "can_undo": n_done > 0}
        return self._coding_pages.code_page(coder=self._coder, **counts, **shown)

    async def _keep_code(self, request: web.Request) -> web.StreamResponse:
        item = request.match_info["key"]
        form = await request.post()
        codes = [str(code) for code in form.getall("code", [])]
        names, is_many = self._study.data.codebook.names, self._study.data.codebook.kind == SEVERAL
        if item not in self._items or not set(codes) <= set(names) or (len(codes) != 1 and not is_many):
            raise UsageError(
                "This is no code of the codebook, or no text that was drawn.", "Go back, and choose again."
            )
        more = {"coder": self._coder, "text_hash": self._study.data.texts[item].mark}
        given = "; ".join(code for code in names if code in codes) or NO_CODE
        await asyncio.to_thread(self._codes.keep, item, given, str(form.get("note", "")).strip(), more)
        raise web.HTTPSeeOther(f"/{request.match_info['token']}/")

    async def _undo(self, request: web.Request) -> web.StreamResponse:
        """Take the last code back: its text is the next one again."""
        coded = [item for item, note in self._codes.read().items() if item in self._items and note["label"]]
        if coded:
            await asyncio.to_thread(self._codes.keep, coded[-1], "", "")
            self._items.remove(coded[-1])
            self._items.insert(0, coded[-1])
        raise web.HTTPSeeOther(f"/{request.match_info['token']}/")


class _CodingPages(Pages):
    def code_page(self, **content: Any) -> str:
        text = {"script": Markup(_SCRIPT), "script_hash": _HASH, "nav": {}}
        return self._page("code", **text, **content)

    def coding(self, study: Study, item: str) -> Mapping[str, Any]:
        """Return the view of a text for a coder: no more than a model sees."""
        data = study.data
        text, labels = data.texts[item], data.labels(item)
        known = {code.name: code for code in data.codebook.codes}
        order = data.codebook.order(study.seed, item)
        codes = [(name, labels[name], known.get(name)) for name in order]
        question = data.prompt.format(codes="\0", text="\0", **text.shown).split("\0")[0].strip()
        return {"item": item, "text": text.text, "codes": codes, "question": question,
                "is_many": data.codebook.kind == SEVERAL}  # fmt: skip
