"""Columns and models of a file that go by other names than ours: `--map` and `--map-model`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.importing.layouts import Problem, Row
from slant.collector.importing.layouts.rows import column_names, read_rows


@dataclass(frozen=True)
class Names:
    """`columns`: our name by the file's; `models`: a model's name by the file's."""

    columns: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)

    def columns_of(self, path: Path) -> list[str]:
        """The columns of a file by our names; UnknownNameError where it lacks one that is mapped."""
        header = column_names(path)
        for foreign, ours in self.columns.items():
            if foreign not in header:
                raise UnknownNameError(f"column (of --map {ours}={foreign}) in {path}", foreign, header)
        used = [name for name in header if name not in self.columns.values() or name in self.columns]
        return [self.columns.get(name, name) for name in used]

    def rows(self, path: Path) -> Iterator[Row | Problem]:
        for row in read_rows(path):
            yield row if isinstance(row, Problem) or not self.columns else replace(row, cells=self._cells(row))

    def _cells(self, row: Row) -> dict[str, object]:
        others = {name: cell for name, cell in row.cells.items() if name not in self.columns}
        return others | {ours: row.cells[foreign] for foreign, ours in self.columns.items() if foreign in row.cells}

    def model(self, name: str) -> str:
        return self.models.get(name, name)


def pairs(values: Iterable[str], option: str, example: str) -> list[tuple[str, str]]:
    """What stands on both sides of each `=`, several with commas between them; UsageError where there is none."""
    pairs_given: list[tuple[str, str]] = []
    for text in (part for words in values for part in words.split(",")):
        left, is_there, right = (part.strip() for part in text.partition("="))
        if not left or not is_there or not right:
            raise UsageError(f"{option} must be NAME=NAME, as in {option} {example}, but is {text}.")
        pairs_given.append((left, right))
    return pairs_given


def names(columns: Sequence[str] = (), models: Sequence[str] = ()) -> Names:
    """Of the options: `answer=response,tokens=n_tok` (ours=theirs), `x-1=local/x` (the file's=the model)."""
    ours = pairs(columns, "--map", "answer=response,tokens=n_tok")
    return Names({foreign.lower(): our for our, foreign in ours}, dict(pairs(models, "--map-model", "x-1=local/x")))
