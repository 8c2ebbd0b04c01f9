"""Files of providers as somebody might write, find or be handed them, and the sentence for each.

`become` is handed the path of a true one and makes another thing of it. SECRET must be in nothing that is printed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.hostile.become import Hostile, instead, link_to, of_bytes

SECRET = "sk-proj-SECRETKEYabcdef0123456789XYZ"
TRUE = '[[providers]]\nname = "lab"\naddress = "https://llm.example.org/v1"\nkey_variable = "LAB_API_KEY"\n'


def _of(old: str, new: str) -> Callable[[Path], object]:
    assert old in TRUE
    return lambda path: path.write_text(TRUE.replace(old, new), "utf-8")


def _with(line: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(f"{TRUE}{line}\n", "utf-8")


_ADDRESS, _VARIABLE = "https://llm.example.org/v1", '"LAB_API_KEY"'
_KEY, _TOML, _TEXT, _HEADER = "looks like a key", "it is not TOML", "a text of plain characters", "no header that a"
PROVIDER_FILES = (
    Hostile("a key for the variable's name", _of(_VARIABLE, f'"{SECRET}"'), "must be the name of a variable"),
    Hostile("a key under a key of its own", _with(f'key = "{SECRET}"'), 'There is no key "key"'),
    Hostile("a key in a header", _with(f'headers = {{ "x-tag" = "{SECRET}" }}'), _KEY),
    Hostile("a header of authorization", _with('headers = { Authorization = "Bearer x" }'), _KEY),
    Hostile("a cookie", _with('headers = { Cookie = "session=1" }'), _KEY),
    Hostile("a query named as a key", _with('query = { "api_key" = "x" }'), _KEY),
    Hostile("a key in a query", _with(f'query = {{ "version" = "{SECRET}" }}'), _KEY),
    Hostile("a key in the address' query", _of("/v1", f"/v1?key={SECRET}"), "must not hold a query"),
    Hostile("a key in the address' path", _of("/v1", f"/{SECRET}/v1"), _KEY),
    Hostile("a key as the address' host", _of("llm.", f"{SECRET}."), _KEY),
    Hostile("a password in the address", _of("llm.", f"me:{SECRET}@llm."), "a name or password"),
    Hostile("http off this machine", _of("https", "http"), "must begin with https://"),
    Hostile("http to what looks like this machine", _of(_ADDRESS, "http://localhost.evil.org/v1"), "https://"),
    Hostile("http to a name and this machine", _of(_ADDRESS, "http://localhost@evil.org/v1"), "a name or"),
    Hostile("an address of another scheme", _of("https", "file"), "is no address"),
    Hostile("an address without a host", _of("llm.example.org", ""), "is no address"),
    Hostile("an address with a line break", _of("/v1", "/v1\\r\\nX-Evil: 1"), "is no address"),
    Hostile("a known provider's name", _of('"lab"', '"openai"'), "that slant has itself"),
    Hostile("a known provider's key", _of(_VARIABLE, '"OPENAI_API_KEY"'), "That key belongs to openai"),
    Hostile("a name with a slash", _of('"lab"', '"a/b"'), "can't be called"),
    Hostile("a header's name with a line break", _with('headers = { "x\\r\\nevil" = "1" }'), _HEADER),
    Hostile("a header's value with a line break", _with('headers = { "x-a" = "1\\r\\nX-Evil: 1" }'), _TEXT),
    Hostile("a header's value with a null", _with('headers = { "x-a" = "1\\u0000" }'), _TEXT),
    Hostile("a header that moves the host", _with('headers = { Host = "evil.org" }'), _HEADER),
    Hostile("a header that is a list", _with('headers = { "x-a" = ["1"] }'), _TEXT),
    Hostile("a query's value with a line break", _with('query = { "v" = "1\\n2" }'), _TEXT),
    Hostile("a key's header with a line break", _with('key_header = "x\\r\\nevil"'), "the name of a header"),
    Hostile("is a pipe", instead(os.mkfifo), "it is a pipe"),
    Hostile("is a link to a device", link_to("/dev/zero"), "it is a device"),
    Hostile("is a link to nothing", link_to("nowhere.toml"), "there is no such file"),
    Hostile("is a link to itself", link_to("providers.toml"), "Can't read the providers"),
    Hostile("is a folder", instead(Path.mkdir), "it is a folder"),
    Hostile("is 2 MB long", of_bytes(b"#" * 2_000_000), "larger than 1 MB"),
    Hostile("nests tables 100,000 deep", of_bytes(b"a = " + b"[" * 100_000), _TOML),
    Hostile("is null bytes", of_bytes(b"\0" * 100), _TOML),
    Hostile("is no UTF-8", of_bytes(b'[[providers]]\nname = "\xff"\n'), _TOML),
)
