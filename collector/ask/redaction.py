"""Remove what must not be stored from all that a server says: echoed keys, and a person's folders."""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from html.entities import html5
from urllib.parse import quote, unquote

_MIN_KEY = 8  # a stand-in for a key ("none", "EMPTY") would be found in ordinary words, and is no secret
_NO_LETTER = bytes(code for code in range(128) if not chr(code).isalnum())
_ESCAPE = re.compile(r"\\+(?:[uUx]|[0-9A-Fa-f]{2})|&[#A-Za-z]|[%=][0-9A-Fa-fu]")
_CODE = re.compile(r"\\+[uU](?:\{([0-9A-Fa-f]{1,5})\}|([0-9A-Fa-f]{4}))|\\+x([0-9A-Fa-f]{2})")
_INVISIBLE = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
_DISGUISE = re.compile(f"[{_INVISIBLE}\uff01-\uff5e]")
_TIMES = 5  # escapes of escapes of escapes
_ENTITIES: dict[str, list[str]] = {}
for _name, _character in html5.items():
    if len(_character) == 1:
        _ENTITIES.setdefault(_character, []).append(_name)
_HOME = re.compile(r"\\?(?:/home|/Users|[A-Za-z]:\\+Users)[/\\]+[^/\\\s\"']+(?=[/\\])")


def spellings(secret: str) -> list[str]:
    """Return the spellings in which a server may echo a key: unchanged, inside JSON (some escape slashes), in an
    address (also encoded twice, or letter by letter), in HTML, in hexadecimal digits, in base64 alone or amid other
    text. The longest come first."""
    in_json, in_address, data = json.dumps(secret)[1:-1], quote(secret, safe=""), secret.encode()
    forms = {secret, in_json, in_json.replace("/", "\\/"), in_address, quote(in_address, safe="")}
    forms |= {data.hex(), data.hex().upper(), secret.replace("/", "&#x2F;"), secret.replace("/", "&#47;")}
    forms.add(re.sub("%[0-9A-F]{2}", lambda escaped: escaped[0].lower(), in_address))
    for before in range(3):  # three bytes make four characters: those that share bytes with its neighbours are left out
        encoded_secret = base64.b64encode(bytes(before) + data)
        first, last = (before * 8 + 5) // 6, (before + len(data)) * 8 // 6
        inner = encoded_secret[first:last].decode()
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return sorted(forms, key=len, reverse=True)


def letters_of(text: str) -> bytes:
    """Return the letters and digits of a text; this is quick, because every response is searched for a key."""
    data = text.encode("utf-8", "replace")
    for escaped in (b"\\n", b"\\r", b"\\t", b"\\x", b"0x"):
        data = data.replace(escaped, b"")
    return data.translate(None, _NO_LETTER)


def in_pieces(letters: str) -> re.Pattern[str]:
    """Return a pattern for a key that is cut into pieces. Between its characters there may be a few that are neither
    letters nor digits, also as JSON escapes them, or as programs write bytes.
    """
    between = r"(?:\\+x|0x|[^A-Za-z0-9\\]|\\(?:u[0-9a-fA-F]{4}|.)){0,6}"
    return re.compile(between.join(map(re.escape, letters)))


def escaped(secret: str) -> re.Pattern[str]:
    """Return a pattern for a key of which any character may be escaped as JSON, programs, HTML, addresses or mail do,
    also several times over (\\u002B, \\x2b, \\053, &#43;, &amp;#x2B;, &plus;, %2B, %252B, =2B).
    """
    return re.compile("".join(map(_escapes, secret)))


def decoded(text: str) -> str:
    """Return a text without escapes of JSON, programs, HTML and addresses, in whatever order they were put on, nor
    invisible or wide characters, nor backslashes."""
    for _ in range(_TIMES):
        before = text
        text = _CODE.sub(lambda code: chr(int(code[1] or code[2] or code[3], 16)), text)
        text = unquote(html.unescape(text), errors="replace")
        if text == before:
            break
    return re.sub(f"[{_INVISIBLE}\\\\]", "", unicodedata.normalize("NFKC", text))


def _escapes(character: str) -> str:
    code, named = ord(character), "|".join(map(re.escape, _ENTITIES.get(character, ())))
    digits = "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in f"{code:x}")
    ways = [
        rf"\\*{re.escape(character)}",
        rf"\\+(?:[uUx]\{{?0*{digits}\}}?|0*{code:o}(?![0-7])|(?:0{{4}}{digits}|0*{digits}(?![0-9A-Fa-f]))\s?)",
        rf"&(?:amp;)*(?:#0*{code}(?!\d);?|#[xX]0*{digits}(?![0-9a-fA-F]);?{'|' + named if named else ''})",
        rf"(?:%(?:25)*u?|=(?:3[dD])*)0*{digits}",
    ]
    return f"(?:{'|'.join(ways)})"


class Redaction:
    """Find keys in texts, however they are spelt, and put [key] in their place."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = [secret for secret in secrets if len(secret) >= _MIN_KEY]
        self._spelt = [spelt for secret in self._secrets for spelt in spellings(secret)]
        in_letters = (letters_of(spelt) for spelt in self._spelt)
        self._letters = sorted({letters for letters in in_letters if len(letters) >= _MIN_KEY}, key=len, reverse=True)
        self._escaped = [escaped(secret) for secret in self._secrets]
        self._in_pieces = [in_pieces(letters.decode()) for letters in self._letters]

    def __bool__(self) -> bool:
        return bool(self._spelt)

    def changed(self, texts: Mapping[str, str], all_text: str) -> dict[str, str]:
        """Return the texts that contain a key, without it. `all_text` is everything: a key may be split."""
        letters = letters_of(all_text)
        is_split = any(piece in letters for piece in self._letters)
        is_split |= bool(_ESCAPE.search(all_text)) and any(pattern.search(all_text) for pattern in self._escaped)
        is_split |= self._is_disguised(all_text)
        holding = {name: text for name, text in texts.items() if is_split or any(s in text for s in self._spelt)}
        return {name: self(text) for name, text in holding.items()}

    def __call__(self, text: str) -> str:
        for spelt in self._spelt:
            text = text.replace(spelt, "[key]")
        if _ESCAPE.search(text):
            for pattern in self._escaped:
                text = pattern.sub("[key]", text)
        letters = letters_of(text)
        for piece, pattern in zip(self._letters, self._in_pieces, strict=True):
            if piece in letters:
                text = pattern.sub("[key]", text)
        if self._is_disguised(text):
            text = decoded(text)
            for secret in self._secrets:
                text = text.replace(secret, "[key]")
        return text

    def _is_disguised(self, text: str) -> bool:
        if not _ESCAPE.search(text) and not _DISGUISE.search(text):
            return False
        plain = decoded(text)
        return any(secret in plain for secret in self._secrets)


def without_home(text: str) -> str:
    """Return a server's path without the folder that is named after a person: ~/models/a.gguf. Custom servers name a
    model by its file.
    """
    return _HOME.sub("~", text)
