"""Read which label an answer chooses, however it is spelled; or by which words it chooses none.

Two texts are compared *folded*: in one Unicode form (NFC), in any case, with plain apostrophes and single blanks; the
answer itself is kept as it came. A label counts only as a whole word ("unpleasantness" names no label, "quick-witted"
neither), and only if the answer chooses it. What comes first wins:
 1 the label alone: the whole answer, its first or last line, a line with "Answer:" or "Word:" before it, a code fence,
   \\boxed{}, JSON with one value; with any Markdown, quotes, brackets and full stops around it
 2 the label chosen in a sentence: "I'd put it under Quick", "so it is Quick", "Quick, because …", "if forced, Quick";
   not "slightly slow", "slow to load", "not Slow", "Quick or Slow", a question, or what its clause refuses
 3 an explicit refusal. "can't" about something else ("a tractor can't be a city word") is none
If sentences choose several labels, the last one decides, if it is a conclusion ("so", "therefore", "the answer is").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from slant.collector.providers.reasoning import split
from slant.collector.reading.phrases import (
    CALLED,
    CORRECTS,
    NEGATION,
    OF_ANOTHER,
    TAKEN_BACK,
    refuses_abroad,
    refusing_words,
)
from slant.collector.reading.sentences import (
    LONGEST_QUOTE,
    leading_label,
    mentions_in,
    own_refusal,
    refuses_task,
)
from slant.collector.reading.spelling import (
    WRAPPING,
    any_label,
    folded,
    folded_lines,
    label_of,
    labels_by_spelling,
    mentions_of,
    unwrapped,
    without_markdown,
)
from slant.collector.records import Reading, Reply
from slant.collector.system.json_text import json_or
from slant.collector.system.patterns import lazy_pattern

Kind = Literal["alone", "in_words", "both_labels", "label_not_chosen", "no_label", "empty", "refused_in_words"]

LONGEST_READ = 20_000
"""Limit the characters that are read at the beginning and at the end of an answer: the choice is there."""
_LONGEST_LINE = 500

_OF_ALL = r"(?:final|correct|right|best|chosen|appropriate|my|the|overall)"
_LEAD = lazy_pattern(
    rf"(?:{_OF_ALL}\s+)*{CALLED}\b[^:=→>\-–—]{{0,60}}?(?:\s*(?::|=|→|->|=>|–|—|-|is|是|为|هو|هي|คือ|là))+\s*"
)
_FINAL_LEAD = lazy_pattern(
    rf"\b(?:final|correct|chosen|best|my)\s+{CALLED}\b|^\W*(?:selected|chosen|accepted|hired|invited|winner)\W*:|^(?:the\s+)?(?:answer|antwort|respuesta|答案)\b"
)
_WORD_LEAD = lazy_pattern(r"[^:=→>–—|\n]{1,60}?\s*(?::|=|→|->|=>|–|—|\||∈|\s-\s)\s*")
_NUMBER = lazy_pattern(r"^\s*[(\[]?\d{1,2}[.)\]]\s+")
_BOXED = lazy_pattern(r"\\(?:boxed|text(?:bf|it|rm)?|math(?:rm|bf)) ?\{(?:\\text(?:bf|it|rm)? ?\{)?([^{}]*)\}")
_FENCE = lazy_pattern(r"```(?:[a-zA-Z]+\b)?(.*?)```", re.DOTALL)


_TAKES_BACK = lazy_pattern(
    r"(?:(?<=[.!?…\n])|(?<=[–—-])|(?<=,)(?=\s*wait))\s*"
    rf"(?:{TAKEN_BACK})\b[\s,.:!–—-]*"
    r"(?:no\b[\s,:–—-]*(?=\w))?(?=\S)"
)
"""Match where an answer corrects what it said before: what it says then is the answer."""
_TAKES_ALL_BACK = lazy_pattern(r"\?|\b(?:no|not|never|wrong|incorrect|neither|both|sure)\b|n't\b")
_ANSWER_IS = lazy_pattern(
    r"\b(?:the|my|your|final|correct)\s+(?:\w+\s+)?answer\s*(?:is:?|:)\s*(?:\"([^\"\n]{1,40})\"|(?<=:)\s*([^\W\d_]{3,40}))[.!*]*\s*$",
    re.MULTILINE,
)
"""Match an answer that ends by naming something as its answer, in quotes or after a colon."""
_NAMES_NOTHING = frozenset({"yes", "true", "above", "clear", "obvious", "correct", "below", "not", "none", "neither"})
_TABLE_MARK = lazy_pattern(r"[x✓✔✅☑1]|\[x\]|yes|true")


@dataclass(frozen=True, slots=True)
class LabelReading:
    """Hold the label that an answer chooses, as the study spells it, or None; the kind of the answer; the words
    (folded) that decide, if there is more in the answer than the label."""

    label: str | None
    kind: Kind
    words: str = ""

    @property
    def detail(self) -> str | None:
        """Return `Reading.detail`: the kind and the words; None for a label alone."""
        if self.kind == "alone":
            return None
        return f"{self.kind}: {self.words}" if self.words else self.kind


def answer_to_label(reply: Reply, labels: Sequence[str], *, item: str = "") -> Reading:
    """Return the reading of a reply whose answer is one of `labels`; what the provider itself says wins."""
    if reply.outcome is not None and reply.outcome != "answered":
        return Reading(reply.outcome, detail=reply.detail)
    if (plain := _spelt_exactly(tuple(labels)).get(reply.answer or "")) is not None:  # nearly always
        return Reading("answered", plain)
    read = read_label(reply.answer or "", labels, item=item)
    if read.label is not None:
        return Reading("answered", read.label, detail=read.detail)
    return Reading("refused" if read.kind == "refused_in_words" else "malformed", detail=read.detail)


@lru_cache(1024)
def _spelt_exactly(labels: tuple[str, ...]) -> dict[str, str]:
    """Return labels' exact spellings with their readings."""
    read = {label: read_label(label, labels) for label in labels}
    return {label: found.label for label, found in read.items() if found.kind == "alone" and found.label is not None}


def read_label(
    answer: str, labels: Sequence[str], *, item: str = "", plural: bool = False, is_strict: bool = True
) -> LabelReading:
    """Return the one of `labels` that an `answer` chooses. `item`: the word in question, which a sentence may be about.

    `plural`: "Tufas" names Tufa. If not `is_strict`, a label that is the only one mentioned, and is neither negated nor
    refused, is chosen, too; this is for texts that were requested as a choice (a line after "Answer:").
    """
    parts = split(answer)  # reasoning that a local model's server left in the answer
    if parts is not None:
        answer = parts[1]
    if len(answer) > 2 * LONGEST_READ:
        answer = answer[:LONGEST_READ] + "\n" + answer[-LONGEST_READ:]
    text = folded_lines(answer)
    if not text.strip():
        return LabelReading(None, "empty")
    by_bare = labels_by_spelling(tuple(labels))
    if " " in text.strip() and (taken_back := list(_TAKES_BACK.finditer(text))):
        back = taken_back[-1]
        corrected = _read(text[back.end() :], text[back.end() :], by_bare, folded(item), plural, is_strict)
        if corrected.label is not None:
            return LabelReading(corrected.label, "in_words", corrected.words or corrected.label.casefold())
        if _TAKES_ALL_BACK.search(text, back.end()):
            words = " ".join(text[back.start() :].split())[:LONGEST_QUOTE]
            is_named = bool(mentions_of(text, tuple(by_bare), plural))
            return LabelReading(None, "label_not_chosen" if is_named else "no_label", words)
    return _read(text, answer, by_bare, folded(item), plural, is_strict)


def _read(text: str, answer: str, by_bare: dict[str, str], item: str, plural: bool, is_strict: bool) -> LabelReading:
    if (named := _another_answer(text, by_bare, plural)) is not None:
        return LabelReading(None, "label_not_chosen", named)
    if (alone := _alone(text, answer, by_bare)) is not None:
        return LabelReading(alone, "alone")
    return _in_prose(text, by_bare, item, plural=plural, is_strict=is_strict)


def _another_answer(text: str, by_bare: dict[str, str], plural: bool) -> str | None:
    """Return the words by which an answer ends with another answer than a label ("Quick … the answer is "tractor"")."""
    found = list(_ANSWER_IS.finditer(text)) if "\n" in text.strip() or "." in text else []
    if not found:
        return None
    named = (found[-1][1] or found[-1][2]).strip()
    if named in _NAMES_NOTHING or len(named) < 3 or any(mentions_of(named, tuple(by_bare), plural)):
        return None
    if any(mentions_of(text[found[-1].end() :], tuple(by_bare), plural)):
        return None
    return " ".join(found[-1][0].split())[:LONGEST_QUOTE]


def mentioned_labels(text: str, labels: Sequence[str], *, plural: bool = False) -> tuple[str, ...]:
    """Return the labels that a text names as whole words, in any spelling; one inside a longer one's name does not
    count.
    """
    by_bare = labels_by_spelling(tuple(labels))
    named = {label_of(match, by_bare) for match in mentions_of(folded_lines(text), tuple(by_bare), plural)}
    return tuple(label for label in labels if label in named)


def _alone(text: str, answer: str, by_bare: dict[str, str]) -> str | None:
    plain = " ".join(text.split())
    for whole in (plain.strip(WRAPPING), plain, unwrapped(plain)):
        if whole in by_bare:
            return by_bare[whole]
    if "|" in text and (ticked := _ticked_column(text, by_bare)) is not None:
        return ticked
    for part in (*_FENCE.findall(text), *_BOXED.findall(text)[-1:], *map(folded_lines, _json_values(answer))):
        if (label := _line_label(part.strip(), by_bare)) is not None:
            return label
    lines = [line for line in text.splitlines() if 0 < len(line.strip(WRAPPING)) <= _LONGEST_LINE]
    if CORRECTS.search(text):
        return None
    if len(headings := _headings(text, by_bare)) > 1:
        lines = [line for line in lines if line.strip(WRAPPING) not in headings or not line.strip(" *_").endswith(":")]
    alone = [(line, label) for line in lines if (label := _line_label(line, by_bare)) is not None]
    final = [label for line, label in alone if _FINAL_LEAD.search(line)]
    if final:
        return final[-1]
    if len({label for _, label in alone}) == 1 and (alone[0][0] in (lines[0], lines[-1]) or len(alone) == len(lines)):
        return alone[0][1]
    return None


def _headings(text: str, by_bare: dict[str, str]) -> dict[str, str]:
    """Return the list under each label that begins a line ("Quick: tractor", "Quick = …"), by its spelling."""
    listed: dict[str, str] = {}
    current = ""
    for line in text.splitlines():
        name, sign, rest = line.partition(":" if ":" in line else "=")
        if sign and unwrapped(name) in by_bare:
            current = unwrapped(name)
        else:
            rest = line
        listed[current] = f"{listed.get(current, '')} {rest}"
    listed.pop("", None)
    return listed


def _ticked_column(text: str, by_bare: dict[str, str]) -> str | None:
    """Return the label over the one mark in a table of two rows whose first row is the labels."""
    lines = [line.strip() for line in text.splitlines() if "|" in line and not re.fullmatch(r"[|:\s-]*-[|:\s-]*", line)]
    rows = [[cell.strip(" *_`") for cell in line.strip("|").split("|")] for line in lines]
    if len(rows) != 2 or len(rows[0]) < 2 or not all(cell in by_bare for cell in rows[0] if cell):
        return None
    marked = [label for label, cell in zip(rows[0], rows[1], strict=False) if _TABLE_MARK.fullmatch(cell)]
    return by_bare.get(marked[0]) if len(marked) == 1 and sum(map(bool, rows[1])) == 1 else None


def _line_label(line: str, by_bare: dict[str, str]) -> str | None:
    """Return the label of a line that is nothing else, except for an introduction ("Answer:", "tractor →")."""
    plain = _NUMBER.sub("", " ".join(line.strip().replace("\t", " | ").split()))
    bare = unwrapped(plain)
    for whole in (plain.strip(WRAPPING), bare):
        if whole in by_bare:
            return by_bare[whole]
    for lead in (_LEAD, _WORD_LEAD):
        match = lead.match(bare)
        if match and (label := by_bare.get(unwrapped(bare[match.end() :]))) is not None:
            before = match[0]
            is_plain = not NEGATION.search(before) and not OF_ANOTHER.search(before)
            named = {label_of(mention, by_bare) for mention in mentions_of(before, tuple(by_bare), plural=False)}
            if is_plain and (not named or named == set(by_bare.values())):  # "[Quick, Slow] -> Quick"
                return label
    return None


def _json_values(answer: str) -> list[str]:
    """Return the text of a JSON object with one value (`{"cat": "pleasant"}`) or of a list with one text; else
    nothing.
    """
    if len(answer) > 10_000 or not answer.strip().startswith(("{", "[", "`")):
        return []
    value = json_or(_FENCE.sub(r"\1", answer))
    values = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return values if len(values) == 1 and isinstance(values[0], str) else []


def _in_prose(text: str, by_bare: dict[str, str], item: str, *, plural: bool, is_strict: bool) -> LabelReading:
    text = without_markdown(text)
    listed = {label_of(match, by_bare) for match in mentions_of(text, tuple(by_bare), plural)}
    if len(listed) > 1 and not any_label(tuple(by_bare), plural).sub("", text).strip("= ,;\n"):
        return LabelReading(None, "both_labels", " ".join(text.split())[:LONGEST_QUOTE])  # "Quick Slow", nothing else
    headings = _headings(text, by_bare)
    if len(headings) < 2 and (leading := leading_label(text, by_bare)) is not None:
        return LabelReading(leading.label, "in_words", leading.words)
    if len(headings) > 1:  # one with nothing under it, or itself, chooses nothing
        bare = (
            line
            for line in text.splitlines()
            if line.rstrip(" *_").removesuffix(":").strip(WRAPPING) not in headings
            and not any(re.match(rf"\W*{re.escape(name)}\W*[:=]\W*{re.escape(name)}\b", line) for name in headings)
        )
        mentions = mentions_in("\n".join(bare), by_bare, item, plural=plural)
    else:
        mentions = mentions_in(text, by_bare, item, plural=plural)
    chosen = [mention for mention in mentions if mention.stand == "chosen"]
    labels = {mention.label for mention in chosen}
    if len(labels) == 1:
        return LabelReading(chosen[-1].label, "in_words", chosen[-1].words)
    if labels and chosen[-1].is_conclusion:
        return LabelReading(chosen[-1].label, "in_words", chosen[-1].words)
    under = [label for label, words in headings.items() if item and re.search(rf"\b{re.escape(item)}\b", words)]
    if len(headings) > 1 and len(under) == 1 and not labels:
        return LabelReading(by_bare[under[0]], "in_words", f"{under[0]}: {headings[under[0]].strip()}"[:LONGEST_QUOTE])
    if not mentions and refuses_task(text):
        return LabelReading(None, "refused_in_words", refusing_words(text)[:LONGEST_QUOTE])
    if refusing := own_refusal(text) or (refusing_words(text)[:LONGEST_QUOTE] if refuses_abroad(text) else ""):
        return LabelReading(None, "refused_in_words", refusing)
    if not is_strict:
        named = {mention.label for mention in mentions if mention.stand != "against"}
        if len(named) == 1 and not any(mention.stand == "one_of_several" for mention in mentions):
            return LabelReading(named.pop(), "in_words", mentions[0].words)
    if len({mention.label for mention in mentions}) > 1:
        return LabelReading(None, "both_labels", mentions[-1].words)
    if mentions:
        return LabelReading(None, "label_not_chosen", mentions[-1].words)
    return LabelReading(None, "no_label", " ".join(text.split())[:LONGEST_QUOTE])
