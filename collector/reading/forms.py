"""The form in which a study wants its answers: a list, a JSON object, a tag, after certain words, or a pattern.

A form finds the text of each question's answer, exactly; the question reads that text as its kind says. What a form
doesn't find is malformed, and what is found twice with different values, too. Patterns run in linear time (the regular
expressions of Rust, by Polars), because a study may come from a stranger and an answer is long.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slant.collector.errors import StudyError, check_known
from slant.collector.reading.plain import FENCES, LONGEST_READ, BrokenObject, as_answer, object_in, value_of
from slant.collector.reading.spelling import folded
from slant.collector.study.toml_table import Table, shortened
from slant.collector.system.patterns import lazy_pattern

FORMS = ("list", "json", "after", "tag", "pattern")
_KEYS = {"json": "path", "after": "after", "tag": "tag"}
"""By form, the key of [answer] that says where each question's answer is."""
_STEP = lazy_pattern(r"([^.\[\]]+)|\[(\d{1,4})\]")
_PATH = lazy_pattern(r"[^.\[\]]+(?:\.[^.\[\]]+|\[\d{1,4}\])*")
_NUMBERED = lazy_pattern(r"(\d{1,3})[.)]\s+")
_NAMED = lazy_pattern(r"([^:=]{1,80}?)\s*[:=]\s*")
_ITEM = lazy_pattern(r"[-+−]?(?:\d+(?:\.\d+)?|\.\d+)(?:\s*/\s*\d+)?%?")
_MARKS = "*_`"
_LONGEST_PATTERN = 2_000


_ABSENT = ("no_list", "no_json", "no_marker", "no_tag", "no_match")


class UnreadForm(ValueError):
    """Signal that an answer has not the form that the study asks for; its text is the kind of malformed answer."""

    @property
    def is_absent(self) -> bool:
        """Return True if nothing of the form is there, so that the answer may be a refusal."""
        return str(self) in _ABSENT


Found = tuple[str, ...] | UnreadForm
"""The texts that a form finds for one question (all of them, as an answer may repeat itself), or why there is none."""


@dataclass(frozen=True)
class AnswerForm:
    """Hold one form. `marks` by question: the path of JSON, the words before a value, the name of a tag, or the name of
    a group of `pattern`. `example` is an answer with questions in braces, which a simulated model fills in.
    """

    form: str
    marks: Mapping[str, str] = field(default_factory=dict)
    pattern: str = ""
    example: str = ""

    def texts(self, answer: str, questions: Sequence[str], is_text: Sequence[bool]) -> list[Found]:
        """Return the text found for each question; UnreadForm if none of them is there.

        `is_text`: which questions take free text, which may go on over lines.
        """
        if len(answer) > LONGEST_READ:
            raise UnreadForm("too_long")
        return list(_READERS[self.form](self, answer, questions, is_text))

    def written(self, values: Mapping[str, Any]) -> str:
        """Return an answer of this form with these values by question."""
        if self.form == "list":
            return ", ".join(map(str, values.values()))
        if self.form == "json":
            return json.dumps(
                _nested({self.marks.get(name, name): value for name, value in values.items()}), ensure_ascii=False
            )
        if self.form == "pattern":
            return re.sub(r"\{(\w+)\}", lambda match: str(values.get(match[1], match[0])), self.example)
        lines = {name: (self.marks[name], value) for name, value in values.items()}
        if self.form == "tag":
            return "\n".join(f"<{tag}>{value}</{tag}>" for tag, value in lines.values())
        return "\n".join(f"{words} {value}" for words, value in lines.values())


JSON_BY_NAME = AnswerForm("json")
"""The usual form of several answers in one: an object with the questions as keys."""


def parse_form(row: Table, samples: Mapping[str, str]) -> AnswerForm:
    """Read a table [answer]; StudyError if it breaks the rules. `samples`: an answer to each of its questions."""
    form = row.choice("form", FORMS) if row.has("form") else row.text("form")
    key = _KEYS.get(form)
    marks, pattern, example = {name: name for name in samples}, "", ""
    if key is not None:
        own = row.optional(key, (str, dict), "a text, or a table of texts by question")
        own = row.text(key) if own is None and form == "after" else own
        marks = dict.fromkeys(samples, own) if isinstance(own, str) else marks
        marks |= {name: row.table(key).text(name) for name in (own if isinstance(own, dict) else {})}
        _check_marks(form, key, marks, samples, row.where)
    elif form == "pattern":
        pattern, example = row.text("pattern"), row.text("example")
        _check_pattern(pattern, samples, row.where)
    row.finish()
    found = AnswerForm(form, marks, pattern, example)
    if form == "pattern":
        _check_example(found, samples, row.where)
    return found


def _check_marks(form: str, key: str, marks: Mapping[str, str], known: Mapping[str, str], where: str) -> None:
    for name, mark in marks.items():
        check_known(f'question (of "{key}") in {where}', name, known)
        if form == "json" and not _PATH.fullmatch(mark):
            raise StudyError(
                f'The path "{shortened(mark)}" of "{name}" in {where} can\'t be followed.',
                'A path has keys and places: "rating", "assessment.hire", "scores[0]" (places begin at 0).',
            )
        if form == "tag" and not re.fullmatch(r"[A-Za-z][\w-]{0,60}", mark):
            raise StudyError(f'The tag "{shortened(mark)}" of {where} must be a name, without < and >.')
        if form == "after" and not _without_marks(mark).strip():
            raise StudyError(f'"after" of {where} needs the words that stand before the answer to "{name}".')


def _check_pattern(pattern: str, questions: Iterable[str], where: str) -> None:
    import polars as pl

    wrong = "is longer than 2,000 characters" if len(pattern) > _LONGEST_PATTERN else ""
    try:
        _groups_in(pattern, "")
    except pl.exceptions.ComputeError as error:
        wrong = f"is none: {shortened(str(error).splitlines()[-1])}"
    groups = re.findall(r"\(\?P?<(\w+)>", pattern)
    if not wrong and (lacking := [name for name in questions if name not in groups]):
        wrong = f'has no group for "{lacking[0]}"'
    if wrong:
        raise StudyError(
            f"The pattern of {where} {wrong}.",
            r'A pattern has a named group for each question, as in: pattern = "Score: (?<score>\\d+)"; it has no '
            "look-around and no back-references, so that it always ends.",
        )


def _check_example(form: AnswerForm, samples: Mapping[str, str], where: str) -> None:
    filled = form.written(samples)
    try:
        found = form.texts(filled, list(samples), [False] * len(samples))
    except UnreadForm:
        found = []
    if found != [(text,) for text in samples.values()]:
        raise StudyError(
            f"The pattern of {where} doesn't read its own example, {shortened(filled)!r}.",
            r'As in: pattern = "Score: (?<score>\\d+)", example = "Score: {score}"',
        )


def _list(form: AnswerForm, answer: str, questions: Sequence[str], is_text: Sequence[bool]) -> Iterator[Found]:
    """Yield the items of a list: of JSON, one a line, or separated by commas or semicolons; their names or numbers may
    stand before them, in the order of the questions."""
    items = _items(_without_marks(FENCES.sub("\n", answer)).strip())
    if len(items) != len(questions):
        raise UnreadForm("several_values" if len(items) > len(questions) else "no_list")
    items = _without_labels(items, questions)
    for item, takes_text in zip(items, is_text, strict=True):
        if not takes_text and not _ITEM.fullmatch(item) and re.search(r"\d", item):
            raise UnreadForm("no_list")
    yield from ((item,) for item in items)


def _items(text: str) -> list[str]:
    if text.startswith("["):
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            raise UnreadForm("broken_json") from None
        if not isinstance(values, list) or any(isinstance(value, list | dict) for value in values):
            raise UnreadForm("no_list")
        return [as_answer(value) or "" for value in values]  # a null is the missing answer of one question
    text = text.removesuffix(".")
    separator = next((mark for mark in ("\n", ";", ",") if mark in text), None)
    items = text.split(separator) if separator else [text]
    items = [re.sub(r"^[-•*]\s+", "", item.strip()).strip(",;").strip() for item in items]
    return [item for item in items if item] if separator == "\n" else items


def _without_labels(items: list[str], questions: Sequence[str]) -> list[str]:
    """Return items without their numbers (1, 2 …) or names, if all of them have these in the order of the questions."""
    numbered = [_NUMBERED.match(item) for item in items]
    if all(numbered) and [int(match[1]) for match in numbered if match] == list(range(1, len(items) + 1)):
        items = [item[match.end() :] for item, match in zip(items, numbered, strict=True) if match]
    named = [_NAMED.match(item) for item in items]
    if any(named):
        names = [folded(match[1]).replace("_", " ") if match else "" for match in named]
        if names != [name.replace("_", " ") for name in questions]:
            raise UnreadForm("another_order")
        items = [item[match.end() :] for item, match in zip(items, named, strict=True) if match]
    return items


def _json(form: AnswerForm, answer: str, questions: Sequence[str], is_text: Sequence[bool]) -> Iterator[Found]:
    try:
        found = object_in(answer)
    except BrokenObject as broken:
        raise UnreadForm(str(broken)) from None
    if found is None:
        raise UnreadForm("no_json")
    for name in questions:
        try:
            text = as_answer(_followed(found, form.marks.get(name, name)))
            yield UnreadForm("no_value") if text is None else (text,)
        except LookupError:
            yield UnreadForm("key_missing")
        except BrokenObject as broken:
            yield UnreadForm(str(broken))


def _followed(found: Any, path: str) -> Any:
    for key, place in _STEP.findall(path):
        if (place and not isinstance(found, list)) or (key and not isinstance(found, Mapping)):
            raise LookupError(path)
        found = found[int(place)] if place else value_of(found, key, is_only=False)
    return found


def _after(form: AnswerForm, answer: str, questions: Sequence[str], is_text: Sequence[bool]) -> Iterator[Found]:
    text = _without_marks(answer)
    found = [_values_after(text, form.marks[name], free) for name, free in zip(questions, is_text, strict=True)]
    yield from _all_found(found, "no_marker")


def _values_after(text: str, words: str, takes_text: bool) -> list[str]:
    """Return the text after these words: the rest of the line, or the next line that has any; free text to the end."""
    words = _without_marks(words).strip()
    spaced = r"\s+".join(map(re.escape, words.split()))
    bounds = [r"\b" if re.match(r"\w", end) else "" for end in (words[0], words[-1])]
    starts = [match.end() for match in re.finditer(bounds[0] + spaced + bounds[1], text, re.IGNORECASE)]
    if takes_text:
        return [text[starts[-1] :].strip()] if starts else []
    rests = (text[start:].lstrip().partition("\n")[0].strip() for start in starts)
    return [rest for rest in rests if rest]


def _tag(form: AnswerForm, answer: str, questions: Sequence[str], is_text: Sequence[bool]) -> Iterator[Found]:
    found = []
    for name in questions:
        tag = re.escape(form.marks[name])
        pieces = re.split(rf"<\s*{tag}\s*>", answer, flags=re.IGNORECASE)[1:]
        ends = [re.search(rf"<\s*/\s*{tag}\s*>", piece, re.IGNORECASE) for piece in pieces]
        found.append([piece[: end.start()].strip() for piece, end in zip(pieces, ends, strict=True) if end])
    yield from _all_found(found, "no_tag")


def _pattern(form: AnswerForm, answer: str, questions: Sequence[str], is_text: Sequence[bool]) -> Iterator[Found]:
    matches = _groups_in(form.pattern, answer)
    yield from _all_found([[row[name] for row in matches if row.get(name)] for name in questions], "no_match")


def _groups_in(pattern: str, answer: str) -> list[dict[str, str]]:
    """Return the named groups of each match; ComputeError of Polars for a pattern that is none."""
    import polars as pl

    series = pl.Series([answer])
    whole = series.str.extract_all(pattern).explode().drop_nulls()
    groups = series.str.extract_groups(pattern)
    if len(whole) > 1:
        groups = pl.concat([groups, whole.str.extract_groups(pattern)])
    return [row for row in groups.to_list() if row and any(row.values())]


def _all_found(found: Sequence[Sequence[str]], lacking: str) -> Iterator[Found]:
    if not any(found):
        raise UnreadForm(lacking)
    yield from (tuple(dict.fromkeys(texts)) or UnreadForm(lacking) for texts in found)


def _without_marks(text: str) -> str:
    return re.sub(rf"[{re.escape(_MARKS)}]+(?=\S)|(?<=\S)[{re.escape(_MARKS)}]+", "", text)


def _nested(values: Mapping[str, Any]) -> Any:
    """Return an object in which each path has its value."""
    root: dict[str, Any] = {}
    for path, value in values.items():
        at: Any = root
        steps = [int(place) if place else key for key, place in _STEP.findall(path)]
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            if isinstance(at, list):
                at += [None] * (step + 1 - len(at)) if isinstance(step, int) else []
            given = value if following is None else [] if isinstance(following, int) else {}
            if following is None or (at[step] is None if isinstance(at, list) else step not in at):
                at[step] = given
            at = at[step]
    return root


_READERS: Mapping[str, Callable[..., Iterator[Found]]] = {
    "list": _list,
    "json": _json,
    "after": _after,
    "tag": _tag,
    "pattern": _pattern,
}
