"""Two spellings of one text: Unicode's forms of a letter, case, quotes, blanks; and where a label stands in a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

_PLAIN = str.maketrans(
    dict.fromkeys("‘’ʼ`´", "'")
    | dict.fromkeys("“”„«»", '"')
    | dict.fromkeys("。", ".")
    | dict.fromkeys("‐‑﹣", "-")  # what joins words; longer dashes part them
    | {chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)}
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\x00", None)
    | dict.fromkeys(map(chr, range(0xD800, 0xE000)), "\ufffd")  # halves of letters, and bytes that were none
)
WRAPPING = " \t\r\n\"'`*_.,;:!?()[]{}<>#$~\\「」『』【】《》-–—•\ufffd"


@lru_cache(4096)  # a study has a few labels, and asks for them by the thousand
def folded(text: str) -> str:
    """What two spellings share that a reader takes for one: Unicode's forms of a letter, case, blanks, apostrophes."""
    return " ".join(folded_lines(text).split())


def folded_lines(text: str) -> str:
    """The same with its lines and blanks as they are."""
    plain = unicodedata.normalize("NFC", text).translate(_PLAIN)
    return unicodedata.normalize("NFC", plain.casefold()).replace("\xa0", " ")


@lru_cache(4096)
def bare_label(label: str) -> str:
    """A label folded, without full stops, quotes and brackets around it, where that leaves anything."""
    return folded(label).strip(WRAPPING) or folded(label)


@lru_cache(1024)
def any_label(bare: tuple[str, ...], plural: bool) -> re.Pattern[str]:
    """Any of the labels as whole words, the longest first. Scripts without blanks between words have no such edges."""

    def spelled(label: str) -> str:
        start = r"(?<![\w\-'])" if has_edges(label[0]) else ""
        end = rf"{'s?' if plural else ''}(?![\w'])(?!-\w)" if has_edges(label[-1]) else ""
        return start + r"\s+".join(map(re.escape, label.split())) + end

    return re.compile("|".join(map(spelled, sorted(bare, key=lambda label: (-len(label), label)))) or r"(?!)")


def has_edges(char: str) -> bool:
    """True of a letter or digit of a script that has blanks between its words."""
    return char.isalnum() and not ("\u0e00" <= char <= "\u0eff" or "\u3040" <= char <= "\u9fff")


def mentions_of(text: str, bare: tuple[str, ...], plural: bool) -> list[re.Match[str]]:
    """Where a folded text has one of the labels."""
    return list(any_label(bare, plural).finditer(without_markdown(text)))


def without_markdown(text: str) -> str:
    """A text without the signs of bold and italics."""
    return re.sub(r"\*+|(?<![\w])_+(?=\w)|(?<=\w)_+(?![\w])", "", text) if "*" in text or "_" in text else text


def label_of(match: re.Match[str], by_bare: Mapping[str, str]) -> str:
    """The label that a match of `any_label` is, as the study spells it."""
    named = " ".join(match[0].split())
    return by_bare[named] if named in by_bare else by_bare[named.removesuffix("s")]
