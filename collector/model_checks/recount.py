"""Count readable reasoning again (`collect recount`), after the run, so that no answer ever waits for a count.

The raw answers stay as they are. A recount is a line in a separate journal; loading it fills the two columns
`reasoning_tokens_recounted` and `recount_tokenizer`. The same command resumes where it stopped.
The server's own tokenizer counts if it has one, else tiktoken (an optional extra). A server's count should be of the
text, so special tokens around it are subtracted: the count of an empty text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from slant.collector.ask.call import run_anywhere
from slant.collector.ask.client import Client
from slant.collector.ask.retries import judge
from slant.collector.errors import SlantError, UsageError, check_known
from slant.collector.keep.database import fetched, reading
from slant.collector.keep.journal import SideJournal, utc_now
from slant.collector.keep.journal_loader import load_journals
from slant.collector.providers import checked_address, provider_named
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


PAGE = 2000
LOAD_EVERY = 10 * PAGE  # rows; filling columns scans all attempts, so it is done rarely
_REAL = "is_final AND source IN ('collected', 'imported')"
_TEXTS = f"{_REAL} AND reasoning_text <> '' AND reasoning_tokens_recounted IS NULL"
_READABLE = f"{_TEXTS} AND reasoning_kind IS DISTINCT FROM 'summary'"

OnRows = Callable[[int, int], None]


@dataclass(frozen=True)
class RecountReport:
    """Report one model's readable reasoning: how many texts there are, how many were counted, by which tokenizer."""

    provider: str
    requested_model: str
    texts: int
    counted: int
    tokenizer: str | None
    reason: str | None = None


def recount_reasoning(
    db: str | Path,
    models: Sequence[str] = (),
    *,
    tokenizer: str = SERVER,
    base_url: str | None = None,
    on_progress: OnRows = lambda done, all_of_them: None,
) -> list[RecountReport]:
    """Count what is readable and not counted yet, for `models` (PROVIDER/NAME or a study's ID; none: for all).

    `tokenizer` is "server" (the server's own, at `base_url` or at a provider's address on this machine) or
    "tiktoken:NAME". Raise UsageError for an unknown one, UnknownNameError for a model without such texts.
    """
    if tokenizer != SERVER and not tokenizer.startswith(TIKTOKEN):
        raise UsageError(f'There is no tokenizer "{tokenizer}".', f"It is {SERVER}, or {TIKTOKEN}o200k_base.")
    readable = _readable(Path(db), models)
    if not readable:
        return []
    if base_url is not None:
        checked_address(base_url, "--base-url")
    return run_anywhere(_recount(Path(db), readable, tokenizer, base_url, on_progress))


def summary_notes(db: str | Path, models: Sequence[str] = ()) -> list[str]:
    """Return a sentence for each model whose answers show only a summary: its length is not the reasoning's, and a
    count of it would be mistaken for that.
    """
    query = (
        f"SELECT provider, requested_model, model, count(*) FROM attempts WHERE {_TEXTS} "  # noqa: S608
        "AND reasoning_kind = 'summary' GROUP BY ALL ORDER BY ALL"
    )
    rows = fetched(Path(db), query)
    return [
        f"{provider}/{requested}: {n:,} texts are summaries that the provider wrote, which are not counted."
        for provider, requested, model, n in rows
        if not models or {f"{provider}/{requested}", model} & set(models)
    ]


def _readable(db: Path, models: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return (provider, requested model, number of texts) of what can be counted, once the journals are loaded."""
    load_journals(db)
    with reading(db) as connection:
        query = f"SELECT provider, requested_model, model, count(*) FROM attempts WHERE {_READABLE} GROUP BY ALL"  # noqa: S608
        rows = connection.execute(f"{query} ORDER BY ALL").fetchall()
    names = {name for provider, requested, model, _ in rows for name in (f"{provider}/{requested}", model)}
    for model in models:
        check_known("readable, uncounted reasoning of the model", model, names)
    sums: dict[tuple[str, str], int] = {}
    for provider, requested, model, texts in rows:
        if not models or {f"{provider}/{requested}", model} & set(models):
            sums[provider, requested] = sums.get((provider, requested), 0) + texts
    return [(provider, requested, texts) for (provider, requested), texts in sums.items()]


async def _recount(
    db: Path, readable: list[tuple[str, str, int]], tokenizer: str, base_url: str | None, on_rows: OnRows
) -> list[RecountReport]:
    results = []
    async with Client(AT_ONCE, 60.0) as client:
        with SideJournal(db, "recount") as journal:
            for provider, model, texts in readable:
                chosen, reason = await _tokenizer(client, tokenizer, base_url, provider, model)
                counted = 0
                if chosen is not None:
                    counted = await _count_all(db, journal, chosen, provider, model, texts, on_rows)
                    reason = None if counted == texts else f"{texts - counted:,} texts could not be counted"
                name = None if chosen is None else chosen.name
                results.append(RecountReport(provider, model, texts, counted, name, reason))
    load_journals(db)
    return results


async def _tokenizer(
    client: Client, tokenizer: str, base_url: str | None, provider: str, model: str
) -> tuple[Tokenizer | None, str | None]:
    if tokenizer != SERVER:
        return tiktoken_tokenizer(tokenizer), None
    tokenizer_of = provider_named(provider)
    address = base_url or tokenizer_of.address()
    hint = f"name a tokenizer: --tokenizer {TIKTOKEN}o200k_base"
    if address is None:
        return None, f"its server's address is not known: --base-url URL, or {hint}"
    if tokenizer_of.costs_money and base_url is None:
        return None, f"{provider} has no tokenizer that can be asked; {hint}"
    chosen = await server_tokenizer(client, address.rstrip("/"), model)
    return chosen, None if chosen else f"the server at {address} counts no tokens; {hint}"


async def _count_all(
    db: Path, journal: SideJournal, tokenizer: Tokenizer, provider: str, model: str, texts: int, on_rows: OnRows
) -> int:
    last, counted, not_loaded = -1, 0, 0
    while page := _page(db, provider, model, last):
        last = page[-1][0]
        numbers = await tokenizer.counts([text for _, _, text in page])
        rows = [(attempt_id, n) for (_, attempt_id, _), n in zip(page, numbers, strict=True) if n is not None]
        if rows:
            journal.append({"kind": "recounts", "tokenizer": tokenizer.name, "counted_at": utc_now(), "rows": rows})
        counted += len(rows)
        not_loaded += len(rows)
        on_rows(counted, texts)
        if not_loaded >= LOAD_EVERY:
            load_journals(db)
            not_loaded = 0
    return counted


def _page(db: Path, provider: str, model: str, last: int) -> list[tuple[int, str, str]]:
    condition = "provider = ? AND requested_model = ? AND rowid > ?"
    query = f"SELECT rowid, attempt_id, reasoning_text FROM attempts WHERE {condition} AND {_READABLE}"  # noqa: S608
    return fetched(db, f"{query} ORDER BY rowid LIMIT {PAGE}", [provider, model, last])
