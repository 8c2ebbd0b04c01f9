"""Compare spellings of one text: Unicode's forms of a letter, case, quotes, blanks; and find labels in a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from slant.collector.system.patterns import lazy_pattern

_PLAIN = str.maketrans(
    dict.fromkeys("‘’‚‛ʼ`´′ʹ＇", "'")
    | dict.fromkeys("“”„‟«»″ʺ〝〞＂", '"')
    | dict.fromkeys("。", ".")
    | dict.fromkeys("、", ",")
    | dict.fromkeys("‐‑﹣", "-")  # these join words; longer dashes separate them
    | dict.fromkeys("⇒➔➡➜➝➞➙➤►▶▸⟶⟹", "→")
    | {chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)}
    | {chr(bold): unicodedata.normalize("NFKC", chr(bold)) for bold in range(0x1D400, 0x1D800)}
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0f\x00", None)
    | dict.fromkeys("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", None)  # direction
    | dict.fromkeys(map(chr, range(0xD800, 0xE000)), "\ufffd")  # halves of letters, and bytes that were not letters
)
WRAPPING = " \t\r\n\"'`*_.,;:!?()[]{}<>#$~|/\\「」『』【】《》‹›‚…-–—•\ufffd"
_UNSPACED = "\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7a3"
"""Match letters of scripts that put particles or other words right after a word, or have no blanks at all."""
_TAGS = lazy_pattern(r"<(?P<closing>/?)(?P<name>[a-z][\w-]{0,30})>|<[|][^|<>]{1,40}[|]>", re.IGNORECASE)
_SIGNS = {"end_of_turn", "start_of_turn", "eos", "bos", "pad"}
"""List signs of chat templates that look like tags and are never closed."""
_TICKED = lazy_pattern(r"\[x\]|☑")
_NOT_TICKED = lazy_pattern(r"(?:[-*] )?(?:\[ ?\]|☐)[^\n\[☑☐]*")
_ROUND_TICKED = lazy_pattern(r"\(\s*[x•●✓✔✅]\s*\)|[◉⦿🔘🔵]")
_ROUND_NOT_TICKED = lazy_pattern(r"\(\s*\)|[○◯⚪]")
_MARKED, _NOT_MARKED = lazy_pattern("[✅✓✔]"), lazy_pattern("[❌✗✘✖❎]")
_LITERAL_LINE_END = lazy_pattern(r"(?:\\r)?\\n(?![a-zA-Z])")  # as two letters; not LaTeX
_QUOTED = lazy_pattern(r"(?<!\w)'(?!\s)([^'\"\n]{1,60})(?<!\s)'(?!\w)")
_BETWEEN_WORDS = lazy_pattern(r"(?<=\w)[\s_-]+(?=[^\W_])")
_JOINTS = (" ", "-", "_")
_PLUS = lazy_pattern(r"\s*[+&]\s*")
_SIGNS_OF_PLUS = (" + ", "+", " & ", "&", " and ", " plus ", " / ", "/", ", ")
_NUMBERED = lazy_pattern(r"([^\W\d_]+)[ #-]+(\d{1,2})")
_NUMBERS = "one two three four five six seven eight nine ten"
_STRUCK_OUT = lazy_pattern(r"~~(?!\s)[^~\n]{1,200}~~")


@lru_cache(4096)  # a study has a few labels, and asks for them thousands of times
def folded(text: str) -> str:
    """Return a text that is the same for spellings that a reader takes to be the same: Unicode's forms of a letter,
    case, blanks, apostrophes."""
    return " ".join(folded_lines(text).split())


def folded_lines(text: str) -> str:
    """Return the same with its lines and blanks unchanged."""
    plain = unicodedata.normalize("NFC", text).translate(_PLAIN)
    if "<" in plain or "~~" in plain:
        plain = _STRUCK_OUT.sub(" ", without_tags(plain))
    plain = _LITERAL_LINE_END.sub("\n", plain).casefold()
    if "(" in plain or not plain.isascii():
        plain = _with_boxes(plain)
    if ("[x]" in plain or "☑" in plain) and _NOT_TICKED.search(plain):
        plain = _TICKED.sub(" ", _NOT_TICKED.sub(" ", plain))
    return unicodedata.normalize("NFC", plain).replace("\xa0", " ")


def _with_boxes(text: str) -> str:
    """Return a text with ☑ and ☐ for other signs before what is chosen and what is not: "(x) Quick ( ) Slow", "❌ Slow
    ✅ Quick"; a sign alone, or after a label, stays."""
    for ticked, empty in ((_ROUND_TICKED, _ROUND_NOT_TICKED), (_MARKED, _NOT_MARKED)):
        starts = ticked is _ROUND_TICKED or text.lstrip(" \n-*")[:1] in ("✅", "✓", "✔", "❌", "✗", "✘", "✖", "❎")
        if starts and ticked.search(text) and empty.search(text):
            text = empty.sub("☐", ticked.sub("☑", text))
    return text


def without_tags(text: str) -> str:
    """Return a text without tags that are closed (<answer>Quick</answer>) and signs of a template (<|im_end|>, <eos>);
    "<Quick>" is a label in brackets.
    """
    closed = {match["name"] for match in _TAGS.finditer(text) if match["closing"]} | _SIGNS
    return _TAGS.sub(lambda match: " " if not match["name"] or match["name"] in closed else match[0], text)


def unwrapped(text: str) -> str:
    """Return a folded text without a label's surroundings: quotes, brackets, Markdown, full stops, emoji."""
    start, end = 0, len(text)
    while start < end and _is_around(text[start]):
        start += 1
    while end > start and _is_around(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_around(char: str) -> bool:
    return char in WRAPPING or (char > "\x7f" and unicodedata.category(char) in ("So", "Sk"))


@lru_cache(4096)
def bare_label(label: str) -> str:
    """Return a label folded, without full stops, quotes and brackets around it, if that leaves anything."""
    return folded(label).strip(WRAPPING) or folded(label)


@lru_cache(1024)
def labels_by_spelling(labels: tuple[str, ...]) -> dict[str, str]:
    """Return the labels by their bare forms, and by those with other signs between their words ("not-guilty",
    "not_guilty" for Not guilty; "wellbeing" for Well-being), if only one of them is spelled so."""
    by_bare = {bare_label(label): label for label in labels if bare_label(label)}
    others: dict[str, set[str]] = {}
    for bare, label in by_bare.items():
        joined = (*_JOINTS, "") if "-" in bare else _JOINTS
        spelled = {_BETWEEN_WORDS.sub(joint, bare) for joint in joined} | _numbered(bare)
        if "+" in bare or "&" in bare:
            spelled |= {_PLUS.sub(sign, bare) for sign in _SIGNS_OF_PLUS}
        for other in spelled - by_bare.keys():
            others.setdefault(other, set()).add(label)
    return by_bare | {other: next(iter(of)) for other, of in others.items() if len(of) == 1}


def _numbered(bare: str) -> set[str]:
    """Return "person two", "person2", "person no. 2" and the like for "person 2"."""
    match = _NUMBERED.fullmatch(bare)
    if match is None:
        return set()
    name, number = match[1], match[2]
    signs = ("", "#", "no. ", "no.", "number ", "nr. ", "n° ")
    words = _NUMBERS.split()
    said = {f"{name} {words[int(number) - 1]}"} if 0 < int(number) <= len(words) else set()
    return said | {f"{name} {sign}{number}" for sign in signs} | {f"{name}{number}"}


@lru_cache(1024)
def any_label(bare: tuple[str, ...], plural: bool) -> re.Pattern[str]:
    """Match any of the labels as whole words, the longest first. Scripts without blanks between words have no such
    edges, and a word in Latin letters ends where one of theirs begins ("答えはQuickです")."""

    def spelled(label: str) -> str:
        elided = r"(?:(?<![\-'])|(?<=\b[ld]'))"  # the word of "l'infirmière" is infirmière
        start = rf"(?<!{_adjoining_letter(label[0])}){elided}" if has_edges(label[0]) else ""
        end = rf"{'s?' if plural else ''}(?!{_adjoining_letter(label[-1])})(?!')(?!-\w)" if has_edges(label[-1]) else ""
        return start + r"\s+".join(map(re.escape, label.split())) + end

    return lazy_pattern("|".join(map(spelled, sorted(bare, key=lambda label: (-len(label), label)))) or r"(?!)")


def _adjoining_letter(char: str) -> str:
    """Return the pattern of a letter that would make the word of this letter longer."""
    return r"\w" if re.match(f"[{_UNSPACED}]", char) else rf"[^\W{_UNSPACED}]"


def has_edges(char: str) -> bool:
    """Return True for a letter or digit of a script that has blanks between its words."""
    return char.isalnum() and not ("\u0e00" <= char <= "\u0eff" or "\u3040" <= char <= "\u9fff")


def mentions_of(text: str, bare: tuple[str, ...], plural: bool) -> list[re.Match[str]]:
    """Return the matches of labels in a folded text."""
    return list(any_label(bare, plural).finditer(without_markdown(text)))


def without_markdown(text: str) -> str:
    """Return a text without the signs of bold and italics, and with double quotes for single ones: an apostrophe
    belongs to its word."""
    if "'" in text:
        text = _QUOTED.sub(r'"\1"', text)
    return re.sub(r"\*+|(?<![\w])_+(?=\w)|(?<=\w)_+(?![\w])", "", text) if "*" in text or "_" in text else text


def label_of(match: re.Match[str], by_bare: Mapping[str, str]) -> str:
    """Return the label in a match of `any_label`, as the study spells it."""
    named = " ".join(match[0].split())
    return by_bare[named] if named in by_bare else by_bare[named.removesuffix("s")]
