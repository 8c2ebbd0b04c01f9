"""Sensitivity: the question of a study asked again in the other ways that its file names. `specifications()` fits those
that are not kept yet; one table of all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Answer, Call
from slant.analysis.calls.results import ID, Progress, Results, results, table_schema
from slant.analysis.fitting.engines import ENGINES, Engine
from slant.analysis.fitting.fit_plan import with_random
from slant.analysis.rows.cells import Cell, Rows, cut, read_rows, used_columns
from slant.analysis.rows.study_choice import no_rows, study_in
from slant.collector.errors import StudyError, UnknownNameError, UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.studies.catalogue import Fit, Specification, Study

TABLE = "sensitivity"
NUMBERS = (
    "estimand",
    "unit",
    "estimate",
    "std_error",
    "conf_low",
    "conf_high",
    "p_value",
    "p_positive",
    "d",
    "d_low",
    "d_high",
    "n",
    "n_left_out",
    "n_missing",
    "status",
    "messages",
)
"""What a row says of its fit; the other columns of the table say which fit it is."""


@dataclass(frozen=True)
class Work:
    """One fit: a specification, the fit of the study as the specification changes it, and the rows of one cell.

    `name`, `label` and `choices` name the level where the specification is one of a rotation. `row_no`: the place of
    the cell in the paper's order.
    """

    study: str
    name: str
    number: int
    label: str
    choices: Mapping[str, str]
    specification: Specification
    definition: Fit
    cell: Cell
    row_no: int

    @property
    def engine(self) -> Engine:
        return ENGINES[self.definition.engine]

    @property
    def arguments(self) -> dict[str, Any]:
        """Those of R's fit_specification()."""
        its = self.specification
        return {
            "engine": self.definition.engine,
            "arguments": self.engine.arguments(self.definition),
            "contrast": its.contrast,
            "drop_flags": list(its.drop_flags) or None,
            "drop_outcomes": list(its.drop_outcomes) or None,
            "missing_as": dict(its.missing_as) or None,
        }

    @cached_property
    def call(self) -> Call:
        cell, definition = self.cell, self.definition
        key = {name: cell.key[name] for name in ("source", "study_version", "variant")}
        return Call(
            "fit_specification",
            cell.rows,
            self.arguments,
            about={"study": self.study, "spec": self.name, **cell.key},
            tables={"estimates": TABLE},
            columns={
                **key,
                "study": self.study,
                "spec": self.name,
                "spec_no": self.number,
                "label": self.label,
                "choices": json.dumps(dict(self.choices), ensure_ascii=False),
                "fit": definition.name,
                "engine": definition.engine,
                "formula": self.engine.describe(definition),
            },
            fill={**{name: cell.key.get(name) for name in ("model", "test")}, "row_no": 1000 * self.row_no},
            shaped=self._shaped,
            failed=TABLE,
            warnings=cell.warnings,
            packages=self.engine.packages,
            cores="all" if self.engine.takes_all_cores else "one",
            says=self.name if self.engine.takes_all_cores else "",
            nested="arguments",
        )

    def _shaped(self, answer: Answer) -> dict[str, pl.DataFrame]:
        """Models and domains in the order of the rows, whichever level is the reference; a domain is a test here."""
        estimates = answer.frames["estimates"]
        names = [name for name in estimates.columns if name not in NUMBERS and name in self.cell.rows.columns]
        order = [_place(self.cell.rows[name]) for name in names]
        estimates = estimates.sort(order, maintain_order=True) if order else estimates
        heard = "\n".join([*(f"warning: {text}" for text in self.cell.warnings), *answer.messages])
        rows = [
            {
                **{name: row.get(name) for name in NUMBERS},
                **_cell_of(row),
                "row_no": 1000 * self.row_no + number,
                "messages": _with_error(heard, row["error"]),
                "status": _status(row["status"], self.cell.warnings),
            }
            for number, row in enumerate(estimates.to_dicts())
        ]
        return {"estimates": pl.DataFrame(rows, infer_schema_length=None)}


def _place(column: pl.Series) -> pl.Expr:
    values = column.cast(pl.String).unique(maintain_order=True).to_list()
    places = pl.col(column.name).cast(pl.String)
    return places.replace_strict(values, range(len(values)), default=None, return_dtype=pl.Int64)


def _with_error(heard: str, error: str) -> str:
    """R's reason why there is no number, where it is no condition of the fit itself."""
    flat = " ".join(error.split())
    return heard if not flat or flat in heard else "\n".join(filter(None, [heard, f"error: {flat}"]))


def _cell_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Model and test of a row, where the fit is of several: a domain is called a test in the database."""
    others = [str(row[name]) for name in row if name not in (*NUMBERS, "error", "model", "test") and row[name]]
    cell = {"model": row.get("model"), "test": row.get("test") or " / ".join(others)}
    return {name: str(value) for name, value in cell.items() if value}


def _status(status: str, warnings: Sequence[str]) -> str:
    return "warned" if warnings and status == "ok" else status


def specification_work(db: str | Path, study: Study, only: Sequence[str], source: str | None) -> list[Work]:
    """The fits of the named specifications (default: of all), in the study's order.

    StudyError where one can't be made, UnknownNameError for a name that is none.
    """
    for name in only:
        if name not in study.sensitivity:
            raise UnknownNameError(f"specification in the study {study.name}", name, list(study.sensitivity))
    every = enumerate(study.sensitivity.values(), start=1)
    numbered = [(number, one) for number, one in every if not only or one.name in only]
    merged = {one.name: _changed_fit(study, one) for _, one in numbered}
    views: dict[str, Rows] = {}
    for view in dict.fromkeys(fit.view for fit in merged.values()):
        wanted = [_with_columns(merged[one.name], one) for _, one in numbered if merged[one.name].view == view]
        views[view] = read_rows(db, study.name, wanted, None)
    return [
        work
        for number, one in numbered
        for work in _of_specification(study, number, one, merged[one.name], views[merged[one.name].view], source)
    ]


def _changed_fit(study: Study, one: Specification) -> Fit:
    """The fit that a specification starts from, with what it changes."""
    fit = study.fits[one.fit]
    where = f'The specification "{one.name}" of "{study.name}"'
    if fit.engine not in ENGINES:
        raise StudyError(f'{where} has the engine "{fit.engine}".', f"Engines there are: {', '.join(sorted(ENGINES))}.")
    known = ENGINES[fit.engine].settings
    for name in one.settings:
        if name not in known:  # nothing else may reach R: no paths to write to, for one
            raise UnknownNameError(f'setting of {fit.engine}, for the specification "{one.name}"', name, known)
    if one.formula is not None and "formula" not in ENGINES[fit.engine].needs:
        raise StudyError(f"{where} gives a formula, but {fit.engine} takes none.")
    settings = {name: value for name, value in fit.settings.items() if name in known}
    changed = replace(fit, formula=one.formula or fit.formula, settings={**settings, **one.settings})
    return with_random(changed)[0]


def _with_columns(fit: Fit, one: Specification) -> Fit:
    """The fit as `read_rows` takes it: with all columns that the specification needs, told as flags."""
    needed = (*one.drop_flags, *one.missing_as, one.contrast, *(["outcome"] if one.drop_outcomes else []))
    return replace(fit, drop_flags=tuple(dict.fromkeys(needed)))


def _of_specification(
    study: Study, number: int, one: Specification, fit: Fit, rows: Rows, source: str | None
) -> Iterator[Work]:
    for row_no, cell in enumerate(_cells(rows, _with_columns(fit, one), source), start=1):
        if one.rotate is None:
            yield Work(study.name, one.name, number, one.label, one.choices, one, fit, cell, row_no)
        else:
            for level, rotated in _rotations(fit, one.rotate, cell.rows):
                choices = {dimension: text.replace("{level}", level) for dimension, text in one.choices.items()}
                label = one.label.replace("{level}", level)
                yield Work(study.name, f"{one.name}:{level}", number, label, choices, one, rotated, cell, row_no)


def _cells(rows: Rows, fit: Fit, source: str | None) -> Iterator[Cell]:
    frame = rows.frame if source is None else rows.frame.filter(pl.col("source") == source)
    used = tuple(dict.fromkeys((*used_columns(fit, rows.columns), *fit.drop_flags)))
    yield from cut(frame, fit, used, (), rows.mixed)  # R leaves rows out, and counts them


def _rotations(fit: Fit, factor: str, rows: pl.DataFrame) -> Iterator[tuple[str, Fit]]:
    """Each level but the first as the reference, the others after it in their order."""
    if factor not in rows.columns:
        raise StudyError(f'Can\'t rotate "{factor}": it is not in the formula of "{fit.name}".')
    listed = [level for level in map(str, fit.levels.get(factor, ())) if level in set(rows[factor].to_list())]
    levels = listed or [str(level) for level in rows[factor].drop_nulls().unique(maintain_order=True).to_list()]
    for level in levels[1:]:
        turned = (level, *(other for other in levels if other != level))
        yield level, replace(fit, levels={**fit.levels, factor: turned})


_LAST = ("fit", "engine", "formula", "choices", "row_no", ID)


@dataclass(frozen=True)
class SensitivityResult:
    """table: one row a specification and cell, in the columns of the view `specifications` without its differences.

    not_kept: why the rows could not be written to the database; None where they were.
    """

    table: pl.DataFrame
    not_kept: str | None


def specifications(
    db: str | Path,
    study: str | Study | None = None,
    specs: Sequence[str] = (),
    source: str | None = None,
    workers: int | None = None,
    refit: bool = False,
    progress: Progress | None = None,
) -> SensitivityResult:
    """Fit the named specifications of `study` (default: all that its file has), and keep each as soon as it is there.

    What is unchanged (rows, question, R code, versions of R packages) is taken from the database, unless `refit`.
    A fit that fails is a row that says so. `workers` R processes (default: the cores).
    `progress(done, all)` is called after each.

    Raises UnknownNameError for a specification that there is not, UsageError where the study has none, DatabaseError
    without trials, RError without R.
    """
    asked = study_in(db, study, lambda known: bool(known.sensitivity), "has specifications")
    if not asked.sensitivity:
        raise UsageError(
            f'The study "{asked.name}" has no specifications.', "A study file has them as [sensitivity.NAME]."
        )
    works = specification_work(db, asked, specs, source)
    if not works:
        raise no_rows("fit", db, source)
    calls = [work.call for work in works]
    made = results(db, calls, refit=refit, workers=workers, progress=progress, raises=False)
    return SensitivityResult(_table(made, works), made.not_kept)


def kept_specifications(db: str | Path) -> pl.DataFrame:
    """All rows that the database keeps, whatever they were made of."""
    with reading(db) as connection:
        rows: pl.DataFrame = frame_of(connection.table(TABLE).order("rowid"))
    return rows


def _table(made: Results, works: Sequence[Work]) -> pl.DataFrame:
    """By cell, in it by specification; one of a rotation after the other."""
    calls = made.calls.select(ID, "data_hash", "versions", "seconds", fitted_at="ended_at")
    places = pl.DataFrame({ID: [work.call.id for work in works], "place": range(len(works))})
    rows = made.frames[TABLE].join(calls, on=ID, how="left", maintain_order="left").join(places, on=ID, how="left")
    ordered = rows.sort("source", "study_version", "variant", "row_no", "spec_no", "place", maintain_order=True)
    first = ("source", "study", "study_version", "variant", "spec", "spec_no", "label", "model", "test")
    numbers = [name for name in table_schema(TABLE) if name not in (*first, *_LAST)]
    return ordered.select(*first, *numbers, *_LAST, "data_hash", "versions", "seconds", "fitted_at")
