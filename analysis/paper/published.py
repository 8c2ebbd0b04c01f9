"""Read a study's printed numbers, and notes on them: the CSV that its file names (`published = "published.csv"`).

There is one row per number, in the order of the paper, or one per row of a printed table:

place, model, test, condition, quantity   where it is printed ("Table 1"), and what it is; empty ones do not apply.
For a game, `test` and `condition` are the variant and the format of answers.
printed         as in print ("0.10" is not "0.1"), after "> ", "< " or "near " if the print says so. A row of a table
has all its numbers: "d; ci_low; ci_high" in `quantity`, and "1.04; 0.95; 1.14" here.
tolerance       how far from the print is near enough; empty: half a unit of the last printed digit
source          the sentence that holds it, or another hint where it comes from
refusals_removed  only if the print distinguishes; empty: as in the study's fits, usually without refusals

Next to it may be published_scopes.csv (scope, model, condition: the print's names for several models together) and
published_notes.csv (kind, place, model, test, condition, quantity, tolerance, basis, note; a row
without a quantity is about the whole place, without a place about every place, with "d; ci_low" about both):

slip            the authors' own data, or the print itself, contradict the number
not checkable   no data that are public decide it
computed        how it is computed, if that isn't obvious
tolerance       why its tolerance is what it is; `basis` says what the number is if the answers are reconstructed
from the print: a "reproduction" (what was printed decides it), a "reconstruction" (it depends on what had
to be made up) or a "setting" of the fit. If it is "checked without raw data", the tolerance is that
of rows that are checked that way.
of the print    no answers of models are set next to it
no data         the note of a number without answers

The views that its numbers are recomputed from are those of one study in one database.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID
from slant.analysis.fitting.fits import FitRequest, Progress, fits_together
from slant.analysis.rows.views import read_view, rows_of_study
from slant.collector.errors import StudyError
from slant.collector.keep.database import reading, scratch_copy
from slant.collector.keep.frames import registered
from slant.collector.studies.catalogue import Study, load_variants
from slant.collector.system.scratch import temporary_folder

KEY = ("table", "model", "test", "refusals_removed", "condition", "quantity")
SCHEMA: dict[str, Any] = {
    "table": pl.String, "model": pl.String, "test": pl.String, "refusals_removed": pl.Boolean,
    "condition": pl.String, "quantity": pl.String, "printed": pl.String,
}  # fmt: skip
COLUMNS = ("place", "model", "test", "condition", "quantity", "printed", "tolerance")
TEXT = "text"
"""Name the place of a number that is not in a table."""
WITHOUT_DATA = "checked without raw data"
"""Name the basis of what other printed numbers, or the study's design, decide."""
NO_REFUSALS = "(-)"
"""Read this as printed for a cell without refusals that could be kept."""
_ENDS = {"human": "", "human_low": "_conf_low", "human_high": "_conf_high"}


def published_numbers(study: Study) -> pl.DataFrame:
    """Return KEY, printed, tolerance, source: every number in the order of the file. Raise StudyError if the study
    names no file, or one that lacks a column or a number."""
    if study.published is None:
        raise StudyError(
            f'There is nothing to compare "{study.name}" with: the study names no printed numbers.',
            'To give it some: published = "published.csv" in its TOML file, a CSV next to it with the columns',
            f"  {', '.join(COLUMNS)}",
        )
    name = study.published.name
    if not study.published.is_file():
        raise StudyError(f'The study "{study.name}" names {name}, but there is no such file.')
    frame = _texts(study.published, "quantity", "printed")
    if missing := [column for column in COLUMNS if column not in frame.columns]:
        raise StudyError(f'{name} has no column "{missing[0]}".', f"Its columns must be: {', '.join(COLUMNS)}.")
    if (empty := frame.filter(pl.col("printed").is_null())).height:
        raise StudyError(f'A row of {name} ("{empty["quantity"][0]}") has nothing in the column "printed".')
    return _typed(frame).with_columns(pl.col("table").fill_null("print")).select(*SCHEMA, "tolerance", "source")


def notes(study: Study, kind: str) -> pl.DataFrame:
    """Return KEY, tolerance, basis, note: the rows of this kind."""
    frame = _beside(study, "notes", "quantity")
    empty = {name: SCHEMA[name] for name in KEY} | {"tolerance": pl.Float64, "basis": pl.String, "note": pl.String}
    return pl.DataFrame(schema=empty) if frame is None else _typed(frame.filter(kind=kind)).select(*empty)


def not_checkable(study: Study) -> pl.DataFrame:
    """Return KEY and `note` of each number that no public data decide; a row of the file may cover a whole place."""
    rows = notes(study, "not checkable").select(*KEY, "note")
    whole = rows.filter(pl.col("quantity").is_null()).select("table", "note")
    numbers = published_numbers(study).select(KEY)
    return pl.concat([rows.drop_nulls("quantity"), numbers.join(whole, on="table", maintain_order="left")])


def scopes(study: Study) -> dict[str, list[tuple[str, str | None]]]:
    """Return the print's names for several models together: by name, the models, each with its condition or
    None.
    """
    frame = _beside(study, "scopes")
    cells: dict[str, list[tuple[str, str | None]]] = {}
    for row in [] if frame is None else frame.to_dicts():
        cells.setdefault(row["scope"], []).append((row["model"], row.get("condition")))
    return cells


def published_rows(study: Study, what: str, *several: str) -> pl.DataFrame:
    """Read another file of printed values, published_WHAT.csv; its columns are text. StudyError if it is missing.
    `several`: the columns that may hold the values of several rows."""
    frame = _beside(study, what, *several)
    if frame is None:
        raise StudyError(f'"{study.name}" has no file published_{what}.csv.')
    return frame


def is_of_print(study: Study) -> pl.Expr:
    """Return True for printed numbers that no answers are compared with."""
    named = notes(study, "of the print").select("table", "quantity")
    return pl.any_horizontal(pl.col(column.name).is_in(column.drop_nulls().to_list()) for column in named)


def is_main_table() -> pl.Expr:
    """Return whether a place is a table of the paper itself: not its text, not another version ("v1 S3")."""
    return ~pl.col("table").str.contains(r"^v\d") & (pl.col("table") != TEXT)


def half_unit(printed: str) -> float:
    """Return half a unit of the last printed digit: 0.005 for "1.04" and for "> 1.04", 5e-21 for "1.996e-17"."""
    mantissa, _, exponent = printed.lower().partition("e")
    return float(f"5e{int(exponent or 0) - len(mantissa.partition('.')[2]) - 1}")


def quantity_name() -> pl.Expr:
    """Return the quantity of "t005 max_reasoning_tokens", "topic 1 proportion_pct" and "is a refusal: Laurie"."""
    return pl.col("quantity").str.split(": ").list.first().str.split(" ").list.last()


def _beside(study: Study, what: str, *several: str) -> pl.DataFrame | None:
    path = study.published and study.published.with_name(f"{study.published.stem}_{what}.csv")
    return _texts(path, *several) if path is not None and path.is_file() else None


def _texts(path: Path, *several: str) -> pl.DataFrame:
    """Read a CSV as text. Where the first column of `several` has more values than one ("d; ci_low"), a row of the file
    is as many rows here; StudyError if the others have not as many."""
    rows = pl.read_csv(path, infer_schema=False, glob=False)
    if not several or not set(several) <= set(rows.columns):
        return rows
    has_more = pl.col(several[0]).str.contains(";", literal=True).fill_null(False)
    values = [pl.when(has_more).then(pl.col(name).str.split(";")).otherwise(pl.concat_list(name)) for name in several]
    rows = rows.with_columns(values)
    is_uneven = pl.any_horizontal(pl.col(name).list.len() != pl.col(several[0]).list.len() for name in several)
    for row in rows.filter(is_uneven.fill_null(True)).head(1).to_dicts():
        counts = " but ".join(f"{len(row[name] or [])} in {name}" for name in several)
        raise StudyError(
            f'A row of {path.name} ("{"; ".join(row[several[0]])}") has {counts}.',
            'Each takes a value, or is left out: "d; ci_low" with "1.04; 0.95".',
        )
    return rows.explode(several).with_columns(pl.col(several).str.strip_chars())


def _typed(frame: pl.DataFrame) -> pl.DataFrame:
    absent = [name for name in ("refusals_removed", "tolerance", "source") if name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    for text in frame["tolerance"].drop_nulls():
        try:
            float(text)
        except ValueError:
            raise StudyError(f'"{text}" in the column "tolerance" is no number.') from None
    flag = pl.col("refusals_removed").replace_strict({"true": True, "false": False}, default=None)
    return frame.rename({"place": "table"}).with_columns(flag.cast(pl.Boolean), pl.col("tolerance").cast(pl.Float64))


def read_human_levels(study: Study) -> pl.DataFrame:
    """Return the printed levels of people, the lines that figures compare models with: game_variant, index, human,
    human_low, human_high. There are no rows if the study prints none; numbers of a later version of the paper are
    excluded."""
    numbers = dict.fromkeys(_ENDS, pl.Float64)
    schema = {"game_variant": pl.String, "index": pl.String, **numbers}
    if study.published is None:
        return pl.DataFrame(schema=schema)
    people = published_numbers(study).filter(~is_of_print(study), model="humans")
    printed = {(row["test"], row["quantity"]): float(row["printed"]) for row in people.to_dicts()}
    rows = [
        (test, index, *(printed.get((test, index + end)) for end in _ENDS.values()))
        for test, index in printed
        if index in ("si", "bgd", "gasi")
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


GRAIN = ["source", "study_version", "variant"]
_SCHEMAS: dict[str, dict[str, Any]] = {
    "planned": {
        "study": pl.String, "usual_variant": pl.String, "test": pl.String, "test_no": pl.Int32, "model": pl.String,
        "model_no": pl.Int32, "condition": pl.String, "n_planned": pl.Int32, "is_asked_by_default": pl.Boolean,
    },
    "scopes": {
        "study": pl.String, "scope": pl.String, "scope_no": pl.Int32, "model": pl.String, "condition": pl.String,
    },
    "numbers": {
        "study": pl.String, "number_no": pl.Int32, **SCHEMA, "source": pl.String, "is_of_print": pl.Boolean,
    },
}  # fmt: skip


class StudyViews:
    """Read views of one study in one database, and its fits. Fits that are missing or out of date are made; in a copy
    if the database can't be written.
    """

    def __init__(self, db: str | Path, study: Study, workers: Workers = None, progress: Progress | None = None) -> None:
        self.db = db
        self.study = study
        self._workers = workers
        self._progress = progress
        self._call_ids: list[str] = []
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._copy = contextlib.ExitStack()

    def make_fits(self, wanted: Collection[FitRequest]) -> None:
        """Make these fits together; views of fits have only their rows."""
        fits = list({repr(request): request for request in wanted}.values())
        fitted = fits_together(self.db, self.study, fits, self._workers, self._progress)
        if fitted.not_kept:
            self.db = scratch_copy(Path(self.db), self._copy.enter_context(temporary_folder("work")))
            fitted = fits_together(self.db, self.study, fits, self._workers, self._progress)
        self._call_ids = fitted.calls[ID].to_list()

    def view(self, name: str) -> pl.DataFrame:
        """Return the rows of this study in a view."""
        with self.opened() as connection:
            return rows_of_study(read_view(connection, name), self.study.name)

    @cached_property
    def shortfalls(self) -> pl.DataFrame:
        """Return the view of this name."""
        return self.view("shortfalls")

    @contextmanager
    def opened(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the database, with the study's print and plan in the variables that views in sql/views/3_paper read;
        within the block, all views are read on this one connection.
        """
        if self._connection is not None:
            yield self._connection
            return
        with reading(self.db) as connection:
            connection.execute("SET VARIABLE compared_calls = ?", [self._call_ids])
            for name, frame in self._print.items():
                with registered(connection, "listed", frame):
                    connection.execute(f"SET VARIABLE {name} = (SELECT list(row) FROM listed row)")  # noqa: S608
            self._connection = connection
            try:
                yield connection
            finally:
                self._connection = None

    @cached_property
    def _print(self) -> dict[str, pl.DataFrame]:
        return {made.__name__: made(self.study) for made in (printed_numbers, printed_scopes, planned_cells)}


def printed_numbers(study: Study) -> pl.DataFrame:
    """Return the columns of the view printed_numbers; no rows for a study that prints none."""
    if study.published is None:
        return pl.DataFrame(schema=_SCHEMAS["numbers"]).rename({"table": "place"})
    numbered = published_numbers(study).with_row_index("number_no").with_columns(is_of_print=is_of_print(study))
    return numbered.with_columns(study=pl.lit(study.name)).select(*_SCHEMAS["numbers"]).rename({"table": "place"})


def printed_scopes(study: Study) -> pl.DataFrame:
    """Return the columns of the view printed_scopes."""
    rows = [
        (study.name, scope, number, model, condition)
        for scope, cells in scopes(study).items()
        for number, (model, condition) in enumerate(cells, start=1)
    ]
    return pl.DataFrame(rows, schema=_SCHEMAS["scopes"], orient="row")


def planned_cells(study: Study) -> pl.DataFrame:
    """Return the columns of the view planned_cells."""
    return pl.DataFrame(list(_planned(study)), schema=_SCHEMAS["planned"], orient="row")


def _planned(study: Study) -> Iterator[tuple[Any, ...]]:
    if not study.design.analyses.compares_variants:
        for (test_no, test), (model_no, model) in product(enumerate(study.tests, 1), enumerate(study.models, 1)):
            cell = (study.name, study.variants[0], test.test, test_no, model.model, model_no)
            yield (*cell, None, None, model.asked_by_default)
        return
    for test_no, (name, variant) in enumerate(load_variants(study.path).items(), 1):
        n_games = 1 if variant.data.is_pooled else variant.data.games
        frames: dict[str | None, str] = {None: variant.frame}
        frames |= {model.model: model.frame for model in variant.models}
        for model_no, (name_of_model, frame) in enumerate(frames.items()):
            yield (study.name, study.variants[0], name, test_no, name_of_model, model_no, frame or None, n_games, True)
