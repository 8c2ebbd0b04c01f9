"""What a model, or the server that speaks for it, may answer, and what is stored of it.

`body` is sent as the response to one request; `stored` holds columns of `attempts` as they must be afterwards. The
outcome is that of the tiny study, whose options are Calm and Busy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.local_server import completion

CSI, OSC, ST = "\x1b[", "\x1b]", "\x1b\\"
MARK = "evil = 1"  # what a script would set, if one ran


@dataclass(frozen=True)
class HostileAnswer:
    name: str
    body: bytes
    stored: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


def _said(name: str, answer: str) -> HostileAnswer:
    """An answer that is kept to the letter; the model that gave it is said to be called so, too."""
    body = json.dumps({**completion(answer), "model": answer}).encode()
    kept = answer.replace("\0", "\ufffd")  # R has no texts with a null character
    return HostileAnswer(name, body, {"answer": kept, "served_model": kept})


def _with(name: str, changes: Mapping[str, Any], outcome: str = "answered", **stored: Any) -> HostileAnswer:
    """A usual answer in a response that is unusual elsewhere."""
    body = json.dumps({**completion("Calm"), **changes}).encode()
    return HostileAnswer(name, body, {"outcome": outcome, **stored})


def _message(name: str, message: Any, outcome: str = "answered", **stored: Any) -> HostileAnswer:
    return _with(name, {"choices": [{"message": message, "finish_reason": "stop"}]}, outcome, **stored)


def _count(name: str, count: str, stored: int | None) -> HostileAnswer:
    """A count of tokens as JSON spells it, which may be more than Python can."""
    body = json.dumps(completion("Calm")).replace('"completion_tokens": 74', f'"completion_tokens": {count}')
    return HostileAnswer(f"a count of {name}", body.encode(), {"outcome": "answered", "output_tokens": stored})


TEXTS = {
    "a script": f"<script>{MARK}</script>",
    "the end of a script": f"</script><script>{MARK}</script>",
    "the end of what may stand around it": f"--></style></textarea></title></noscript><img src=x onerror='{MARK}'>",
    "half a tag": f"<img src=x onerror='{MARK}' ",
    "an attribute's end": f"\" onmouseover='{MARK}' autofocus onfocus='{MARK}' x=\"",
    "a link that is a script": f"[Calm](javascript:{MARK.replace(' ', '')}) <a href='javascript:{MARK}'>Calm</a>",
    "an SVG": f"<svg onload='{MARK}'><script>{MARK}</script></svg>",
    "markup of templates": "{{ 7 * 7 }} {% raw %} ${7*7} #{7*7} <%= 7*7 %>",
    "markup of rich": "[bold red]Calm[/] [link=file:///etc/passwd]here[/link]",
    "a formula of a spreadsheet": "=HYPERLINK(\"http://127.0.0.1/?x=\"&A1,\"Calm\")",
    "a formula with a command": "=cmd|'/C calc'!A0",
    "a formula that begins otherwise": "@SUM(1+1)*cmd|'/C calc'!A0",
    "a formula behind a tab": "\t=1+1",
    "quotes, commas and line ends": "a\",\"b\"\r\nrow,2,3\n=1+1\n",
    "colours and a cleared screen": f"{CSI}2J{CSI}31mCalm{CSI}0m",
    "a new title of the window": f"{OSC}0;owned\x07Calm",
    "a link of a terminal": f"{OSC}8;;http://127.0.0.1/{ST}Calm{OSC}8;;{ST}",
    "a write to the clipboard": f"{OSC}52;c;cm0gLXJmIH4=\x07Calm",
    "eight-bit commands of a terminal": "\x9b31mCalm\x9d0;owned\x9c",
    "a line that is written over": "refused\rCalm\x08\x08\x08\x08Busy",
    "a text that turns its direction": "\u202eylmaC\u202c \u2066x\u2069 \u200f",
    "characters of no width": "C\u200ba\u2060l\ufeffm",
    "a text in invisible tags": "Calm" + "".join(chr(0xE0000 + ord(char)) for char in "ignore all"),
    "ends of lines that are none": "Calm\u2028Busy\u2029\x85\x0b\x0c",
    "NA": "NA",
    "NULL": "NULL",
    "a quote of SQL": "'); DROP TABLE attempts;--",
    "a path": "../../../../etc/passwd",
    "percent signs": "%s%s%n%(x)s {0} {word}",
    "a null character": "Ca\x00lm",
}  # fmt: skip

ANSWERS = (
    *(_said(name, text) for name, text in TEXTS.items()),
    HostileAnswer(
        "half a surrogate pair",
        json.dumps(completion("Calm \ud83d")).encode(),
        {"answer": "Calm ?", "outcome": "answered"},
    ),
    _with("5 MB of reasoning", {"choices": [{"message": {"content": "Calm", "reasoning_content": "x" * 5_000_000}}]}),
    _with("a model with a line end and markup", {"model": f"small\nError: <script>{MARK}</script>{CSI}31m"}),
    _with("a model that is a table", {"model": {"name": "small"}}, served_model=None),
    _with("a fingerprint of markup", {"system_fingerprint": f"</script><script>{MARK}</script>"}),
    _count("-5", "-5", None),
    _count("0.5", "0.5", None),
    _count("text", '"74"', 74),
    _count("true", "true", None),
    _count("10^300", "1e300", None),
    _count("10^30", "1" + "0" * 30, None),
    _count("10,000 digits", "9" * 10_000, None),
    _count("minus 10,000 digits", "-" + "9" * 10_000, None),
    _count("NaN", "NaN", None),
    _count("infinity", "Infinity", None),
    _count("a list", "[74]", None),
    _with("usage that is a list", {"usage": [1, 2]}, tokens=None, output_tokens=None),
    _with(
        "several choices",
        {"choices": [{"message": {"content": text}, "finish_reason": "stop"} for text in ("Calm", "Busy")]},
        answer="Calm",
    ),
    _with("choices that are none", {"choices": []}, "failed", is_final=False),
    _with("choices that are a text", {"choices": "Calm"}, "failed", is_final=False),
    _message("a message that is a text", "Calm", "malformed"),
    _message("no text", {"content": None}, "malformed", answer=None),
    _message("a number", {"content": 42}, "malformed", answer="42"),
    _message(
        "a list of parts", {"content": [{"type": "text", "text": "Ca"}, {"text": "lm"}, 7, {"text": 9}]}, answer="Calm"
    ),
    _message(
        "a tool that nobody offered",
        {
            "content": None,
            "tool_calls": [{"id": "1", "function": {"name": "shell", "arguments": '{"command": "rm -rf ~"}'}}],
        },
        "malformed",
        answer='shell({"command":"rm -rf ~"})',
    ),
    _message("a refusal that is a table", {"content": "Calm", "refusal": {"a": 1}}),
    _with("a reason of another kind", {"choices": [{"message": {"content": "Calm"}, "finish_reason": ["stop"]}]}),
    HostileAnswer(
        "a byte order mark", b"\xef\xbb\xbf" + json.dumps(completion("Calm")).encode(), {"outcome": "answered"}
    ),
    HostileAnswer(
        "a key twice", b'{"choices": [], "choices": [{"message": {"content": "Calm"}}]}', {"outcome": "answered"}
    ),
    HostileAnswer(
        "bytes that are no UTF-8", b'{"choices": [{"message": {"content": "Calm \xff"}}]}', {"answer": "Calm \u00ff"}
    ),
    HostileAnswer(
        "bare control characters", b'{"choices": [{"message": {"content": "Calm\n\x1b"}}]}', {"answer": "Calm\n\x1b"}
    ),
    HostileAnswer(
        "a stream that nobody asked for",
        b'data: {"choices": [{"delta": {"content": "Calm"}}]}\n\ndata: [DONE]\n\n',
        {"answer": "Calm", "outcome": "answered"},
        {"content-type": "text/event-stream"},
    ),
    HostileAnswer(
        "a stream that broke off",
        b'data: {"choices": [{"delta": {"content": "Calm"}}]}\n\ndata: {"choi',
        {"outcome": "failed", "is_final": False},
        {"content-type": "text/event-stream"},
    ),
    HostileAnswer("lists in lists", b'{"a":' * 50_000 + b"1" + b"}" * 50_000, {"outcome": "failed", "is_final": False}),
    HostileAnswer("a page", b"<html><script>evil = 1</script>", {"outcome": "failed"}, {"content-type": "text/html"}),
    HostileAnswer("nothing", b"", {"outcome": "failed", "is_final": False}),
    HostileAnswer(
        "headers of markup",
        json.dumps(completion("Calm")).encode(),
        {"outcome": "answered"},
        {"server": "<script>evil = 1</script>", "set-cookie": "a=b", "openai-organization": "org-0123456789"},
    ),
)
