"""A row of a stranger's conversation, for a design that can't plan what comes next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slant.collector.records import Trial


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """`game` is what the file calls the conversation, `number` which one it is (from 1), `round` the place in it; what
    a file doesn't say is empty or None. `factors` are those of an export, nothing of which has been checked."""

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
"""Gives the id of the conversation and the trial; StudyError, whose text goes on after "this row …", where that can't
be."""
