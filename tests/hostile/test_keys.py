"""Keys that a server echoes: wherever they stand, in whatever spelling, they are taken out before they are kept."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.ask.redaction import Redaction, in_pieces, letters_of, spellings
from slant.collector.keep.journal import journal_folder
from tests.support.local_server import LocalServer, completion
from tests.support.tiny_study import write_tiny

KEY = "sk-proj-AbC/9+xyz0123456789_QwErTy"
ECHOES = {
    "as it is": KEY,
    "in a header": f"Bearer {KEY}",
    "URL-encoded": quote(KEY, safe=""),
    "URL-encoded in small letters": quote(KEY, safe="").lower().replace("abc", "AbC").replace("qwerty", "QwErTy"),
    "in hexadecimal digits": KEY.encode().hex(),
    "in base64": base64.b64encode(KEY.encode()).decode(),
    "in base64 of a header": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "in base64 of a password": base64.b64encode(f":{KEY}\n".encode()).decode(),
    "in base64 of an address": base64.urlsafe_b64encode(f"a{KEY}b".encode()).decode(),
    "with line ends": "\n".join([KEY[:10], KEY[10:20], KEY[20:]]),
    "letter by letter": " ".join(KEY),
    "in quotes and commas": '", "'.join([KEY[:7], KEY[7:]]),
    "in slashes of JSON": KEY.replace("/", "\\/"),
    "URL-encoded twice": quote(quote(KEY, safe=""), safe=""),
    "URL-encoded letter by letter": "".join(f"%{byte:02X}" for byte in KEY.encode()),
    "in bytes as a program writes them": "".join(f"\\x{byte:02x}" for byte in KEY.encode()),
    "in hexadecimal digits, two by two": KEY.encode().hex(" "),
    "in base64 of short lines": "\n".join(re.findall(".{1,20}", base64.b64encode(KEY.encode()).decode())),
    "in HTML": KEY.replace("/", "&#x2F;"),
}
HIDDEN = ("0123456789", base64.b64encode(KEY.encode()).decode()[4:20], "0 1 2 3 4 5 6 7 8 9", KEY.encode().hex()[8:30])


@pytest.mark.slow
@pytest.mark.parametrize("echoed", ECHOES.values(), ids=ECHOES)
def test_a_key_is_in_no_file_however_a_server_spells_it(
    echoed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def echo(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        said = completion(f"Calm {echoed}")
        said["choices"][0]["message"]["reasoning_content"] = f"The key is {echoed}."
        return web.json_response({**said, "model": f"m {echoed}"}, headers={"server": echoed.replace("\n", " ")})

    (tmp_path / "s").mkdir()
    with LocalServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        db = tmp_path / "a.duckdb"
        study = str(write_tiny(tmp_path / "s"))
        collect(db, study, ["openai/gpt-9"], max_retries=0, pilot=2, yes=True)
    (journal,) = journal_folder(db).glob("*.jsonl")
    kept = journal.read_text("utf-8")
    assert '"answer":"Calm' in kept.replace(": ", ":")
    plain = kept.replace("\\n", "").replace("\\", "")
    for hidden in HIDDEN:
        assert hidden not in plain
        assert hidden not in re.sub("[% x]", "", plain).lower()
        assert hidden.encode() not in db.read_bytes()


@pytest.mark.parametrize("before", ["", "a", "ab", "Bearer ", "user:"])
@pytest.mark.parametrize("after", ["", "x", "xy"])
def test_base64_hides_a_key_at_no_place(before: str, after: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(f"{before}{KEY}{after}".encode()).decode()
        found = [spelt for spelt in spellings(KEY) if spelt in text]
        assert len(text) - max(map(len, found)) <= 4 + (4 * (len(before) + len(after)) // 3)


def test_ordinary_words_are_no_pieces_of_a_key(tmp_path: Path) -> None:
    letters = letters_of(KEY)
    text = json.dumps({"answer": "sk, proj and so on: A b C 9 x y z 0 1 2 3 4 5 6 7 8, then Q w E r T z"})
    assert letters not in letters_of(text)
    assert in_pieces(letters.decode()).search(text) is None


AN_ODD_KEY = "sk-ab+/Cd=9_xY.z!Qw12"
ESCAPED = {
    "JSON": lambda key: "".join(f"\\u{ord(c):04X}" for c in key),
    "JSON in JSON, one letter": lambda key: key.replace("+", "\\\\u002b"),
    "JavaScript": lambda key: key.replace("+", "\\u{2b}"),
    "bytes": lambda key: "".join(f"\\x{ord(c):02x}" for c in key),
    "octal": lambda key: "".join(f"\\{ord(c):03o}" for c in key),
    "HTML": lambda key: key.replace("+", "&#43;"),
    "HTML, hexadecimal": lambda key: "".join(f"&#x{ord(c):x};" for c in key),
    "HTML, twice": lambda key: key.replace("+", "&amp;#043;"),
    "HTML, by name": lambda key: key.replace("+", "&plus;").replace("/", "&sol;").replace("_", "&lowbar;"),
    "an address": lambda key: "".join(f"%{ord(c):02X}" for c in key),
    "an address, twice": lambda key: "".join(f"%25{ord(c):02x}" for c in key),
    "mail": lambda key: key.replace("=", "=3D").replace("+", "=2B"),
    "CSS": lambda key: "".join(f"\\{ord(c):06x}" for c in key),
    "JSON in an address": lambda key: "".join(f"%5Cu{ord(c):04x}" for c in key),
    "an address in HTML": lambda key: "".join(f"&#37;{ord(c):02X}" for c in key),
    "JSON in HTML": lambda key: key.replace("+", "&#x5C;u002B"),
    "wide letters": lambda key: "".join(chr(ord(c) + 0xFEE0) for c in key),
    "invisible characters between": lambda key: "\u200b".join(key),
    "several ways": lambda key: key.replace("+", "\\u002B").replace("=", "&#61;").replace("/", "%2F"),
}


def test_a_key_is_found_in_the_escapes_of_json_html_and_addresses_and_nothing_else_is() -> None:
    redaction = Redaction([AN_ODD_KEY])
    texts = {name: f'{{"echo": "Bearer {escape(AN_ODD_KEY)}", "n": 1}}' for name, escape in ESCAPED.items()}
    left = {name: redaction.changed({"a": text}, text).get("a") for name, text in texts.items()}
    assert {name for name, text in left.items() if text != '{"echo": "Bearer [key]", "n": 1}'} == set()
    others = [escape("sk-ab+/Cd=9_xY.z!Qw13") for escape in ESCAPED.values()]
    assert redaction.changed({"a": " ".join(others)}, " ".join(others)) == {}
