"""Send requests over one aiohttp session: one exchange at a time for each slot, with a time limit.

`Client.exchange` never raises for anything a server or a network can do; it says what happened. retries.py decides what
a failure means.
"""

from __future__ import annotations

import asyncio
import codecs
import re
import ssl
from base64 import b64encode
from functools import cache, lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp

from slant.collector.keep.journal import Clock
from slant.collector.providers.exchange import Exchange, Request
from slant.collector.system.json_text import encoded
from slant.collector.system.network import proxy_for, trusted

_PACKED = re.compile(r"content-encoding: (\w+)")
PACKINGS = ("gzip", "deflate")
MAX_BODY_BYTES = 32_000_000


def _json_escape(error: UnicodeError) -> tuple[str, int]:
    """Spell bytes that are not UTF-8 as JSON would: such a byte must not lose an answer that is paid for."""
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"\\u{byte:04x}" for byte in error.object[error.start : error.end]), error.end


codecs.register_error("slant.json_escape", _json_escape)


def _packed(packing: str) -> dict[str, Any]:
    """Return the error of a packed body: it came in an unrequested compression (brotli), or broken."""
    if packing.lower() in PACKINGS:
        return {"error": f"the body can't be unpacked ({packing})"}
    what = f"the body is compressed as {packing[:40]}, though only {' or '.join(PACKINGS)} was asked for"
    return {"error": f"{what}: the server, or a proxy before it, passes over Accept-Encoding", "is_packed": True}


def _proxy(url: str) -> tuple[str | None, dict[str, str]]:
    """Return the proxy for this address and, separately, the header with its password: errors name the address, and
    are kept.
    """
    if (named := proxy_for(url)) is None:
        return None, {}
    parts = urlsplit(named)
    if "@" not in parts.netloc:
        return named, {}
    password = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    header = {"Proxy-Authorization": f"Basic {b64encode(password.encode()).decode()}"}
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(), header


class Client:
    """Hold one session for one event loop. `slots` bounds the connections; the time limit starts when one is held."""

    def __init__(self, slots: int, time_limit_s: float) -> None:
        self.time_limit_s = time_limit_s
        self._proxy = lru_cache(64)(_proxy)  # the environment is searched once for each address
        self._trusted = cache(trusted)
        self._certificates = lru_cache(64)(self._certificates_for)
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

    def _certificates_for(self, url: str, proxy: str | None) -> ssl.SSLContext | bool:
        """Read certificates only if a connection is encrypted: they take a tenth of a second."""
        is_encrypted = "https" in (urlsplit(url).scheme, urlsplit(proxy or "").scheme)
        return self._trusted() if is_encrypted else True

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
            seen["error"] = f"no complete answer within {self.time_limit_s:g} s"
        except aiohttp.ClientError as error:
            seen["error"] = f"{type(error).__name__}: {error}"[:2000]
            if unpacking := _PACKED.search(str(error)):
                seen |= _packed((seen.get("headers") or {}).get("content-encoding") or unpacking.group(1))
            seen["was_dropped"] = isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError) and not (
                isinstance(error, aiohttp.ClientConnectorError)
            )
        except (OSError, ValueError) as error:
            seen["error"] = f"{type(error).__name__}: {error}"[:2000]
        return Exchange(queued_at=queued_at, sent_at=sent_at, done_at=clock.now(), **seen)

    async def _post(self, request: Request, sent: bytes, seen: dict[str, Any], clock: Clock) -> None:
        proxy, password = self._proxy(request.url)
        headers = {"Content-Type": "application/json", "Accept-Encoding": ", ".join(PACKINGS), **request.headers}
        if not request.url.startswith("https:"):
            headers |= password
        # a redirect would carry the key to a host it does not belong to
        async with self._session.post(
            request.url,
            data=sent,
            headers=headers,
            allow_redirects=False,
            proxy=proxy,
            proxy_headers=password or None,
            ssl=self._certificates(request.url, proxy),
        ) as response:
            seen["first_byte_at"] = clock.now()
            seen["status"] = response.status
            seen["headers"] = {name.lower(): value for name, value in response.headers.items()}
            data = bytearray()
            try:
                async for chunk in response.content.iter_any():
                    data += chunk
                    if len(data) > MAX_BODY_BYTES:
                        raise ValueError(f"the body is longer than {MAX_BODY_BYTES // 1_000_000} MB")
            except (aiohttp.ClientPayloadError, asyncio.CancelledError):
                if data.lstrip().startswith((b"data:", b"event:")):  # the counts in what came are charged
                    seen["body"] = data.decode("utf-8", "replace").replace("\0", "")
                raise
            packing = seen["headers"].get("content-encoding", "identity").lower()
            is_known = packing in ("identity", "br", "zstd", *PACKINGS)
            if not is_known and not data.lstrip().startswith(b"{"):  # a wrong label must not lose an answer
                seen |= _packed(packing)
                return
            seen["body"] = data.decode("utf-8", "slant.json_escape").replace("\0", "\\u0000")
