"""What a layout is: how the columns of one kind of file become ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.importing.files.records import Problem, Row

__all__ = ["Layout", "Problem", "Row"]


class Layout(ABC):
    """Say how one kind of file is translated."""

    has_turns = False
    """True where drafts of a study of conversations are of turns, each with its number `turn` and `prompt_as_sent`."""

    skips_missing = False
    """True where an empty answer (or NA) is a missing one; elsewhere the layout itself says what it is."""

    @abstractmethod
    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        """Return warnings about a whole file. UsageError if it can't be of this layout; nothing is written then."""

    @abstractmethod
    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        """Return the row under the names of collector/importing/layouts/tidy.py. CellError if it can't be read."""

    def grouped(self, study: Study, rows: Iterable[Row | Problem]) -> Iterable[Row | Problem]:
        """Return one row for each answer, for draft(), of the rows of a file: several may be one answer, or one be
        several."""
        return rows
