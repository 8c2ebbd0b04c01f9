"""Columns and models of a file that go by other names than ours: `--map` and `--map-model`.

What `--map` says of a column of ours, on the right of its first `=`:
  response              the file's column, or a field inside one: response.usage.tokens, choices[0].text
  =flowers_insects      a value that all rows share (written test==flowers_insects)
  prompt_id+1           numbers that the file counts from 0
  {file}                the name of the file, without its ending
  custom_id#-_2         of a text, the second of the parts with "-" or "_" between them
  a:b:c or rating_*     of `item:answer`: a row for each of these columns, whose name is the item and whose cell the
                        answer; of rating_* the item is what the star matches

Names that other people give our columns, by the files in which they do (columns.csv; the first name goes first), and,
as "told", names that tell what a column is, or that it is none of ours."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from slant.collector.errors import UnknownNameError, UsageError, check_known
from slant.collector.importing.files.kinds import Problem, Row, fault_in
from slant.collector.importing.files.table_file import TableFile
from slant.collector.importing.layouts.values import CellError, is_empty, shown, whole_number, word
from slant.collector.system.json_text import json_or

with (Path(__file__).parent / "columns.csv").open(encoding="utf-8", newline="") as _file:
    _ROWS = list(csv.DictReader(_file))


def names_in(files: str) -> Mapping[str, tuple[str, ...]]:
    """Return the names of each of our columns in files of this kind, in the order of the table."""
    return {row["column"]: tuple(row["names"].split()) for row in _ROWS if row["files"] == files}


def ours_by_name(files: str) -> dict[str, str]:
    """Return slant's column for each name in files of this kind."""
    return {name: ours for ours, names in names_in(files).items() for name in names}


VALUES = {row["column"]: row["values"] for row in _ROWS if row["files"] == "any"}
"""What values a column must have, if its name alone is to tell it."""


DECIMALS = (".", ",")
_NUMBERS = (
    "tokens", "reasoning_tokens", "output_tokens", "reasoning_tokens_recounted", "input_tokens", "wording",
    "repetition", "position", "cost_usd", "option_a_logprob", "option_b_logprob",
)  # fmt: skip
_PART = re.compile(r"(.+)#([\W_]+)(\d{1,3})")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_GROUPED = {mark: re.compile(rf"[+-]?\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+") for mark in DECIMALS}
_LOOKED_AT = 1_000
FILE = "{file}"


@dataclass(frozen=True)
class Field:
    """Say where a cell of ours is in a row of the file: its column, the steps inside it, which part of it (by the signs
    between parts, the first is 1), and what is added to it."""

    column: str
    steps: tuple[str | int, ...] = ()
    added: int = 0
    part: tuple[str, int] | None = None

    def cell(self, cells: Mapping[str, Any]) -> Any:
        value = cells.get(self.column)
        for step in self.steps:
            value = _inside(value, step)
        if self.part is not None:
            parts = parts_of(word(value), self.part[0])
            value = parts[self.part[1] - 1] if 0 < self.part[1] <= len(parts) > 1 else None
        if self.added and not is_empty(value):
            return whole_number(value, self.column) + self.added
        return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) and self.steps else value


@dataclass(frozen=True)
class Plan:
    """Say how the rows of one file become ours: `fields` by our names, `long` our two names and the columns by item."""

    fields: Mapping[str, Field]
    long: tuple[tuple[str, str, Mapping[str, str]], ...] = ()

    @property
    def long_columns(self) -> set[str]:
        return {name for _, _, columns in self.long for name in columns.values()}


@dataclass(frozen=True)
class Names:
    """Hold names: `columns`, where ours are in the file, as typed; `constants`: what all rows share; `long`: columns
    that become rows, as (ours for the name, ours for the cell, theirs); `models`: a model's name by the file's;
    `from_zero`: our columns whose numbers the files count from 0; `decimal`: the mark before decimals, None if nobody
    said it."""

    columns: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    long: tuple[tuple[str, str, str], ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    from_zero: frozenset[str] = frozenset()
    decimal: str | None = None

    def columns_of(self, file: TableFile) -> list[str]:
        """Return the columns of a file by our names; UnknownNameError if it lacks one that is mapped."""
        header = file.columns
        plan = self.plan(file)
        used = {field.column for field in plan.fields.values()} | plan.long_columns
        ours = [
            *(name for name in plan.fields if name not in plan.long_columns),
            *self.constants,
            *(name for of_item, of_cell, _ in plan.long for name in (of_item, of_cell)),
        ]
        return list(dict.fromkeys([*(name for name in header if name not in used and name not in ours), *ours]))

    def columns_read(self, file: TableFile) -> set[str]:
        """Return the file's own names of the columns that are mapped."""
        plan = self.plan(file)
        return {field.column for field in plan.fields.values()} | plan.long_columns

    def rows(self, file: TableFile) -> Iterator[Row | Problem]:
        """Yield the rows of a file by our names; a row that holds several answers is several."""
        is_renamed = bool(self.columns or self.constants or self.long)
        plan = self.plan(file) if is_renamed else Plan({})
        is_ambiguous = self.decimal is None and file.delimiter == ";"
        reads_numbers = self.decimal is not None or is_ambiguous
        named = {FILE: file.stem} if FILE in self.columns.values() else {}
        for row in file.rows():
            if isinstance(row, Problem) or not (is_renamed or reads_numbers):
                yield row
                continue
            if named:
                row = replace(row, cells={**row.cells, **named})
            try:
                for cells in self._ours(row, plan) if is_renamed else (row.cells,):
                    yield Row(row.file, row.line, self._with_numbers(cells, file) if reads_numbers else cells)
            except CellError as error:
                yield Problem(row.file, row.line, str(error))

    def plain_columns(self, file: TableFile, ours: Iterable[str]) -> dict[str, str] | None:
        """Return these columns by slant's names, if all are entire columns of the file, unchanged; None if one of them
        is something else (a field inside a field, a value for all rows, numbers with marks)."""
        if self.constants or self.long or self.decimal is not None or file.delimiter == ";":
            return None
        if FILE in self.columns.values():
            return None
        header = file.columns
        fields = self.plan(file).fields
        found = {}
        for name in ours:
            field = fields.get(name, Field(name))
            if field.steps or field.added or field.part:
                return None
            if field.column in header and (name in fields or field.column not in {f.column for f in fields.values()}):
                found[name] = field.column
        return found

    def model(self, name: str) -> str:
        return self.models.get(name, name)

    def plan(self, file: TableFile) -> Plan:
        """Return the plan that turns rows of a file into slant's."""
        header = file.columns
        fields = {ours: self._field(file, header, ours, theirs) for ours, theirs in self.columns.items()}
        long = tuple((*names, _columns_named(file, [*header, *fields], theirs)) for *names, theirs in self.long)
        return Plan(fields, long)  # type: ignore[arg-type]

    def _field(self, file: TableFile, header: Sequence[str], ours: str, theirs: str) -> Field:
        if theirs.lower() in header or theirs == FILE:
            return Field(theirs.lower())
        plain, plus, added = theirs.rpartition("+")
        if plus and added.isdecimal():
            return replace(self._field(file, header, ours, plain), added=int(added))
        if (part := _PART.fullmatch(theirs)) is not None:
            return replace(self._field(file, header, ours, part[1]), part=(part[2], int(part[3])))
        columns = [name for name in header if name and re.match(rf"{re.escape(name)}[.\[]", theirs.lower())]
        if not columns:
            raise UnknownNameError(f"column (of --map {ours}={theirs}) in {file.name}", theirs, header)
        column = max(columns, key=len)
        path = theirs[len(column) :]
        steps = [step[0] or int(step[1]) for step in _STEP.findall(path)]
        if "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps) != path:
            raise UsageError(f"Can't read --map {ours}={theirs}.", "Fields inside fields go as in a.b[0].c")
        inner = Field(column, tuple(steps))
        some = [row for row in islice(file.rows(), _LOOKED_AT) if isinstance(row, Row)]
        if some and all(inner.cell(row.cells) is None for row in some):
            raise UsageError(
                f"Can't find {theirs} (of --map {ours}={theirs}) in {file.name}.", _inner_names(some, inner)
            )
        return inner

    def _ours(self, row: Row, plan: Plan) -> Iterator[dict[str, Any]]:
        taken = {field.column for field in plan.fields.values() if not field.steps and field.part is None}
        cells = dict(row.cells)
        tables = {field.column for field in plan.fields.values() if isinstance(cells.get(field.column), dict)}
        for name in (taken | tables - {"answer"}) - plan.fields.keys():
            cells.pop(name, None)
        found = {ours: field.cell(row.cells) for ours, field in plan.fields.items()}
        if fault := fault_in(found.values()):
            raise CellError(fault)
        cells |= {**found, **self.constants}
        if not plan.long:
            yield cells
            return
        kept = {name: cell for name, cell in cells.items() if name not in plan.long_columns}
        for item in dict.fromkeys(item for _, _, columns in plan.long for item in columns):
            long = dict(kept)
            for of_item, of_cell, columns in plan.long:
                if item in columns:
                    long |= {of_item: item, of_cell: {**row.cells, **found}.get(columns[item])}
            yield long

    def _with_numbers(self, cells: Mapping[str, Any], file: TableFile) -> Mapping[str, Any]:
        numbers = {name: cells[name] for name in _NUMBERS if isinstance(cells.get(name), str)}
        return {**cells, **{name: self._number(name, text.strip()) for name, text in numbers.items()}}

    def _number(self, name: str, text: str) -> str:
        if self.decimal is None:
            if _GROUPED["."].fullmatch(text) or ("," in text and not is_empty(text)):
                raise CellError(
                    f"{name} is {shown(text)}, which is read one way with a decimal point and another with a decimal "
                    "comma: say which by --decimal . or --decimal ,"
                )
            return text
        other = DECIMALS[self.decimal == "."]
        whole, mark, decimals = text.partition(self.decimal)
        if other in decimals or (other in whole and not _GROUPED[other].fullmatch(whole)):
            raise CellError(f"{name} is {shown(text)}, which is no number with the decimal mark {self.decimal}")
        return whole.replace(other, "") + ("." if mark else "") + decimals


def parts_of(text: str, signs: str) -> list[str]:
    """Return the parts of a text that has one or more of these signs between them."""
    return [part.strip() for part in re.split(f"[{re.escape(signs)}]+", text)]


def _inside(value: Any, step: str | int) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = json_or(value)
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else None
    if not isinstance(value, dict):
        return None
    if step in value:
        return value[step]
    return next((inner for name, inner in value.items() if str(name).lower() == step.lower()), None)


def _inner_names(rows: Sequence[Row], field: Field) -> str:
    names: dict[str, None] = {}
    for row in rows:
        value = Field(field.column, field.steps[:-1]).cell(row.cells)
        value = json.loads(value) if isinstance(value, str) and value.startswith("{") else value
        names.update(dict.fromkeys(map(str, value)) if isinstance(value, dict) else {})
    return f"There it has: {', '.join(list(names)[:12])}." if names else "No row has fields there."


def _columns_named(file: TableFile, header: Sequence[str], theirs: str) -> dict[str, str]:
    """Return the columns by their items: of `rating_*` what the star matches, else the column's own
    name.
    """
    columns: dict[str, str] = {}
    for part in theirs.lower().split(":"):
        if "*" not in part:
            check_known(f"column (of --map …={theirs}) in {file.name}", part, header)
            columns[part] = part
            continue
        if not (matching := starred(part, header)):
            raise UnknownNameError(f"columns (of --map …={theirs}) in {file.name}", part, header)
        columns |= matching
    return columns


def starred(pattern: str, names: Iterable[str]) -> dict[str, str]:
    """Return the matched names of a pattern with a star, keyed by the text in place of the star."""
    before, _, after = pattern.partition("*")
    n = len(before) + len(after)
    matching = (name for name in names if len(name) > n and name.startswith(before) and name.endswith(after))
    return {name[len(before) : len(name) - len(after)]: name for name in matching}


def pairs(values: Iterable[str], option: str, example: str) -> list[tuple[str, str]]:
    """Return both sides of each `=`, several with commas between them; UsageError if there is none."""
    pairs_given: list[tuple[str, str]] = []
    for text in (part for words in values for part in words.split(",")):
        left, is_there, right = (part.strip() for part in text.partition("="))
        if not left or not is_there or not right or right == "=":
            raise UsageError(f"{option} must be NAME=NAME, as in {option} {example}, but is {text}.")
        pairs_given.append((left, right))
    return pairs_given


def names(columns: Sequence[str] = (), models: Sequence[str] = (), decimal: str | None = None) -> Names:
    """Return the names of the options: `answer=response,tokens=n_tok` (ours=theirs), `x-1=local/x` (the file's=the
    model)."""
    if decimal is not None and decimal not in DECIMALS:
        raise UnknownNameError("decimal mark", decimal, DECIMALS)
    given = pairs(columns, "--map", "answer=response,tokens=n_tok")
    plain = [(ours, theirs) for ours, theirs in given if ":" not in ours]
    return Names(
        {ours: theirs for ours, theirs in plain if not theirs.startswith("=")},
        {ours: theirs[1:].strip() for ours, theirs in plain if theirs.startswith("=")},
        tuple((ours.partition(":")[0], ours.partition(":")[2], theirs) for ours, theirs in given if ":" in ours),
        dict(pairs(models, "--map-model", "x-1=local/x")),
        decimal=decimal,
    )


def counted_from_zero(values: Mapping[str, set[str]], wordings: Sequence[int]) -> frozenset[str]:
    """Return the columns of slant that are numbered from 0, where ours begin at 1: a 0 is among them, and one more is
    none of the study's (of wordings). `values` are the different values of a column in all files."""
    found = set()
    for name, texts in values.items():
        numbers = {int(float(text)) for text in texts if re.fullmatch(r"\d{1,9}(?:\.0*)?", text)}
        known = set(wordings) if name == "wording" else None
        if 0 in numbers and (known is None or (0 not in known and {number + 1 for number in numbers} <= known)):
            found.add(name)
    return frozenset(found)
