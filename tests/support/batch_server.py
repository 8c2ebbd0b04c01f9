"""A real HTTP server on loopback that speaks the batch protocols of OpenAI and Anthropic, and does as a test tells it.

`fate` decides what becomes of each request (ok, errored, expired, canceled, missing; of OpenAI also broken: a response
that says it failed); `finish()` ends the jobs.
`gates` stop a request of a kind (upload, create, list, retrieve, content) until the test lets it go.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from tests.support.local_server import completion

KEY = "sk-test-0123456789abcdef"
Fate = Callable[[str, dict[str, Any]], str]


def message(answer: str = "Calm") -> dict[str, Any]:
    """What Anthropic's messages would say."""
    usage = {"input_tokens": 100, "output_tokens": 80, "output_tokens_details": {"thinking_tokens": 70}}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "stop_reason": "end_turn",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": answer}],
        "usage": usage,
    }


class Gate:
    """Where a request of one kind waits. `is_lost`: it is answered with nothing and has no effect."""

    def __init__(self, *, is_lost: bool = False, after_effect: bool = False) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        self.is_lost, self.after_effect = is_lost, after_effect


class BatchServer:
    """A context manager. `jobs` are those that were made, each a dict with `id`, `status`, `requests`, `metadata`."""

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.calls: Counter[str] = Counter()
        self.fate: Fate = lambda custom_id, body: "ok"
        self.answer: Callable[[dict[str, Any]], str] = lambda body: "Calm"
        self.gates: dict[str, Gate] = {}
        self.refusals: dict[str, tuple[int, str]] = {}
        self.error: dict[str, Any] = {"message": f"Bad parameter; your key is {KEY}"}  # of what errored
        self.finishes_at_once = False
        self.page_size = 2
        self.pause_s: Callable[[], float] = lambda: 0.0  # before and after what a request does
        self.redirect: str | None = None
        self.results_address: str | None = None
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._main()), daemon=True)

    def __enter__(self) -> BatchServer:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        for gate in self.gates.values():
            gate.opened.set()
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def environment(self) -> dict[str, str]:
        """What a user sets to be served here; no proxy stands between."""
        return {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{self.address}/v1",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.address,
        }

    def gate(self, kind: str, **how: bool) -> Gate:
        self.gates[kind] = Gate(**how)
        return self.gates[kind]

    def finish(self, status: str = "ended") -> None:
        """End every job that runs: results in no order, each as `fate` says."""
        for job in self.jobs:
            if not job["ended"]:
                self._end(job, status)

    def asked(self) -> list[str]:
        """The prompt of every request of every job, in the order of submission."""
        return [r["body"]["messages"][-1]["content"] for job in self.jobs for r in job["requests"]]

    def _end(self, job: dict[str, Any], status: str = "ended") -> None:
        job["ended"], job["status"] = time.time(), status
        rows = [(self.fate(r["custom_id"], r["body"]), r) for r in job["requests"]]
        random.Random(7).shuffle(rows)
        job["rows"] = [(fate, r) for fate, r in rows if fate != "missing" and status != "failed"]

    def _make(self, requests: list[dict[str, Any]], dialect: str, metadata: Any) -> dict[str, Any]:
        job = {
            "id": f"{'batch' if dialect == 'openai' else 'msgbatch'}_{len(self.jobs)}",
            "dialect": dialect,
            "requests": requests,
            "metadata": metadata,
            "created": time.time(),
            "ended": None,
            "status": "in_progress",
        }
        self.jobs.append(job)
        if self.finishes_at_once:
            self._end(job)
        return job

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=300_000_000)
        for method, path, kind, handler in [
            ("POST", "/v1/files", "upload", self._upload),
            ("GET", "/v1/files/{id}/content", "content", self._content),
            ("POST", "/v1/batches", "create", self._create_openai),
            ("GET", "/v1/batches", "list", self._list_openai),
            ("GET", "/v1/batches/{id}", "retrieve", self._retrieve),
            ("POST", "/v1/messages/batches", "create", self._create_anthropic),
            ("GET", "/v1/messages/batches", "list", self._list_anthropic),
            ("GET", "/v1/messages/batches/{id}", "retrieve", self._retrieve),
            ("GET", "/v1/messages/batches/{id}/results", "content", self._results),
        ]:
            app.router.add_route(method, path, self._gated(kind, handler))
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    def _gated(self, kind: str, handler: Callable[[web.Request], Any]) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            self.calls[kind] += 1
            key = request.headers.get("x-api-key") or request.headers.get("Authorization", "").removeprefix("Bearer ")
            if kind != "upload":  # a form is read by its handler
                await request.read()
            if key != KEY:
                return self._error(401, f"Incorrect API key provided: {key}")
            if self.redirect is not None:
                return web.Response(status=307, headers={"Location": self.redirect})
            if kind in self.refusals:
                return self._error(*self.refusals[kind])
            gate = self.gates.get(kind)
            await asyncio.sleep(self.pause_s())
            answer = await handler(request) if gate is None or gate.after_effect else None
            await asyncio.sleep(self.pause_s())
            if gate is not None:
                gate.reached.set()
                await asyncio.to_thread(gate.opened.wait, 60)
                if gate.is_lost and request.transport is not None:
                    request.transport.close()
                    return web.Response(status=503)
            # aiohttp cancels no handler whose client has gone: what a killed process had sent still takes effect
            return answer if answer is not None else await handler(request)

        return handle

    def _error(self, status: int, text: str) -> web.Response:
        body = {"type": "error", "error": {"type": "invalid_request_error", "code": "invalid", "message": text}}
        return web.json_response(body, status=status)

    def _found(self, request: web.Request) -> dict[str, Any]:
        for job in self.jobs:
            if job["id"] == request.match_info["id"]:
                return job
        text = json.dumps({"error": {"message": "no such batch"}})
        raise web.HTTPNotFound(text=text, content_type="application/json")

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        name = f"file_{len(self.files)}"
        self.files[name] = form["file"].file.read()  # type: ignore[union-attr]
        values = {"id": name, "object": "file", "bytes": len(self.files[name]), "created_at": int(time.time())}
        return web.json_response(values | {"filename": "x.jsonl", "purpose": "batch", "status": "processed"})

    async def _create_openai(self, request: web.Request) -> web.Response:
        body = await request.json()
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert {line["url"] for line in lines} == {body["endpoint"]}
        return web.json_response(self._openai(self._make(lines, "openai", body["metadata"])))

    async def _create_anthropic(self, request: web.Request) -> web.Response:
        lines = [{"custom_id": r["custom_id"], "body": r["params"]} for r in (await request.json())["requests"]]
        assert len({line["custom_id"] for line in lines}) == len(lines)
        return web.json_response(self._anthropic(self._make(lines, "anthropic", None)))

    async def _retrieve(self, request: web.Request) -> web.Response:
        job = self._found(request)
        return web.json_response(self._openai(job) if job["dialect"] == "openai" else self._anthropic(job))

    async def _list_openai(self, request: web.Request) -> web.Response:
        return self._page("openai", self._openai, request.query.get("after"))

    async def _list_anthropic(self, request: web.Request) -> web.Response:
        return self._page("anthropic", self._anthropic, request.query.get("after_id"))

    def _page(self, dialect: str, shape: Callable[[dict[str, Any]], Any], after: str | None) -> web.Response:
        newest_first = [job for job in reversed(self.jobs) if job["dialect"] == dialect]
        start = next((n + 1 for n, job in enumerate(newest_first) if job["id"] == after), 0)
        page = newest_first[start : start + self.page_size]
        has_more = start + self.page_size < len(newest_first)
        ends = {"first_id": page[0]["id"] if page else None, "last_id": page[-1]["id"] if page else None}
        return web.json_response({"object": "list", "data": [shape(j) for j in page], "has_more": has_more} | ends)

    def _openai(self, job: dict[str, Any]) -> dict[str, Any]:
        status = "completed" if job["status"] == "ended" else job["status"]
        fates = Counter(fate for fate, _ in job.get("rows", []))
        ended = {f"{status}_at": int(job["ended"])} if job["ended"] else {}
        files = {"output_file_id": f"out_{job['id']}", "error_file_id": f"err_{job['id']}"} if job["ended"] else {}
        counts = {"total": len(job["requests"]), "completed": fates["ok"] + fates["broken"], "failed": fates["errored"]}
        return (
            {
                "id": job["id"],
                "object": "batch",
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
                "input_file_id": "file_0",
                "status": status,
                "created_at": int(job["created"]),
                "metadata": job["metadata"],
                "request_counts": counts,
            }
            | ended
            | (files if status != "failed" else {})
            | {"errors": job.get("errors")}
        )

    def _anthropic(self, job: dict[str, Any]) -> dict[str, Any]:
        def moment(seconds: float | None) -> str | None:
            return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else None

        fates = Counter(fate for fate, _ in job.get("rows", []))
        counts = {name: fates[name] for name in ("errored", "canceled", "expired")} | {"succeeded": fates["ok"]}
        return {
            "id": job["id"],
            "type": "message_batch",
            "processing_status": "ended" if job["ended"] else job["status"],
            "request_counts": counts | {"processing": 0 if job["ended"] else len(job["requests"])},
            "created_at": moment(job["created"]),
            "expires_at": moment(job["created"] + 86400),
            "ended_at": moment(job["ended"]),
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.results_address or self.address}/v1/messages/batches/{job['id']}/results"
            if job["ended"]
            else None,
        }

    async def _content(self, request: web.Request) -> web.Response:
        kind, _, batch_id = request.match_info["id"].partition("_")
        job = next(job for job in self.jobs if job["id"] == batch_id)
        rows = [(fate, r) for fate, r in job["rows"] if (fate in ("ok", "broken")) == (kind == "out")]
        return web.Response(body=b"".join(_line(self._openai_row(fate, r)) for fate, r in rows))

    def _openai_row(self, fate: str, request: dict[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = {"id": "batch_req_1", "custom_id": request["custom_id"], "response": None, "error": None}
        if fate in ("ok", "broken"):
            body = completion(self.answer(request["body"]))
            if fate == "broken":  # for lack of the provider's own means, in a response that is otherwise whole
                body["choices"][0]["finish_reason"] = "insufficient_system_resource"
            return row | {"response": {"status_code": 200, "request_id": "req_1", "body": body}}
        if fate == "errored":
            body = {"error": {"code": "invalid_value", **self.error}}
            return row | {"response": {"status_code": 400, "request_id": "req_1", "body": body}}
        return row | {"error": {"code": f"batch_{fate}", "message": "This request could not be executed in time."}}

    async def _results(self, request: web.Request) -> web.Response:
        rows = self._found(request)["rows"]
        lines = [_line({"custom_id": r["custom_id"], "result": self._result(fate, r)}) for fate, r in rows]
        return web.Response(body=b"".join(lines), content_type="application/x-jsonl")

    def _result(self, fate: str, request: dict[str, Any]) -> dict[str, Any]:
        if fate == "ok":
            return {"type": "succeeded", "message": message(self.answer(request["body"]))}
        if fate == "errored":
            inner = {"type": "invalid_request_error", **self.error}
            return {"type": "errored", "error": {"type": "error", "error": inner}}
        return {"type": fate}


def _line(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode() + b"\n"
