"""Read what a coder answers: the form first (JSON), then numbers, then a code by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from slant.collector.designs.analyses import AskedField
from slant.collector.designs.coding.codebook import ONE, SCALE, SEVERAL, Codebook
from slant.collector.designs.design import Reads
from slant.collector.errors import StudyError
from slant.collector.reading.labels import read_label
from slant.collector.reading.phrases import is_refusal, refusal_detail
from slant.collector.reading.spelling import folded, unwrapped, without_markdown
from slant.collector.records import Reading, Reply, Trial
from slant.collector.study.records import StudyFile
from slant.collector.system.json_text import json_or

NEITHER = "neither"
"""Name the code of a text that gives something to neither of two options; answers in words are read for it."""
_LONGEST_READ = 2_000
_MOST_NAMED = 9
_NUMBER = re.compile(r"(?<![\w.,])\(?(\d{1,3})\b(?![.,]\d)")
_JSON = re.compile(r"\{[^{}]*\}")
_NEITHER = re.compile(
    r"(?:to )?(?:neither|none|both|nobody|no one|undecided|unclear|(?:can'?t|cannot) (?:tell|say|decide))"
    r"(?: of (?:them|these|the two)| of both)?"
)


class CodingReads(Reads):
    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        if reply.outcome is not None and reply.outcome != "answered":
            return Reading(reply.outcome)
        return read_coding(reply.answer or "", trial, study.data.labels(trial.item))

    def schema_of(self, study: StudyFile) -> Mapping[str, Any] | None:
        schema: dict[str, Any] = study.data.codebook.schema()
        return schema

    def asked_fields(self, study: StudyFile, trial: Trial) -> tuple[AskedField, ...]:
        data = study.data
        labels = data.labels(trial.item)
        codes = () if data.codebook.kind == SEVERAL else tuple(trial.factors["order"])
        return (AskedField("answer", options=tuple((code, labels.get(code, code)) for code in codes)),)


def read_coding(answer: str, trial: Trial, labels: Mapping[str, str]) -> Reading:
    """Return the codes of an answer: by their numbers as they were shown, or by name. Several numbers are no answer
    unless a text may have several codes; what gives no clear code is malformed.
    """
    return read_codes(answer, trial.factors["kind"], trial.factors["order"], labels)


def read_codes(answer: str, kind: str, order: Sequence[str], labels: Mapping[str, str]) -> Reading:
    """Return the codes of an answer to a codebook of this kind, whose codes were shown in this order."""
    text = without_markdown(answer[-_LONGEST_READ:])
    found = _in_form(text)
    numbers = _NUMBER.findall(text) if found is None else found
    names = {folded(name): code for code, label in labels.items() for name in (code, label)}
    if (
        len({names.get(folded(part)) for part in numbers} - {None}) == len(set(numbers)) > 0
    ):  # codes as people type them
        return _coded([names[folded(part)] for part in numbers], kind, order)
    if numbers or found is not None:
        codes = [_numbered(number, kind, order) for number in dict.fromkeys(numbers)]
        if None not in codes and (kind == SEVERAL or len(codes) == 1):
            return _coded([code for code in codes if code is not None], kind, order)
        if kind == SEVERAL and set(numbers) == {"0"}:
            return _coded([], kind, order)
        return Reading("malformed", detail="several_numbers" if len(codes) > 1 else "no_such_number")
    return _in_words(text, kind, order, names, labels)


def check_typed_code(code: str, codebook: Codebook, labels: Mapping[str, str], *, in_sheet: bool) -> None:
    """Raise StudyError, whose text continues "this row …", for what a person has typed and no code can be read from,
    or, in a sheet that shows no order of codes, for a number that means another code for each text."""
    known = ", ".join(codebook.names[:_MOST_NAMED]) + " …" * (len(codebook.names) > _MOST_NAMED)
    reading = read_codes(code, codebook.kind, codebook.names, labels)
    if in_sheet and codebook.is_drawn and _NUMBER.search(code):
        raise StudyError(f'has the number "{code[:40]}", but each text has its own order of codes: type {known}')
    if reading.detail in ("several_numbers", "several_codes"):
        raise StudyError(f'has several codes ("{code[:40]}"), and a text gets one of {known}')
    if reading.outcome != "answered":
        raise StudyError(f'has the code "{code[:40]}", which the codebook lacks: {known}')


def _in_words(
    text: str, kind: str, order: Sequence[str], names: Mapping[str, str], labels: Mapping[str, str]
) -> Reading:
    said = unwrapped(folded(text))
    if said in names:
        return _coded([names[said]], kind, order)
    parts = [part.strip() for part in re.split(r"[;,\n]", said) if part.strip()]
    if parts and all(part in names for part in parts):
        return _coded([names[part] for part in parts], kind, order)
    if _NEITHER.fullmatch(said) and (NEITHER in order or kind == SEVERAL):
        return _coded([NEITHER] if NEITHER in order else [], kind, order)
    if kind == ONE:
        named = {code: label for code, label in labels.items() if code != NEITHER}
        read = read_label(text, tuple(named.values()), is_strict=False)
        if read.label is not None:
            return _coded([code for code, label in named.items() if label == read.label], kind, order)
    if is_refusal(text):
        return Reading("refused", detail=refusal_detail(text))
    return Reading("malformed", detail="no_number" if text.strip() else "empty")


def _in_form(text: str) -> list[str] | None:
    """Return the codes or numbers of a JSON object; None if the answer has none, or several."""
    objects = _JSON.findall(text)
    if len(objects) != 1:
        return None
    found = json_or(objects[0], {})
    said = next((found[key] for key in ("code", "codes") if key in found), None)
    parts = said if isinstance(said, list) else [said]
    return [str(part) for part in parts] if all(type(part) in (int, str) for part in parts) else None


def _numbered(number: str, kind: str, order: Sequence[str]) -> str | None:
    if not number.isascii() or not number.isdecimal():
        return None
    if kind == SCALE:
        return number if number in order else None
    return order[int(number) - 1] if 1 <= int(number) <= len(order) else None


def _coded(codes: Sequence[str], kind: str, order: Sequence[str]) -> Reading:
    given = [code for code in order if code in codes]
    if kind != SEVERAL and len(given) != 1:
        return Reading("malformed", detail="several_codes")
    return Reading("answered", choice="; ".join(given), factors={"codes": given})
