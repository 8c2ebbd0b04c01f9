"""Help a design propose a study for answers that were collected elsewhere: the files of a study that they fit into.

`AnsweredCells` have names of ours already; `AnswerTable` tells what the columns of a file are whose rows say by
themselves what was shown or played.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from slant.collector.designs.people import FALSE, TRUE
from slant.collector.errors import StudyError
from slant.collector.reading.spelling import WRAPPING, bare_label
from slant.collector.system.patterns import lazy_pattern

_USUAL = lazy_pattern(
    r"(?:stereotyp\w*|associat\w*)?[\W_]*(?:compatible|congruent|consistent|usual|control|baseline|reference|neutral|true"
    r"|yes|pro|plain)\b.*"
)


class AnsweredCell(NamedTuple):
    """Hold the cell of an answer, by our names; "" if the file does not say. `answer` is "" if it is a long text."""

    test: str
    condition: str
    item: str
    wording: str
    group: str
    option_a: str
    option_b: str
    answer: str


AnsweredCells = Mapping[AnsweredCell, int]
"""Count how often each cell occurs in the files, in the order of their rows."""


@dataclass(frozen=True)
class ProposedStudy:
    """Hold a proposal: files, reasons and a first fit. There is the text of each file by its name (including
    study.toml, which lacks models and [import]), sentences on what was taken for what, and the fit to begin with.
    `mapping` is what `--map` says, None if names and values alone say it; `layout` that of the import, and
    `values` what `--map-value` says of it; `why` says of columns what each is taken for, or why not."""

    files: Mapping[str, str]
    remarks: tuple[str, ...]
    fit: str
    mapping: tuple[str, ...] | None = None
    layout: str = "tidy"
    values: tuple[str, ...] = ()
    table: str = ""
    why: Mapping[str, str] = field(default_factory=dict)


def values_of(cells: AnsweredCells, column: str) -> list[str]:
    """Return the different values of a column in the order of the rows."""
    return list(dict.fromkeys(getattr(cell, column) for cell in cells if getattr(cell, column)))


def ids_of(names: Iterable[str], what: str) -> dict[str, str]:
    """Return the study's id for each name: the same except for signs between words, so that an import recognises it.
    StudyError if a name has no letters that an id may have, or two would have the same id."""
    ids: dict[str, str] = {}
    for name in names:
        made = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        is_whole = re.sub(r"[\W_]+", "", name) == re.sub("_", "", made)
        if re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}", name, re.ASCII):
            made = name
        elif not is_whole or not 0 < len(made) <= 64:
            raise StudyError(
                f'The {what} "{name}" makes no name of a study: that has letters from a to z, and digits.',
                f"Rename it in the file, or say what all rows are: --map {what}==NAME",
            )
        if made.casefold() in {known.casefold() for known in ids.values()}:
            raise StudyError(f'Two names of a {what} differ in signs or capitals alone, as "{name}".')
        ids[name] = made
    return ids


def two_conditions(cells: AnsweredCells) -> tuple[str, str]:
    """Return both conditions, the usual one first (compatible, congruent, control …); StudyError if there are not
    two."""
    named = values_of(cells, "condition")
    if len(named) != 2:
        listed = f": {', '.join(named[:8])}" if named else ""
        raise StudyError(f"it has two conditions, and the files have {len(named) or 'none that was found'}{listed}")
    first, second = named
    is_usual = [bool(_USUAL.fullmatch(name.casefold())) for name in named]
    if is_usual == [False, True] or (is_usual == [False, False] and (first, second) == ("0", "1")):
        return second, first
    return first, second


def labels_of(cells: AnsweredCells) -> tuple[str, str] | None:
    """Return the two labels that nearly all short answers are, each as it is spelled most often; None if there are
    none.
    """
    spelled: dict[str, Counter[str]] = {}
    for cell, count in cells.items():
        if bare := bare_label(cell.answer):
            spelled.setdefault(bare, Counter())[cell.answer.strip(WRAPPING) or cell.answer] += count
    counts = Counter({bare: sum(spellings.values()) for bare, spellings in spelled.items()})
    most = [bare for bare, _ in counts.most_common(2)]
    are_numbers = all(re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?", text) for text in most)
    if len(most) < 2 or counts.total() * 0.5 > sum(counts[bare] for bare in most) or are_numbers:
        return None
    # among equally frequent spellings that with only a capital ("Calm", not "CALM" or "calm")
    first, second = (
        max(spelled[bare].items(), key=lambda each: (each[1], each[0][:1].isupper() and not each[0].isupper(), each[0]))
        for bare in sorted(most)
    )
    return first[0], second[0]


def toml_text(text: str) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


PERSONS = (
    "participant", "participant_id", "participantid", "person", "person_id", "subject", "subject_id", "subj",
    "respondent", "respondent_id", "respondentid", "respid", "resp_id", "caseid", "case_id", "responseid",
    "response_id", "worker", "worker_id", "pid", "player", "player_id", "user_id", "prolific_id", "session_id", "id",
)  # fmt: skip
LONGEST_LEVEL = 100
MOST_LEVELS = 1_000
_BAD = lazy_pattern(r"[\x00-\x1f\\]")
_NUMBER = lazy_pattern(
    r"[$€£]?\s?[-+−–]?(?:\d{1,3}(?:([.,'’  ])\d{3})(?:\1\d{3})*(?:(?!\1)[.,]\d+)?|\d+(?:[.,]\d+)?|[.]\d+)"
    r"(?:e[-+]?\d{1,3})?\s?[$€£%]?",
    re.IGNORECASE,
)
_MEASURE = lazy_pattern(
    r"(?:^|_)(?:n|num|len|length|chars?|characters|words|sentences|tokens?|time|ms|secs?|seconds?|minutes|duration|latency"
    r"|elapsed|cost|price_usd|usd|logprob|probability|confidence|perplexity|entropy|bytes|size|count|timestamp|date)(?:_|$)"
)
"""Match names of what was measured of an answer, which nobody was shown."""
_COUNTER = lazy_pattern(r"(?:^|_)(?:id|ids|uuid|no|nr|num|number|index|idx|row|line|serial|seq|order|hash|key|seed)$")
"""Match names of columns that count or name rows."""
_MOST_NUMBERS = 12
"""Different numbers of a factor, unless all are about as frequent: 300 lengths are no levels."""
_TIME = lazy_pattern(r"\d{4}-\d\d-\d\d(?:$|[T ]\d\d:)|1[5-9]\d{8}(?:\d{3}|\.\d+)?$")
"""Match a day or a moment, which is when a row was written and nothing that was shown."""
MISSING = ("", "na", "n/a", "nan", "null", "none", "<na>", "#n/a", "-")
FAILED = lazy_pattern(
    r"\W*(?:api|request|server|http|network|connection)[\s\d_-]*(?:error|exception|failed|failure|time-?out)\b"
    r"|\W*error\b\W*(?:$|(?<=[:\]])|\d|api|request|rate|time|server|connection|http|code|after|occur)"
    r"|\W*(?:exception|time-?out|timed out|failed|failure)\s*[:\]]|\W*traceback\b"
    r"|\W*rate[\s_-]?limit\w*\W*(?:$|exceeded|error|reached)",
    re.IGNORECASE,
)
"""Match what programs write in the place of an answer when a request failed ("[ERROR] API error")."""
_NO_LEVEL = ("", "na", "nan", "null", "<na>")
_EVEN = 1.25
"""How many times as often the most frequent level of a crossed factor may be there as the rarest one: rows are lost."""


@dataclass(frozen=True)
class AnswerTable:
    """Hold the columns of files, by tidied name: a text for each row, "" if there is none. `answers` are columns
    that a person said hold answers (`--map answer=…`), `model` the column of models, None if there is none;
    `exact` are columns of real numbers, whose marks are before decimals, `decimal` is the mark of the others, if it
    was said. Each row of the file is `n_per_row` rows here. `forced` are columns that a person gave a name of ours."""

    columns: Mapping[str, Sequence[str]]
    answers: Sequence[str] = ()
    model: str | None = None
    exact: frozenset[str] = frozenset()
    n_per_row: int = 1
    decimal: str | None = None
    forced: frozenset[str] = frozenset()

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @cached_property
    def person(self) -> str | None:
        """Return the column of who answered: some name it, none names models, and each has
        several rows, or a row to itself under a name that says so.
        """
        if self.model is not None:
            return None
        for name in PERSONS:
            values = self.columns.get(name, ())
            if values and all(values) and (len(set(values)) < len(values) or name != "id"):
                return name
        return None

    def named(self, names: str, may_be: Iterable[str] = ()) -> str | None:
        """Return the first available, unused column of `names` (`may_be`: only one of these)."""
        allowed = set(may_be) or set(self.columns)
        return next((name for name in names.split() if name in allowed and self.levels(name)), None)

    def levels(self, name: str) -> list[str]:
        """Return the different values of a column, in the order of the rows."""
        if name not in self._levels:
            self._levels[name] = [v for v in dict.fromkeys(self.columns[name]) if v.lower() not in _NO_LEVEL]
        return self._levels[name]

    @cached_property
    def _levels(self) -> dict[str, list[str]]:
        return {}

    def numbers(self, name: str) -> list[float] | None:
        """Return the different numbers of a column, sorted; None if a value is no number."""
        levels = self.levels(name)
        if not levels or not all(_NUMBER.fullmatch(level) for level in levels):
            return None
        return sorted(set(map(number_of, levels)))

    def is_flag(self, name: str) -> bool:
        """Return True if a column says yes or no, as words or as 0 and 1."""
        said = {value.lower() for value in self.levels(name)}
        return bool(said) and said <= {*TRUE, *FALSE}

    def can_be_factor(self, name: str) -> bool:
        """Return True if a column has some short levels in every row, of which each comes again."""
        return not self.why_no_factor(name)

    def why_no_factor(self, name: str) -> str:
        """Return the reason why a column can't be a factor; "" if it can."""
        return self._reasons.get(name, "") if name in self._reasons else self._reasons.setdefault(name, self._why(name))

    @cached_property
    def _reasons(self) -> dict[str, str]:
        return {}

    def _why(self, name: str) -> str:
        values, levels = self.columns[name], self.levels(name)
        n, many = len(levels), f"{len(levels):,} different values in {len(self.columns[name]):,} rows"
        if n < 2:
            return "it says the same in all rows" if n else "it is empty"
        if all(map(_TIME.match, levels)):
            return "a day or a time, of when rows were written"
        if any(value.lower() in _NO_LEVEL for value in values):
            return "it is empty in some rows"
        if n > MOST_LEVELS or n * 2 * self.n_per_row > len(values):
            return f"{many}, and levels come again"
        if any(len(level) > LONGEST_LEVEL or _BAD.search(level) for level in levels):
            return "long texts"
        if self.numbers(name) is None or self.is_crossed(name):
            return ""
        if self.is_measure(name):
            return f"{n:,} different numbers that are measured of an answer, by its name"
        return f"{n:,} different numbers: too many for a factor" if n > _MOST_NUMBERS else ""

    def is_measure(self, name: str) -> bool:
        """Return True for a column that says what was measured of an answer, by its name."""
        return _MEASURE.search(name_of(name) if re.search(r"[a-z]", name) else name) is not None

    def is_counter(self, name: str) -> bool:
        """Return True for a column that counts or names rows, by its name."""
        return bool(_COUNTER.search(name))

    def says(self, first: str, second: str) -> bool:
        """Return True if the first column says what the second one is, and has more levels (a name says a gender)."""
        pairs = set(zip(self.columns[first], self.columns[second], strict=True))
        return len(pairs) == len(set(self.columns[first])) and len(pairs) > len(self.levels(second))

    def is_another_of(self, first: str, second: str) -> bool:
        """Return True if two columns say the same in other words (a name and its score, put into the prompt)."""
        pairs = set(zip(self.columns[first], self.columns[second], strict=True))
        return len(pairs) == len(set(self.columns[first])) == len(set(self.columns[second]))

    def from_one(self, column: str) -> str:
        """Return the `--map` of a column of numbers, which may be counted from 0."""
        return f"{column}+1" if "0" in self.levels(column) else column

    def is_crossed(self, name: str) -> bool:
        """Return True if all levels of a column are about equally frequent: those of a design are, answers are not."""
        counts = Counter(self.columns[name]).values()
        return max(counts) <= _EVEN * min(counts)


def number_of(text: str) -> float:
    """Return about what a number is, to tell columns of numbers by: its last mark is before decimals, unless there are
    several of one kind."""
    plain = re.sub(r"[^\d.,e+-]", "", text.lower().replace("−", "-").replace("–", "-"))
    marks = re.findall(r"[.,]", plain)
    if len(marks) > 1 and marks[-1] == marks[-2]:
        return float(re.sub(r"[.,]", "", plain))
    whole, _, decimals = plain.replace(",", ".").rpartition(".")
    return float(f"{whole.replace('.', '')}.{decimals}" if whole or marks else decimals)


def without_accents(text: str) -> str:
    """Return a text with its letters as they are without marks: modèle is modele."""
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def name_of(column: str, reserved: Iterable[str] = ()) -> str:
    """Return the name that a study may have for a column; StudyError if no letters are left."""
    made = re.sub(r"[^a-z0-9]+", "_", without_accents(column.casefold())).strip("_")[:36]
    if not made or not made[0].isalpha():
        made = f"column_{made}" if made else ""
    if not made:
        raise StudyError(f'the column "{column}" makes no name of a study: that has letters from a to z')
    return f"{made}_1" if made in set(reserved) else made
