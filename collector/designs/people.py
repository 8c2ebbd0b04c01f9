"""Answers of people that a design places itself, because what each person met was drawn for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slant.collector.records import Trial

Cells = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PlacedAnswer:
    """One answer with its trial; `row` says which of the rows it is from. `conversation` is the trial itself if it
    stands alone. The ids need not differ between people."""

    trial: Trial
    answer: Any
    row: int = 0
    conversation: str = ""
    turn: int = 1


class PeopleUnits(ABC):
    """How rows of one person become answers: a task of several rows, or a game, is one unit."""

    needed: Sequence[str] = ()
    """Columns one of which files have if rows are to be placed so; without any of these, rows are of planned trials."""
    columns: Sequence[str] = ()
    """Columns that are taken next to those of every import."""

    def notes(self) -> list[str]:
        """Return sentences on what was taken, to be said once at the end."""
        return []

    @abstractmethod
    def unit(self, cells: Cells) -> Hashable:
        """Return what rows of one unit of a person have in common."""

    @abstractmethod
    def answers(self, person: int, rows: Sequence[Cells]) -> Iterator[PlacedAnswer]:
        """Yield the answers of one unit; StudyError, whose text goes on after "this row …", if they can't be read."""
