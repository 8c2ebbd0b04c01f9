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
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from slant.collector.errors import UsageError
from slant.collector.providers.addresses import checked_address, holds_key, is_on_this_machine
from slant.collector.screen_tables import printable
from slant.collector.study.toml_table import Table, checked_name, parsed_toml
from slant.collector.system.files import contents_of_named

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
    try:
        return Table(parsed_toml(contents_of_named(file, MAX_BYTES).decode("utf-8-sig")), str(file))
    except OSError as error:
        raise UsageError(f"Can't read the providers in {file}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"Can't read the providers in {file}: it is not TOML ({str(error)[:200]}).") from None


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
