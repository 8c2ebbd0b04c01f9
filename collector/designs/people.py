"""Place answers of people by a design, because what each person met was drawn for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slant.collector.records import Trial

Cells = Mapping[str, Any]


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

    @abstractmethod
    def unit(self, cells: Cells) -> Hashable:
        """Return what rows of one unit of a person have in common."""

    @abstractmethod
    def answers(self, person: int, rows: Sequence[Cells]) -> Iterator[PlacedAnswer]:
        """Yield the answers of one unit; StudyError, whose text goes on after "this row …", if they can't be read."""
