"""Place answers of people, and rows of foreign files, by a design: only it knows what each of them was shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from slant.collector.designs.plan import trial_of
from slant.collector.errors import StudyError
from slant.collector.records import Trial
from slant.collector.stable_ids import stable_id

if TYPE_CHECKING:  # designs import this module
    from slant.collector.designs.asks import Asks, Question
    from slant.collector.study.records import StudyFile, StudyModel

Cells = Mapping[str, Any]
TRUE, FALSE = ("1", "true", "yes", "1.0", "t", "y"), ("0", "false", "no", "0.0", "f", "n")
FLAGS = {**dict.fromkeys(TRUE, True), **dict.fromkeys(FALSE, False)}
_MISSING = ("", "NA", "<NA>", "NaN", "nan", "None")


@dataclass(frozen=True, slots=True)
class PlacedAnswer:
    """Hold one answer with its trial; `row` says which of the rows it is from. `conversation` is the trial itself if it
    is independent. The ids need not differ between people."""

    trial: Trial
    answer: Any
    row: int = 0
    conversation: str = ""
    turn: int = 1


class PeopleUnits(ABC):
    """Make answers of one person's rows: a task of several rows, or a game, is one unit."""

    needed: Sequence[str] = ()
    """List columns of which files have one if rows are to be placed this way; without any, rows are of planned
    trials."""
    columns: Sequence[str] = ()
    """List columns that are taken besides those of every import."""

    def notes(self) -> list[str]:
        """Return sentences on what was taken, for the end of the import."""
        return []

    def is_other(self, cells: Cells) -> bool:
        """Return True for a row that is of no task or game, such as the consent before it."""
        return False

    @abstractmethod
    def unit(self, cells: Cells) -> Hashable:
        """Return the key that rows of one unit of a person share."""

    @abstractmethod
    def answers(self, person: int, rows: Sequence[Cells]) -> Iterator[PlacedAnswer]:
        """Yield the answers of one unit; StudyError, whose text goes on after "this row …", if they can't be read."""


def cell_text(cells: Cells, name: str) -> str:
    """Return the text of a cell without white space around it; "" if it is missing."""
    value = cells.get(name)
    text = "" if value is None else str(value).strip()
    return "" if text in _MISSING else text


def rounds_in_order(rows: Sequence[Cells], of: str = "") -> list[int]:
    """Return the number of each row's round, from 1. StudyError, which says `of` how many rounds its games are, if one
    is missing between two, occurs twice or has no number."""
    said = [cell_text(row, "round").removesuffix(".0") for row in rows]
    numbers = [int(number) if number.isdecimal() else -1 for number in said]
    if sorted(numbers) == list(range(len(rows))):  # counted from 0
        numbers = [number + 1 for number in numbers]
    if sorted(numbers) != list(range(1, len(rows) + 1)):
        missing = sorted(set(range(1 - (0 in numbers), max(*numbers, 1) + 1)) - set(numbers))
        what = f"round {missing[0]} is missing" if missing else "a round is there twice, or has no number"
        raise StudyError(f"is of a game with {len(rows)}{of} rounds, of which {what}: none of it was taken")
    return numbers


def shown_trial(
    asks: Asks,
    study: StudyFile,
    model: StudyModel,
    question: Question,
    shown: Sequence[Any],
    content: str | None = None,
) -> Trial:
    """Return the trial of a question that a person was asked; `shown` tells trials of one test apart by their ids.
    `content`: that of the trial, where many have the same."""
    values: Mapping[str, Any] = {field.name: getattr(question, field.name) for field in fields(question)}
    trial_id = stable_id(study.name, "human", study.variant, question.test, *shown)
    trial = trial_of(study, model, trial_id, repetition=1, position=None, **values)
    trial.content = content or asks.content(study, model, trial)
    return trial


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """Hold a row of a game in a foreign file. `game` is what the file calls the conversation, `number` its number (from
    1), `round` the place in it; what a file doesn't say is empty or None. `factors` are those of an export, none of
    which has been checked."""

    test: str
    condition: str
    item: str
    group: str
    game: str
    number: int
    round: int | None
    factors: Mapping[str, Any]
    is_success: bool | None


TurnReader = Callable[[ImportedTurn], tuple[str, Trial]]
"""Return the id of the conversation and the trial; raise StudyError, whose text continues "this row …", if that is
impossible."""

RowPlacer = Callable[[Mapping[str, Any]], Mapping[str, str]]
"""Return the place of a row by our names, as its cells say it; empty if they say nothing of it. Raise StudyError as
above for what the study does not show."""
