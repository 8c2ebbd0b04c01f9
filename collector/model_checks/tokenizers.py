"""Count a reasoning text again: by the server's own tokenizer if it has one, else by tiktoken (an optional extra).

A server's count should be of the text, so special tokens around it are subtracted: the count of an empty text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from slant.collector.ask.client import Client
from slant.collector.ask.retries import judge
from slant.collector.errors import SlantError, UsageError
from slant.collector.keep.journal import utc_now
from slant.collector.providers.exchange import Request, count

AT_ONCE = 16
SERVER = "server"
TIKTOKEN = "tiktoken:"


class Tokenizer(Protocol):
    """Count texts. `name` is what the column `recount_tokenizer` says."""

    @property
    def name(self) -> str: ...

    async def counts(self, texts: Sequence[str]) -> list[int | None]: ...


@dataclass(frozen=True, slots=True)
class _Shape:
    """Describe how a server's software is asked to count a text, and where its answer holds the number."""

    software: str
    path: str
    body: Callable[[str, str], Mapping[str, Any]]
    number: Callable[[Mapping[str, Any]], int | None]


def _length(body: Mapping[str, Any]) -> int | None:
    tokens = body.get("tokens")
    return len(tokens) if isinstance(tokens, list) else None


_SHAPES = (
    _Shape("llama.cpp", "/tokenize", lambda model, text: {"content": text, "add_special": False}, _length),
    _Shape(
        "vllm", "/tokenize", lambda model, text: {"model": model, "prompt": text, "add_special_tokens": False},
        lambda body: count(body, "count"),
    ),
    _Shape(
        "llama-cpp-python", "/extras/tokenize/count", lambda model, text: {"input": text},
        lambda body: count(body, "count"),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServerTokenizer:
    """Count with the tokenizer of the server that runs the model: exact, if its text is what was generated."""

    client: Client
    root: str
    model: str
    shape: _Shape
    around: int

    @property
    def name(self) -> str:
        return f"{self.shape.software}:{self.model}"

    async def counts(self, texts: Sequence[str]) -> list[int | None]:
        slots = asyncio.Semaphore(AT_ONCE)  # a text's time limit starts when it is sent, not while it waits

        async def one(text: str) -> int | None:
            async with slots:
                return await _ask(self.client, self.root, self.shape, self.model, text)

        numbers = await asyncio.gather(*map(one, texts))
        return [None if number is None else max(0, number - self.around) for number in numbers]


async def server_tokenizer(client: Client, base_url: str, model: str) -> ServerTokenizer | None:
    """Return the tokenizer of the server at `base_url`, in any of its shapes; None if it has none. No key is sent: a
    key belongs to its provider's host, and a custom server is another.
    """
    root = base_url.removesuffix("/v1")
    for shape in _SHAPES:
        if (await _ask(client, root, shape, model, "Hm.") or 0) > 0:
            around = await _ask(client, root, shape, model, "")
            return ServerTokenizer(client, root, model, shape, around or 0)
    return None


async def _ask(client: Client, root: str, shape: _Shape, model: str, text: str) -> int | None:
    request = Request(f"{root}{shape.path}", {}, shape.body(model, text))
    for try_no in (1, 2, 3):
        exchange = await client.exchange(request, utc_now())
        what = judge(exchange, try_no)
        if what.action == "read":
            return shape.number(exchange.json() or {})
        if what.action != "again":
            return None
        await asyncio.sleep(what.wait_s)
    return None


@dataclass(frozen=True, slots=True)
class Tiktoken:
    """Count with a published vocabulary: its counts are comparable only with each other."""

    name: str
    encoding: Any

    async def counts(self, texts: Sequence[str]) -> list[int | None]:
        encoded = await asyncio.to_thread(self.encoding.encode_ordinary_batch, list(texts))
        return [len(tokens) for tokens in encoded]


def tiktoken_tokenizer(name: str) -> Tiktoken:
    """Return the tokenizer of this `name`, as in tiktoken:o200k_base; UsageError if tiktoken or its vocabulary is
    missing."""
    try:
        import tiktoken
    except ImportError:
        hint = "Type: pip install tiktoken (at first use it fetches its vocabulary from the net)"
        raise UsageError(f'Can\'t count with "{name}": tiktoken is not installed.', hint) from None
    try:
        return Tiktoken(name, tiktoken.get_encoding(name.removeprefix(TIKTOKEN)))
    except ValueError as error:
        known = f"It has: {', '.join(tiktoken.list_encoding_names())}."
        raise UsageError(f'Can\'t count with "{name}": tiktoken has no such vocabulary.', known) from error
    except Exception as error:  # its download may raise anything: it is not slant's connection
        reason = f"{type(error).__name__}: {error}"[:300]
        raise SlantError(f'Can\'t count with "{name}": its vocabulary could not be fetched.', reason) from error
