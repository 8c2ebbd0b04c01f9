"""Find how this machine reaches a server: the proxy and the certificates that the environment names. They are checked
before anything is sent: a mistake in them is then one sentence, and not the failure of ten thousand requests."""

from __future__ import annotations

import os
import ssl
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from slant.collector.errors import UsageError

HERE = ("localhost", "127.0.0.1", "::1")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for this address (HTTPS_PROXY, HTTP_PROXY, else ALL_PROXY), None
    without one; never one for this machine's own servers, or for hosts in NO_PROXY. UsageError if it can't be one.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in HERE or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    kind = parts.scheme if proxies.get(parts.scheme) else "all"
    proxy = proxies.get(kind)
    return _checked_proxy(proxy, f"{kind.upper()}_PROXY") if proxy else None


def _checked_proxy(proxy: str, variable: str) -> str:
    scheme, has_scheme, rest = proxy.partition("://")
    if not has_scheme:
        raise UsageError(
            f"{variable} names a proxy without a scheme. It is written like {variable}=http://HOST:PORT",
        )
    if scheme not in ("http", "https"):
        raise UsageError(
            f"{variable} names a proxy of the kind {scheme[:20]}, and slant goes through http:// and https:// only. "
            f"For this one host without it: NO_PROXY=HOST",
        )
    try:
        is_one = bool(urlsplit(proxy).hostname) and urlsplit(proxy).port != 0
    except ValueError:
        is_one = False
    if not is_one or not rest:
        raise UsageError(f"{variable} names no proxy that can be asked. It is written like {variable}=http://HOST:PORT")
    return proxy


def trusted() -> ssl.SSLContext | bool:
    """Return the certificates to trust: those that the environment names now (aiohttp reads it once, on import), else
    True, the system's own."""
    return ssl.create_default_context() if any(map(os.environ.get, CERTIFICATES)) else True


def check_route(url: str) -> None:
    """Raise UsageError if no request can go out to this address: the proxy is not one, the certificates are missing."""
    proxy_for(url)
    if urlsplit(url).scheme != "https":
        return
    for variable in CERTIFICATES:
        named = os.environ.get(variable)
        if not named:
            continue
        place = Path(named)
        if not (place.is_file() if variable == "SSL_CERT_FILE" else place.is_dir()):
            raise UsageError(
                f"{variable} names certificates that are not there: {named}. Without it the system's own are used."
            )
        if variable == "SSL_CERT_FILE":
            try:
                ssl.create_default_context(cafile=str(place))
            except (ssl.SSLError, OSError) as error:
                reason = getattr(error, "reason", None) or error.strerror or "no certificate"
                why = f"SSL_CERT_FILE names a file that can't be read as certificates: {place} ({reason})."
                raise UsageError(why) from None
