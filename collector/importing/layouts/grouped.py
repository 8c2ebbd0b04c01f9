"""Puts rows of a file together that are one answer: some files have a row for each word of a list that was shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from slant.collector.importing.layouts.rows import Problem, Row
from slant.collector.importing.layouts.values import shown, word


@dataclass(slots=True)
class _Answer:
    first: Row
    lists: dict[str, list[Any]]
    problem: Problem | None = None


def grouped_rows(
    rows: Iterable[Row | Problem], of: Sequence[str], alike: Sequence[str], listed: Sequence[str]
) -> Iterator[Row | Problem]:
    """One row for each combination of the cells `of`, which may lie anywhere in the file, in the order of first rows.

    The cells `listed` become lists, in the order of the rows. The cells `alike` must be the same in all rows of an
    answer; it becomes a problem, at the row that says otherwise, where they are not. All else is that of the first row.
    Memory grows with the answers of a file, not with its rows: of a text that each of them repeats, one copy is kept.
    """
    answers: dict[tuple[str, ...], _Answer] = {}
    for row in rows:
        if isinstance(row, Problem):
            yield row
            continue
        key = tuple(word(row.cells.get(name)) for name in of)
        answer = answers.setdefault(key, _Answer(row, {name: [] for name in listed}))
        for name, values in answer.lists.items():
            values.append(row.cells.get(name))
        differs = next((name for name in alike if not _are_alike(name, row, answer.first)), None)
        if differs and answer.problem is None:
            answer.problem = _disagreement(differs, row, answer.first, of)
    for answer in answers.values():
        cells = {**answer.first.cells, **answer.lists}
        yield answer.problem or Row(answer.first.file, answer.first.line, cells)


def _are_alike(name: str, row: Row, first: Row) -> bool:
    ours, theirs = row.cells.get(name), first.cells.get(name)
    return bool(ours == theirs) or word(ours) == word(theirs)  # a NaN, an unknown number, equals no other


def _disagreement(name: str, row: Row, first: Row, of: Sequence[str]) -> Problem:
    here, before = (shown(word(each.cells.get(name))) for each in (row, first))
    rule = f"{name} must be the same in all rows of one answer (alike in {', '.join(of)})"
    return Problem(row.file, row.line, f"{rule}, but is {here} after {before}")
