"""A server that writes bytes itself, to do what no HTTP library would: stop in the middle, lie, go on for ever.

The first time a model is asked a prompt it does what a fault says; from then on it answers as it should.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from tests.support.local_server import completion
from tests.support.server_thread import ServerThread

Act = Callable[[asyncio.StreamWriter], Awaitable[None]]


def http(body: bytes, status: str = "200 OK", length: int | None = None, **headers: str) -> bytes:
    """A response; `length` is what its Content-Length claims, where that is not the truth."""
    told = {"Content-Type": "application/json", "Content-Length": str(len(body) if length is None else length)}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in told.items()), "", ""]
    return "\r\n".join(lines).encode() + body


GOOD = http(json.dumps(completion()).encode())


class RawServer(ServerThread):
    """`asked` counts requests, `answered` those that were answered as they should, by model; `heads` holds their
    headers. `acts` is one for all models or one for each. A context manager, in a thread of its own."""

    def __init__(self, acts: Act | Mapping[str, Act] | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.heads: list[str] = []
        self._seen: set[tuple[str, str]] = set()
        self._acts, self._tls = acts, tls
        super().__init__()

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls, limit=2**20)
        scheme = "https" if self._tls else "http"
        self.base_url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stop.wait()
        server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            pass  # the other side has gone, as is its right, or the test is over
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Take one request and do something about it; False where the connection is not to be used again."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lengths = [line.split(":")[1] for line in head.splitlines() if line.lower().startswith("content-length")]
        body = json.loads(await reader.readexactly(int(lengths[0])))
        model, prompt = body["model"], body["messages"][-1]["content"]
        act = self._acts.get(model) if isinstance(self._acts, Mapping) else self._acts
        is_first = (model, prompt) not in self._seen
        self._seen.add((model, prompt))
        self.heads.append(head)
        self.asked[model] += 1
        if act is not None and is_first:
            await act(writer)
            return False
        writer.write(GOOD)
        await writer.drain()
        self.answered[model] += 1
        return True
