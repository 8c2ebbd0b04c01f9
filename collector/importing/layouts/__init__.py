"""A layout says how the columns of a file become ours: one module each, and one row in the table below.

A layout translates; what a study's cells are, how an answer is read and what is kept is the same for all of them
(collector/importing/rows.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from slant.collector.errors import UnknownNameError
from slant.collector.importing.layouts.bai import Bai
from slant.collector.importing.layouts.downstream import Downstream
from slant.collector.importing.layouts.lee_lai import LeeLai
from slant.collector.importing.layouts.rows import Problem, Row
from slant.collector.importing.layouts.tidy import Tidy
from slant.collector.study.records import Study

__all__ = ["GroupingLayout", "Layout", "Problem", "Row", "layout_named", "layout_names"]


class Layout(Protocol):
    """How one kind of file is translated."""

    has_turns: bool
    """True where drafts of a study of conversations are of turns, each with its number `turn` and `prompt_as_sent`."""

    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        """Warnings about a file as a whole. UsageError where it can't be of this layout; nothing is written then."""

    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        """The row under the names of collector/importing/layouts/tidy.py. CellError where it can't be read."""


@runtime_checkable
class GroupingLayout(Protocol):
    """A layout of files in which several rows are one answer, or one is several; each row of any other is one."""

    def grouped(self, study: Study, rows: Iterable[Row | Problem]) -> Iterator[Row | Problem]:
        """One row for each answer, for draft(), of the rows of a file."""


_LAYOUTS: dict[str, Layout] = {"tidy": Tidy(), "lee-lai": LeeLai(), "bai": Bai(), "downstream": Downstream()}


def layout_names() -> list[str]:
    return list(_LAYOUTS)


def layout_named(name: str) -> Layout:
    """The layout of this name; UnknownNameError if there is none."""
    if name not in _LAYOUTS:
        raise UnknownNameError("layout", name, _LAYOUTS)
    return _LAYOUTS[name]
