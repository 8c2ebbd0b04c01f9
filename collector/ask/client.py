"""The one aiohttp session: one exchange at a time for each slot, with a time limit, and what a failure means.

`Client.exchange` never raises for anything a server or a network can do; it says what happened. What a failure
means (ask again, and when; give this trial up; stop this model) is decided by `judge`, which is pure.
"""

from __future__ import annotations

import asyncio
import codecs
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urlsplit

import aiohttp

from slant.collector.ask.prompt_too_long import is_too_long
from slant.collector.ask.rate_limits import LONGEST_WAIT_S, asked_wait_s, spoken
from slant.collector.keep.journal import Clock
from slant.collector.providers.exchange import Exchange, Request
from slant.collector.system.json_text import encoded

MAX_BODY_BYTES = 32_000_000
LONGEST_BACKOFF_S = 60.0
_FILTER_CODES = {"content_filter", "content_policy_violation", "invalid_prompt"}
_MONEY_CODES = {"insufficient_quota", "billing_hard_limit_reached", "credit_balance_too_low"}
_AGAIN = {408, 409, 425, 429}


def _json_escape(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no UTF-8 as JSON would spell them: one of them must not cost an answer that is paid for."""
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"\\u{byte:04x}" for byte in error.object[error.start : error.end]), error.end


codecs.register_error("slant.json_escape", _json_escape)


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do about an exchange: `read` it, ask `again` after `wait_s`, take it as `filtered`, let its trial `fail`,
    or `stop` the model.

    `pause_s` is how long the provider wants this key to be quiet; `body` is what there is to read.
    """

    action: Literal["read", "again", "filtered", "fail", "stop"]
    reason: str = ""
    wait_s: float = 0.0
    pause_s: float = 0.0
    body: Mapping[str, Any] = field(default_factory=dict)


class Client:
    """One session for one event loop. `slots` bounds the connections; the time limit starts when one is held."""

    def __init__(self, slots: int, time_limit_s: float) -> None:
        self.time_limit_s = time_limit_s
        self._proxies = urllib.request.getproxies()
        self._proxy = lru_cache(64)(self._proxy_for)  # the environment is searched once for each address
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=slots, limit_per_host=0, keepalive_timeout=30),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=30),
            trust_env=False,  # would read ~/.netrc and send passwords from there
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def exchange(self, request: Request, queued_at: str) -> Exchange:
        clock = Clock()
        sent_at = clock.now()
        data = encoded(request.body)
        seen: dict[str, Any] = {"sent": data.decode()}
        try:
            async with asyncio.timeout(self.time_limit_s):
                await self._post(request, data, seen, clock)
        except aiohttp.ConnectionTimeoutError as error:
            seen["error"] = f"no connection within 30 s: {error}"[:2000]
        except TimeoutError:
            seen["error"] = f"no whole answer within {self.time_limit_s:g} s"
        except aiohttp.ClientError as error:
            seen["error"] = f"{type(error).__name__}: {error}"[:2000]
            seen["was_dropped"] = isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError) and not (
                isinstance(error, aiohttp.ClientConnectorError)
            )
        except (OSError, ValueError) as error:
            seen["error"] = f"{type(error).__name__}: {error}"[:2000]
        return Exchange(queued_at=queued_at, sent_at=sent_at, done_at=clock.now(), **seen)

    def _proxy_for(self, url: str) -> str | None:
        """The proxy that the environment names for this address; never one for this machine's own servers."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        if host in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(host):
            return None
        return self._proxies.get(parts.scheme)

    async def _post(self, request: Request, sent: bytes, seen: dict[str, Any], clock: Clock) -> None:
        # a redirect would carry the key to a host it does not belong to
        async with self._session.post(
            request.url,
            data=sent,
            headers={"Content-Type": "application/json", "Accept-Encoding": "gzip, deflate", **request.headers},
            allow_redirects=False,
            proxy=self._proxy(request.url),
        ) as response:
            seen["first_byte_at"] = clock.now()
            seen["status"] = response.status
            seen["headers"] = {name.lower(): value for name, value in response.headers.items()}
            data = bytearray()
            async for chunk in response.content.iter_any():
                data += chunk
                if len(data) > MAX_BODY_BYTES:
                    raise ValueError(f"the body is longer than {MAX_BODY_BYTES // 1_000_000} MB")
            seen["body"] = data.decode("utf-8", "slant.json_escape").replace("\0", "\\u0000")


def backoff_s(try_no: int) -> float:
    """0.5, 1, 2 … 60 s, before jitter."""
    return float(min(LONGEST_BACKOFF_S, 0.5 * 2 ** min(try_no - 1, 10)))


def judge(exchange: Exchange, try_no: int) -> NextStep:
    """What an exchange means. `try_no` counts from 1; waits double from 0.5 s up to a minute, before jitter."""
    backoff = backoff_s(try_no)
    if exchange.error is not None:
        wait = 0.0 if exchange.was_dropped and try_no == 1 else backoff
        return NextStep("again", exchange.error, wait_s=wait)
    body = exchange.json()
    status = _true_status(exchange.status or 0, body)
    if status == 200:
        return NextStep("again", _unreadable(exchange), wait_s=backoff) if body is None else NextStep("read", body=body)
    code, sentence = _provider_error(body)
    reason = f"HTTP {status}{f': {sentence}' if sentence else ''}"
    if code in _FILTER_CODES:
        return NextStep("filtered", reason)
    if code in _MONEY_CODES:
        return NextStep("stop", reason)
    if is_too_long(status, code, sentence):
        return NextStep("fail", reason)
    if status in _AGAIN or status >= 500:
        requested_wait_s = asked_wait_s(exchange.headers, body)
        if requested_wait_s is not None and requested_wait_s > LONGEST_WAIT_S:
            return NextStep("stop", f"{reason}. {_too_long(requested_wait_s)}")
        return NextStep("again", reason, wait_s=max(backoff, requested_wait_s or 0.0), pause_s=requested_wait_s or 0.0)
    if 300 <= status < 400:
        return NextStep("stop", f"{reason} (a redirect, not followed: the key stays with its host)")
    if status == 404 and sentence in ("", "Not Found", "File Not Found"):  # a web server's words, not an API's
        reason += " (nothing answers at this address; most servers of your own want /v1 at the end of --base-url)"
    return NextStep("stop", reason)


def _unreadable(exchange: Exchange) -> str:
    if exchange.headers.get("content-type", "").startswith("text/event-stream"):
        return "a stream of events, which was not asked for"
    return "not a JSON object"


def _true_status(status: int, body: dict[str, Any] | None) -> int:
    """The status, or what a gateway hides behind a 200: an error object and nothing else."""
    if status != 200 or not body or not body.get("error"):
        return status
    if any(body.get(part) for part in ("choices", "content", "output", "candidates", "message")):
        return status
    code = body["error"].get("code") if isinstance(body["error"], dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 502


def _provider_error(body: dict[str, Any] | None) -> tuple[str, str]:
    """The provider's own error code and sentence, in whichever of the usual shapes they come."""
    body = body or {}
    # `detail`: what FastAPI says by itself, so many local servers do; older vLLM has its message at the top
    error = body.get("error") or body.get("detail") or body
    if isinstance(error, list):
        error = error[0] if error else None
    if isinstance(error, str):
        return "", _one_line(error)
    if not isinstance(error, dict):
        return "", ""
    code = next((c for c in (error.get("code"), error.get("type")) if isinstance(c, str)), "")
    return code, _one_line(error.get("message") or error.get("msg") or "")


def _one_line(said: object) -> str:
    """A sentence of a server's, without the line ends by which it could pass for several of slant's own."""
    return " ".join(str(said)[:2000].split())[:500]


def _too_long(asked_s: float) -> str:
    return f"It asks to wait {spoken(asked_s)}, and a run waits {spoken(LONGEST_WAIT_S)} at most: try again later"
