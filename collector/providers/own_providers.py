"""Read custom providers, as data: any service that speaks a known dialect, without a package.

    [[providers]]
    name = "lab"                                # what is typed before the slash, and what is recorded
    dialect = "chat-completions"                # or the name of a provider whose dialect it speaks: anthropic …
    address = "https://llm.example.org/v1"      # https, or a server on this machine
    key_variable = "LAB_API_KEY"                # the NAME of the variable; left out: no key is sent
    key_header = "api-key"                      # left out: as in the dialect
    headers = { "x-team" = "psychology" }       # sent with every request
    query = { "api-version" = "2024-10-21" }    # the same, but in the address
    costs_money = true                          # left out: true if it takes a key
    good_endings = ["done"]                     # finish reasons of a complete answer, besides the dialect's

    [[prices]]                                  # like the rows of prices.toml
    provider = "lab"

The file is --provider-file, else SLANT_PROVIDERS, else ~/.config/slant/providers.toml. A study file can't name one: a
key goes only to where its owner's own configuration says.

Check addresses of servers: they must be usable, and must hold no secret, for they are stored with the run."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from slant.collector.errors import UsageError
from slant.collector.screen_tables import printable
from slant.collector.study.toml_table import Table, checked_name, parsed_toml
from slant.collector.system.files import contents_of_named

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
    named = (value for name, value in os.environ.items() if _NAMES_SECRET.search(name) and not value.startswith("/"))
    if any(len(secret := value.strip()) >= _MIN_SECRET_LENGTH and secret in plain for value in named):
        return True
    pieces = re.split(r"[/?&#;:,@\s]|(?<!=)=(?!=|$)", plain)
    return any(_is_key(piece, is_strict=is_strict) for piece in pieces)


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


VARIABLE = "SLANT_PROVIDERS"
MAX_BYTES = 1_000_000
_VARIABLE_NAME = re.compile(r"[A-Z_][A-Z0-9_]{1,63}")
_NO_KEY_HEADERS = (
    "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "keep-alive", "te",
    "trailer", "upgrade", "expect", "cookie", "proxy-authorization", "proxy-connection", "accept", "accept-encoding",
    "user-agent", "referer", "origin", "forwarded", "via", "x-forwarded-host", "x-forwarded-for", "range", "location",
)  # fmt: skip
"""List headers that decide where a request goes or how it is read: a key in them would break it, or be logged."""
_HEADER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_OF_SECRETS = re.compile(r"(?i)authorization|cookie|password|passwd|secret|signature|token|(?<![a-z])key|apikey")
_OF_TRANSPORT = ("content-type", "content-length", "accept-encoding", "host", "connection", "transfer-encoding")


@dataclass(frozen=True)
class ProviderRow:
    """Hold one provider as its file describes it; `dialect` is still a name."""

    name: str
    dialect: str
    address: str
    key_variable: str | None
    key_header: str | None
    costs_money: bool
    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    good_endings: tuple[str, ...] = ()


def provider_file() -> Path | None:
    """Return the file that is read: the one that was named, else the user's own if it exists; None if there is
    none.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "slant" / "providers.toml"
    return own if own.is_file() else None


@contextmanager
def read_from(file: str | Path | None) -> Iterator[None]:
    """Use the custom providers of this file inside the `with` block; None changes nothing. Processes that start
    meanwhile read it, too."""
    if file is None:
        yield
        return
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(Path(file).absolute())
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


def own_rows(dialects: Collection[str]) -> dict[str, ProviderRow]:
    """Return the rows of the provider file by name; empty if there is none. Raise UsageError, a sentence, if it can't
    be read or breaks a rule.
    """
    file = provider_file()
    if file is None:
        return {}
    return dict(_read(file, file.stat().st_mtime_ns if file.is_file() else 0, tuple(sorted(dialects))))


def tables_of(file: Path) -> Table:
    """Return a provider file as a table that is read key by key; UsageError if it is not one."""
    if not file.exists():
        raise UsageError(f"Can't read the providers in {file}: there is no such file.")
    return table_in(file, "providers", MAX_BYTES)


def table_in(file: Path, what: str, *max_bytes: int) -> Table:
    """Return a TOML file as such a table; UsageError if it can't be read."""
    try:
        return Table(parsed_toml(contents_of_named(file, *max_bytes).decode("utf-8-sig")), str(file))
    except OSError as error:
        raise UsageError(f"Can't read the {what} in {file}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"Can't read the {what} in {file}: it is not TOML ({str(error)[:200]}).") from None


@functools.lru_cache(16)
def _read(file: Path, changed_ns: int, dialects: tuple[str, ...]) -> tuple[tuple[str, ProviderRow], ...]:
    table = tables_of(file)
    rows: dict[str, ProviderRow] = {}
    for row in (_row(part, dialects) for part in table.rows("providers")):
        if row.name in rows:
            raise UsageError(f'"{row.name}" is listed twice in {file}.')
        rows[row.name] = row
    table.rows("prices")  # collector/providers/prices.py reads them
    table.finish()
    _refuse_two_hosts(rows, file)
    return tuple(rows.items())


def _row(table: Table, dialects: tuple[str, ...]) -> ProviderRow:
    name = checked_name(table.text("name"), "provider")
    key_variable = table.optional_text("key_variable")
    row = ProviderRow(
        name,
        table.text("dialect", "chat-completions"),
        _address(table.text("address"), f'The address of "{name}" in {table.where}'),
        None if key_variable is None else _variable(key_variable, name, table.where),
        table.optional_text("key_header"),
        table.flag("costs_money", default=key_variable is not None),
        _texts(table, "headers"),
        _texts(table, "query"),
        table.texts("good_endings", ()),
    )
    table.finish()
    if row.dialect not in dialects:
        raise UsageError(f'"{name}" in {table.where} has no known dialect: known are {", ".join(dialects)}.')
    if row.key_header is not None and (key_variable is None or not _HEADER_NAME.fullmatch(row.key_header)):
        raise UsageError(
            f'The key_header of "{name}" in {table.where} must be the name of a header, for a key_variable.'
        )
    if row.key_header is not None and row.key_header.lower() in _NO_KEY_HEADERS:
        raise UsageError(
            f'The key_header of "{name}" in {table.where} can\'t be {row.key_header}: it directs the request.',
            "Name the header in which the provider wants the key, or leave it out.",
        )
    return row


def _address(url: str, what: str) -> str:
    url = checked_address(url.rstrip("/"), what, is_typed=False)
    if urlsplit(url).scheme != "https" and not is_on_this_machine(url):
        raise UsageError(f"{what} must begin with https://, or lead to this machine (http://localhost …).")
    return url


def _variable(name: str, provider: str, where: str) -> str:
    if not _VARIABLE_NAME.fullmatch(name) or holds_key(name):
        raise UsageError(
            f'The key_variable of "{provider}" in {where} must be the name of a variable, as in LAB_API_KEY.',
            "A key itself does not belong into a file.",
        )
    return name


def _texts(table: Table, key: str) -> dict[str, str]:
    """Return headers or a query: names and texts, none of which may be a key."""
    values = table.mapping(key)
    for raw_name, value in values.items():
        name = printable(raw_name)
        if not isinstance(value, str) or not value.isprintable() or not value.isascii():
            raise UsageError(f'"{name}" of {key} in {table.where} must be a text of plain characters.')
        if _OF_SECRETS.search(name) or holds_key(value):
            raise UsageError(
                f'"{name}" of {key} in {table.where} looks like a key, and a file names only the variable of one.',
                f'Write key_variable = "NAME_OF_ITS_VARIABLE", and key_header = "{name}" if it is sent in that header.',
            )
        if key == "headers" and (not _HEADER_NAME.fullmatch(raw_name) or name.lower() in _OF_TRANSPORT):
            raise UsageError(f'"{name}" in {table.where} is no header that a provider file can set.')
    return values


def _refuse_two_hosts(rows: dict[str, ProviderRow], file: Path) -> None:
    """Refuse two hosts for one key: all rows that name its variable must lead to the same host."""
    hosts: dict[str, tuple[str, str]] = {}
    for row in rows.values():
        if row.key_variable is None:
            continue
        host = urlsplit(row.address).netloc
        name, first = hosts.setdefault(row.key_variable, (row.name, host))
        if first != host:
            raise UsageError(
                f'"{name}" and "{row.name}" in {file} would send the key in {row.key_variable} to two hosts.',
                "A key belongs to one host: give each of them a variable of its own.",
            )
