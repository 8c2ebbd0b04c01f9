"""Describe rows of foreign files whose place in a study only the design knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slant.collector.records import Trial


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """Hold such a row. `game` is what the file calls the conversation, `number` its number (from 1), `round` the place
    in it; what a file doesn't say is empty or None. `factors` are those of an export, none of which has been
    checked."""

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
"""Return what the cells of a row say of its place, by our names; nothing if they say nothing of it. Raise StudyError as
above for what the study does not show."""
