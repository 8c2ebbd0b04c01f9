"""Escape foreign text, so that Markdown and LaTeX show it unchanged and carry out no command in it."""

from __future__ import annotations

import re

from slant.collector.screen_tables import in_one_line, printable

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$]|&(?=#?\w+;))")
# what would begin a list or a title; the mark of a numbered item is escaped, since no digit can be
_LINE_START = re.compile(r"^(\d*)([-+=>]|(?<=\d)[.)](?= |$))")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "[": "{[}", "]": "{]}", "*": "{*}",
    "-": "{-}", "'": "{'}", "\N{REPLACEMENT CHARACTER}": "?", "\N{MINUS SIGN}": "$-$",
}  # fmt: skip
_SPECIAL = re.compile("[" + re.escape("".join(_LATEX)) + "]")
_HYPHENS = re.compile(r"(?<=\w)-(?=\w)")


def escaped_markdown(text: object) -> str:
    """Escape running text and cells: nothing in it is markup, and it stays one line."""
    return _LINE_START.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", in_one_line(text)))


def quoted_markdown(text: object) -> str:
    """Return a text word for word in a fence longer than any in it."""
    shown = printable(text)
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def escaped_latex(text: object) -> str:
    """Escape running text and cells of a table, in which also [ and * mean something; the result stays one line. A
    hyphen within a word stays one; two that would make a dash do not."""
    parts = _HYPHENS.split(in_one_line(text))
    return "-".join(_SPECIAL.sub(lambda mark: _LATEX[mark[0]], part) for part in parts)
