"""Tell what the columns of a file of answers are, whose rows say by themselves what was shown or played."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from slant.collector.errors import StudyError

PERSONS = (
    "participant", "participant_id", "person", "person_id", "subject", "subject_id", "subj", "respondent",
    "respondent_id", "responseid", "response_id", "worker", "worker_id", "pid", "player", "player_id", "user_id",
    "prolific_id", "session_id", "id",
)  # fmt: skip
LONGEST_LEVEL = 100
MOST_LEVELS = 1_000
TRUE, FALSE = ("1", "true", "yes", "1.0", "t", "y"), ("0", "false", "no", "0.0", "f", "n")
_BAD = re.compile(r"[\x00-\x1f\\]")
_NUMBER = re.compile(r"[-+−]?\d+(?:[.,]\d+)?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:$|[T ]\d\d:)|1[5-9]\d{8}(?:\d{3}|\.\d+)?$")
"""Match a day or a moment, which is when a row was written and nothing that was shown."""
_MISSING = ("", "na", "nan", "null", "<na>")
_EVEN = 1.25
"""How many times as often the most frequent level of a crossed factor may be there as the rarest one: rows are lost."""


@dataclass(frozen=True)
class AnswerTable:
    """Hold the columns of files, by tidied name: a text for each row, "" if there is none. `answers` are columns
    that a person said hold answers (`--map answer=…`), `model` the column of models, None if there is none."""

    columns: Mapping[str, Sequence[str]]
    answers: Sequence[str] = ()
    model: str | None = None

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
        return [value for value in dict.fromkeys(self.columns[name]) if value.lower() not in _MISSING]

    def numbers(self, name: str) -> list[float] | None:
        """Return the different numbers of a column, sorted; None if a value is no number."""
        levels = self.levels(name)
        if not levels or not all(_NUMBER.fullmatch(level) for level in levels):
            return None
        return sorted({float(level.replace("−", "-").replace(",", ".")) for level in levels})

    def is_flag(self, name: str) -> bool:
        """Return True if a column says yes or no, as words or as 0 and 1."""
        said = {value.lower() for value in self.levels(name)}
        return bool(said) and said <= {*TRUE, *FALSE}

    def can_be_factor(self, name: str) -> bool:
        """Return True if a column has some short levels in every row, of which each comes again."""
        values = self.columns[name]
        levels = self.levels(name)
        return (
            1 < len(levels) <= MOST_LEVELS
            and not all(map(_TIME.match, levels))
            and len(levels) * 2 <= len(values)
            and all(value.lower() not in _MISSING for value in values)
            and all(len(level) <= LONGEST_LEVEL and not _BAD.search(level) for level in levels)
        )

    def says(self, first: str, second: str) -> bool:
        """Return True if the first column says what the second one is, and has more levels (a name says a gender)."""
        known: dict[str, str] = {}
        pairs = zip(self.columns[first], self.columns[second], strict=True)
        return all(known.setdefault(one, other) == other for one, other in pairs) and len(known) > len(
            self.levels(second)
        )

    def is_crossed(self, name: str) -> bool:
        """Return True if all levels of a column are about equally frequent: those of a design are, answers are not."""
        counts = Counter(self.columns[name]).values()
        return max(counts) <= _EVEN * min(counts)


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
