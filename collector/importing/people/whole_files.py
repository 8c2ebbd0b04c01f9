"""Read a whole file of people's answers at once.

People who give the same answer to the same question differ only in their number, so each such answer is placed and read
once. A file in which anything needs a sentence is left to the reader of single rows, which says where it is.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.collector.errors import StudyError
from slant.collector.importing.files.kinds import tidy_name
from slant.collector.importing.files.table_file import IMPORT_ID, scanned
from slant.collector.importing.files.tool_logs import has_choices
from slant.collector.importing.layouts.values import CellError, MissingAnswerError, OtherRowError
from slant.collector.importing.people.columns import PREVIEWS, FileColumns, Persons
from slant.collector.importing.people.reader import DIRECTIONS, PHASES, PeopleReader
from slant.collector.records import Attempt

ROW, ID, SHARED = "row of the file", "participant", "shared_no"
_MISSING = ("", "NA")
_PLACE = (
    "test", "condition", "item", "wording", "group", "option_a", "option_b", "expected", "answer", "is_error",
    "correct",
)  # fmt: skip
_OF_ROWS = ("position", "response_time_ms", "phase", "repetition", "page_width_px", "options_direction")
_NOT_HERE = ("round", "game", "is_success", "answered_at")


@dataclass(frozen=True)
class WholeAnswers:
    """Hold the answers of one file: `shared` by number, and a row for each person; `n_missing` and `n_other` were not
    taken."""

    shared: Sequence[Attempt]
    rows: pl.DataFrame
    n_missing: int
    n_other: int
    n_previews: int


def whole_answers(file: FileColumns, reader: PeopleReader, persons: Persons) -> WholeAnswers | None:
    """Return the answers of a file; None if it has to be read row by row."""
    if file.file.kind not in ("csv", "parquet") or reader.places_itself or file.has_steps or reader.decimal:
        return None
    if reader.is_placed_by((*file.header, *file.fields)):
        return None
    try:
        frame = _read(file)
        if frame is None:
            return None
        frame, n_previews = _without_rows_of_service(file, frame)
        numbered = _numbered(file, frame, persons)
        return None if numbered is None else _answers(file, reader, numbered, n_previews)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, csv.Error, CellError, StudyError):
        return None


def _read(file: FileColumns) -> pl.DataFrame | None:
    """Return the rows as texts by our names; columns that become rows keep theirs."""
    fields = file.fields
    if set(fields) & set(_NOT_HERE) or (set(file.header) & set(_NOT_HERE) - set(fields.values())):
        return None
    if has_choices(file.header):
        return None
    path, delimiter = file.file.path.absolute(), file.file.delimiter
    # strict, unlike a first look: a broken row needs a sentence with its line
    scan = (
        scanned(path)
        if delimiter is None
        else pl.scan_csv(path, glob=False, separator=delimiter, infer_schema=False, raise_if_empty=True)
    ).rename(tidy_name)
    ours = dict(fields)
    taken = set(ours.values())
    ours |= {name: name for name in file.header if name in file.kept and name not in ours and name not in taken}
    columns = [pl.col(column).cast(pl.String).str.strip_chars().alias(name) for name, column in ours.items()]
    columns += [pl.col(name).cast(pl.String).str.strip_chars() for name in file.long_columns]
    columns += [pl.col("status").alias("status of the row")] if file.is_of_qualtrics and "status" in file.header else []
    columns += [pl.lit(value).alias(name) for name, value in file.called.constants.items()]
    if delimiter is not None and _has_short_rows(path, delimiter, scan):
        return None
    return scan.select(columns).with_row_index(ROW).collect()


def _has_short_rows(path: Path, delimiter: str, scan: pl.LazyFrame) -> bool:
    """Return True if a row has fewer fields than the header. Polars fills them up; a cut row is no missing answer."""
    names = scan.collect_schema().names()
    if not scan.select(pl.col(names[-1]).is_null().any()).collect().item():
        return False  # every row reaches the last column
    with path.open(encoding="utf-8-sig", newline="") as file:
        return any(0 < len(row) < len(names) for row in csv.reader(file, delimiter=delimiter))


def _without_rows_of_service(file: FileColumns, frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    if not file.is_of_qualtrics:
        return frame, 0
    second = frame.row(1)
    if any(isinstance(cell, str) and IMPORT_ID.match(cell) for cell in second):
        frame = frame.slice(2)
    if "status of the row" not in frame.columns:
        return frame, 0
    is_preview = pl.col("status of the row").str.to_lowercase().is_in(PREVIEWS).fill_null(False)
    kept = frame.filter(~is_preview)
    return kept.drop("status of the row"), frame.height - kept.height


def _numbered(file: FileColumns, frame: pl.DataFrame, persons: Persons) -> pl.DataFrame | None:
    """Return the rows with a number for each person in the place of an id, and note the people's attributes."""
    if ID not in frame.columns or frame[ID].is_null().any() or (frame[ID] == "").any():
        return None
    ids = frame.select(ID, *persons.names_in(frame.columns)).unique(maintain_order=True)
    if ids[ID].n_unique() < ids.height:  # two values of one thing for one person
        return None
    numbers = persons.take(ids.rows(named=True), ID)
    by_id = pl.DataFrame({ID: ids[ID], "number": numbers}, schema_overrides={"number": pl.Int32})
    return frame.join(by_id, on=ID, how="left", maintain_order="left").drop(ID, *persons.names_in(frame.columns))


def _answers(file: FileColumns, reader: PeopleReader, frame: pl.DataFrame, n_previews: int) -> WholeAnswers | None:
    parts = [_long(frame, *long) for long in file.long] or [frame]
    shared: list[Attempt] = []
    rows: list[pl.DataFrame] = []
    n_missing = n_other = 0
    for part in parts:
        place = [name for name in _PLACE if name in part.columns]
        different = part.group_by(place, maintain_order=True).len()
        known: list[int | None] = []
        for *cells, n in different.iter_rows():
            try:
                values = file.valued({name: cell for name, cell in zip(place, cells, strict=True) if cell is not None})
                attempt = reader.shared(values)
            except MissingAnswerError:
                n_missing, attempt = n_missing + n, None
            except OtherRowError:
                n_other, attempt = n_other + n, None
            known.append(None if attempt is None else len(shared))
            shared += [] if attempt is None else [attempt]
        numbered = different.select(place).with_columns(pl.Series(SHARED, known, pl.UInt32))
        placed = part.join(numbered, on=place, how="left", nulls_equal=True, maintain_order="left")
        taken = _measured(file, placed.filter(pl.col(SHARED).is_not_null()), shared)
        if taken is None:
            return None
        rows.append(taken)
    return WholeAnswers(shared, pl.concat(rows), n_missing, n_other, n_previews)


def _long(frame: pl.DataFrame, of_item: str, of_cell: str, columns: dict[str, str]) -> pl.DataFrame:
    """Return a row for each of these columns: its name as the item, its cell as the answer; person after person."""
    kept = [name for name in frame.columns if name not in columns.values()]
    names = {column: item for item, column in columns.items()}
    long = frame.unpivot(list(columns.values()), index=kept, variable_name=of_item, value_name=of_cell)
    return long.with_columns(pl.col(of_item).replace_strict(names, return_dtype=pl.String)).sort(
        ROW, maintain_order=True
    )


def _measured(file: FileColumns, placed: pl.DataFrame, shared: Sequence[Attempt]) -> pl.DataFrame | None:
    """Return the measures of each person; None if a measure can't be read, or a person has answered twice without a
    repetition."""
    lacking = [name for name in _OF_ROWS if name not in placed.columns]
    text = placed.with_columns(pl.lit(None, pl.String).alias(name) for name in lacking)
    text = text.with_columns(pl.when(~pl.col(n).is_in(_MISSING)).then(n).alias(n) for n in _OF_ROWS)
    if phases := file.values.get("phase"):
        folded = {theirs.casefold(): ours for theirs, ours in phases.items()}
        text = text.with_columns(pl.col("phase").str.to_lowercase().replace_strict(folded, default=None))
    numbers = text.select(
        SHARED,
        pl.col("number").alias("participant"),
        pl.col("repetition").cast(pl.Int32, strict=False),
        pl.col("position").cast(pl.Int64, strict=False),
        pl.col("response_time_ms").cast(pl.Float64, strict=False),
        pl.Series("is_error", [attempt.is_error for attempt in shared], pl.Boolean).gather(placed[SHARED]),
        pl.col("phase"),
        pl.col("page_width_px").cast(pl.Int32, strict=False),
        pl.col("options_direction"),
    )
    read = ("repetition", "position", "response_time_ms", "page_width_px")
    lost = sum(numbers[name].null_count() - text[name].null_count() for name in read)
    least = {"response_time_ms": 0, "repetition": 1, "page_width_px": 0}
    if lost or any((numbers[name] < number).any() for name, number in least.items()):
        return None
    words = {"phase": PHASES, "options_direction": DIRECTIONS}
    if any(not set(numbers[name].drop_nulls().unique()) <= set(known) for name, known in words.items()):
        return None
    # two answers to one question are two of what is shared, and one trial
    trials = {attempt.trial_id: number for number, attempt in enumerate(shared)}
    of_shared = pl.Series("trial", [trials[attempt.trial_id] for attempt in shared], pl.UInt32)
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("participant", of_shared.gather(numbers[SHARED]))
    counted = numbers.with_columns(place.alias("n"))
    says_nothing = pl.all_horizontal(pl.col(name).is_null() for name in ("repetition", "position", "phase"))
    if counted.filter((pl.col("n") > 1) & says_nothing).height:
        return None
    return counted.with_columns(pl.coalesce("repetition", "n").alias("repetition")).drop("n")


def lines_of(answers: WholeAnswers, first: int, n_at_once: int) -> Iterator[dict[str, Any]]:
    """Yield lines of a journal, each with what its rows share. `first` is the number of the first attempt."""
    fields = list(Attempt.__dataclass_fields__)
    for start in range(0, answers.rows.height, n_at_once):
        rows = answers.rows.slice(start, n_at_once)
        used = rows[SHARED].unique().sort()
        again = pl.DataFrame({SHARED: used}).with_row_index("here")
        rows = rows.join(again, on=SHARED, how="left", maintain_order="left").drop(SHARED).rename({"here": SHARED})
        listed = {name: rows[name].to_list() for name in rows.columns if rows[name].null_count() < rows.height}
        listed["sequence"] = list(range(first + start, first + start + rows.height))
        shared = (answers.shared[number] for number in used)
        shared_fields = [{n: v for n in fields if (v := getattr(attempt, n)) is not None} for attempt in shared]
        yield {"kind": "answers", "shared": shared_fields, "rows": listed}
