"""Serve a page on which one person codes the drawn texts of a coding study: one text at a time, by the keys 1 to 9.

The page shows the text and the codebook and nothing else: not the condition, the model, or what others have coded. Each
code is in the coder's file before the next text is shown, so that the command can be ended at any time.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiohttp import web
from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from slant.collector.designs.coding.codebook import SEVERAL
from slant.collector.designs.study import Study
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.system.shipped_files import sql_query
from slant.collector.view.notes_file import NotesFile
from slant.collector.view.pages import Pages, security_policy
from slant.collector.view.server import ServerLinks, Viewer

ADJUDICATOR = "adjudicator"
"""Name the coder who decides where others differ; those codes count alone."""
NO_CODE = "none"
_SCRIPT = PackageLoader("slant.collector.view").get_source(Environment(autoescape=True), "code.js")[0]
_HASH = f"'sha256-{base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()}'"


def texts_to_code(db: Path, study: Study, coder: str) -> list[str]:
    """Return the drawn texts that a coder is to read, in an order of this coder's own; of the adjudicator those on
    which people differ. UsageError if there is none."""
    query = sql_query("disputed_texts" if coder == ADJUDICATOR else "drawn_texts")
    with reading(db) as connection:
        drawn = {row[0] for row in connection.execute(query, {"study": study.name}).fetchall()}
    items = [item for item in study.data.texts if item in drawn]
    if not items and coder == ADJUDICATOR:
        raise UsageError(
            f'There is no text of "{study.name}" in {db} on which two people differ.',
            "Bring the codes of both in first: collect import",
        )
    if not items:
        raise UsageError(
            f'No text of "{study.name}" is drawn for people to code.',
            f"Draw some at random: collect sample --study {study.as_typed} --n 200 --db {db}",
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
        text = await asyncio.to_thread(self._rendered)
        return web.Response(body=text.encode("utf-8", "replace"), content_type="text/html", charset="utf-8")

    def _rendered(self) -> str:
        known = self._codes.read()
        left = [item for item in self._items if not known.get(item, {}).get("label")]
        n_done = len(self._items) - len(left)
        shown = self._coding_pages.coding(self._study, left[0]) if left else {}
        return self._coding_pages.code_page(
            n_done=n_done, n=len(self._items), coder=self._coder, can_undo=n_done > 0, **shown
        )

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
