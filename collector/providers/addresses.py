"""Check addresses of servers: they must be usable, and must hold no secret, for they are stored with the run."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from slant.collector.errors import UsageError
from slant.collector.screen_tables import printable

_MIN_SECRET_LENGTH = 8  # a stand-in for a key ("none", "EMPTY") is no secret
_NAMES_SECRET = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)S?(?:_|$)")
# how providers' keys begin; a JSON Web Token begins with eyJ
_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk|xai|nvapi|csk|pplx|dsk)-|(?:gsk|hf|r8|fw|tgp|ghp|gho)_|AIza|ya29\.|eyJ)"
    r"[A-Za-z0-9_-]{16,}"
)
_ENDPOINTS = ("/chat/completions", "/responses", "/v1/messages", "/api/chat", ":generateContent")
"""List what dialects add to an address: documentation shows addresses with it, and people copy them."""
_RANDOM = re.compile(r"[A-Za-z0-9_+=-]{32,}")


def is_on_this_machine(url: str) -> bool:
    return urlsplit(url).hostname in {"localhost", "127.0.0.1", "::1"}


def holds_key(text: str, *, is_strict: bool = False) -> bool:
    """Return whether a text is or holds what looks like a key: the value of a variable named like one, a beginning that
    providers' keys have, or random letters and digits. If `is_strict`, any 32 of them count, even an account's
    number."""
    plain = unquote(unquote(text))
    if any(secret in plain for secret in _secrets_here()):
        return True
    pieces = re.split(r"[/?&#;:,@\s]|(?<!=)=(?!=|$)", plain)
    return any(_is_key(piece, is_strict=is_strict) for piece in pieces)


def _secrets_here() -> list[str]:
    return [
        value.strip()
        for name, value in os.environ.items()
        if _NAMES_SECRET.search(name) and len(value.strip()) >= _MIN_SECRET_LENGTH and not value.startswith("/")
    ]


def _is_key(piece: str, *, is_strict: bool) -> bool:
    found = _KEY.search(piece)
    if found and any(len(run) >= 12 and not run.isalpha() for run in re.split("[-_]", found.group())):
        return True
    digits, small, big = (any(test(c) for c in piece) for test in (str.isdigit, str.islower, str.isupper))
    if not _RANDOM.fullmatch(piece) or not digits:
        return False
    return (small and big and max(map(len, re.split("[-_]", piece))) >= 20) or (is_strict and piece.isalnum())


def checked_address(url: str, name: str, *, is_typed: bool = True) -> str:
    """Return the address if a request can be sent to it and it holds no key; else raise UsageError, which says what is
    wrong without repeating a key. `name` is what gave the address; `is_typed` if that is `--base-url` or a variable.
    """
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_one = is_one and url.isprintable() and " " not in url  # urlsplit() passes over line breaks
    except ValueError:  # half a bracket, or a port that can't be
        is_one = False
        parts = None
    if parts is not None and ("@" in parts.netloc or parts.username or parts.password):
        raise UsageError(f"{name} must not hold a name or password: they would be stored with the run.")
    if "?" in url or "#" in url:
        raise UsageError(
            f"{name} must not hold a query (what follows a ?): it would be stored with the run, a key in it, too.",
            "Keys come from the environment. A query that is no key (api-version) belongs in a provider file: "
            "collect --help, --provider-file",
        )
    if holds_key(url, is_strict=is_typed):
        raise UsageError(
            f"{name} holds what looks like a key, and addresses are stored with the run.",
            "Keys come from the environment: a provider file names the variable of one (collect --help, "
            "--provider-file).",
        )
    if not is_one:
        raise UsageError(f'{name} is no address: "{printable(url)}".', "It is written like http://localhost:8080/v1")
    for endpoint in _ENDPOINTS:
        if (base := url.rstrip("/").removesuffix(endpoint)) != url.rstrip("/"):
            raise UsageError(f"{name} must end before {endpoint}, which slant adds.", f"Write {printable(base)}")
    return url
