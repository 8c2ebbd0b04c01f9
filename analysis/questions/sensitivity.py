"""Ask the question of a study again in the other ways that its file names. `specifications()` fits those that are not
kept yet; one table has all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Answer, Call
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID, table_schema
from slant.analysis.calls.results import Progress, Results, results
from slant.analysis.fitting.engines import ENGINES, Engine
from slant.analysis.fitting.fit_plan import with_random
from slant.analysis.rows.cells import OUTCOME, Cell, ViewRows, cells_of, read_rows, word_for
from slant.analysis.rows.study_choice import no_rows_error, study_in
from slant.collector.arguments import checked_arguments
from slant.collector.errors import StudyError, UsageError, check_known
from slant.collector.keep.database import opens_once, reading
from slant.collector.keep.frames import frame_of
from slant.collector.studies.catalogue import Fit, Specification, Study, fits_of

TABLE = "sensitivity"
NUMBERS = (
    *("estimand", "unit", "estimate", "std_error", "conf_low", "conf_high", "p_value", "p_positive"),
    *("d", "d_low", "d_high", "n", "n_left_out", "n_missing", "status", "messages"),
)
"""List what a row says about its fit; the other columns of the table say which fit it is."""


@dataclass(frozen=True)
class PlannedSpecification:
    """Hold one fit: a specification, the fit of the study as the specification changes it, and the rows of one cell.

    `name`, `label` and `choices` name the level if the specification is one of a rotation. `row_no`: the place of the
    cell in the paper's order.
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
        """Return the arguments of R's fit_specification()."""
        specification = self.specification
        return {
            "engine": self.definition.engine,
            "arguments": self.engine.arguments(self.definition),
            "contrast": specification.contrast,
            "drop_flags": list(specification.drop_flags) or None,
            "drop_outcomes": (list(specification.drop_outcomes) or None) if OUTCOME in self.cell.rows.columns else None,
            "missing_as": dict(specification.missing_as) or None,
        }

    @cached_property
    def call(self) -> Call:
        cell, definition = self.cell, self.definition
        key = {name: cell.key[name] for name in ("source", "study_version", "variant")}
        named = {"study": self.study, "spec": self.name, "spec_no": self.number, "label": self.label}
        choices = json.dumps(dict(self.choices), ensure_ascii=False)
        of_fit = {"fit": definition.name, "engine": definition.engine, "formula": self.engine.describe(definition)}
        return Call(
            "fit_specification",
            cell.rows,
            self.arguments,
            about={"study": self.study, "spec": self.name, **cell.key},
            tables={"estimates": TABLE},
            columns={**key, **named, "choices": choices, **of_fit},
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
        """Sort models and tests in the order of the rows, whichever level is the reference."""
        estimates = answer.frames["estimates"]
        columns = self.cell.rows.columns
        own = {name: word_for(name, columns) for name in estimates.columns if name not in NUMBERS}
        order = [_place(name, self.cell.rows[column]) for name, column in own.items() if column in columns]
        estimates = estimates.sort(order, maintain_order=True) if order else estimates
        messages = "\n".join([*(f"warning: {text}" for text in self.cell.warnings), *answer.messages])
        rows = [
            {
                **{name: row.get(name) for name in NUMBERS},
                **_cell_of(row),
                "row_no": 1000 * self.row_no + number,
                "messages": _with_error(messages, row["error"]),
                "status": "warned" if self.cell.warnings and row["status"] == "ok" else row["status"],
            }
            for number, row in enumerate(estimates.to_dicts())
        ]
        return {"estimates": pl.DataFrame(rows, infer_schema_length=None)}


def _place(name: str, column: pl.Series) -> pl.Expr:
    values = column.cast(pl.String).unique(maintain_order=True).to_list()
    places = pl.col(name).cast(pl.String)
    return places.replace_strict(values, range(len(values)), default=None, return_dtype=pl.Int64)


def _with_error(messages: str, error: str) -> str:
    """Add R's reason why there is no number, unless it is a condition of the fit itself."""
    flat = " ".join(error.split())
    return messages if not flat or flat in messages else "\n".join(filter(None, [messages, f"error: {flat}"]))


def _cell_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Return model and test of a row if the fit is of several."""
    other_values = [str(row[name]) for name in row if name not in (*NUMBERS, "error", "model", "test") and row[name]]
    cell = {"model": row.get("model"), "test": row.get("test") or " / ".join(other_values)}
    return {name: str(value) for name, value in cell.items() if value}


def plan_specifications(
    db: str | Path, study: Study, only: Sequence[str], source: str | None
) -> list[PlannedSpecification]:
    """Return the fits of the named specifications (default: of all), in the study's order.

    Raise StudyError if one can't be made, UnknownNameError for an unknown name.
    """
    for name in only:
        check_known(f"specification in the study {study.name}", name, study.sensitivity)
    changed = [
        (number, specification, _changed_fit(study, specification))
        for number, specification in enumerate(study.sensitivity.values(), start=1)
        if not only or specification.name in only
    ]
    fits_by_view: dict[str, list[Fit]] = {}
    for _, specification, fit in changed:
        fits_by_view.setdefault(fit.view, []).append(_with_columns(fit, specification))
    rows = {view: read_rows(db, study.name, fits, None) for view, fits in fits_by_view.items()}
    return [
        planned
        for number, specification, fit in changed
        for planned in _planned_fits(study, number, specification, fit, rows[fit.view], source)
    ]


def _changed_fit(study: Study, specification: Specification) -> Fit:
    """Return the fit that a specification starts from, with what it changes."""
    fit = fits_of(study)[specification.fit]
    subject = f'The specification "{specification.name}" of "{study.name}"'
    if fit.engine not in ENGINES:
        raise StudyError(
            f'{subject} has the engine "{fit.engine}".', f"Engines there are: {', '.join(sorted(ENGINES))}."
        )
    known_settings = ENGINES[fit.engine].settings
    for name in specification.settings:
        check_known(f'setting of {fit.engine}, for the specification "{specification.name}"', name, known_settings)
    if specification.formula is not None and "formula" not in ENGINES[fit.engine].needs:
        raise StudyError(f"{subject} gives a formula, but {fit.engine} takes none.")
    settings = {name: value for name, value in fit.settings.items() if name in known_settings}
    changed = replace(
        fit, formula=specification.formula or fit.formula, settings={**settings, **specification.settings}
    )
    return with_random(changed)[0]


def _with_columns(fit: Fit, specification: Specification) -> Fit:
    """Return the fit as `read_rows` takes it: with all columns that the specification needs, passed as flags."""
    needed = (*specification.drop_flags, *specification.missing_as, specification.contrast)
    return replace(fit, drop_flags=tuple(dict.fromkeys(needed)), drop_outcomes=specification.drop_outcomes)


def _planned_fits(
    study: Study, number: int, specification: Specification, fit: Fit, rows: ViewRows, source: str | None
) -> Iterator[PlannedSpecification]:
    name, label, choices = specification.name, specification.label, specification.choices
    whole = _with_columns(fit, specification)
    outcome = [OUTCOME] if specification.drop_outcomes and OUTCOME in rows.columns else []
    cells = cells_of(rows, whole, source, more=(*whole.drop_flags, *outcome))  # R leaves rows out, and counts them
    for row_no, cell in enumerate(cells, start=1):
        planned = PlannedSpecification(study.name, name, number, label, choices, specification, fit, cell, row_no)
        if specification.rotate is None:
            yield planned
            continue
        for level, rotated in _rotations(fit, specification.rotate, cell.rows):
            yield replace(
                planned,
                name=f"{name}:{level}",
                label=label.replace("{level}", level),
                choices={dimension: text.replace("{level}", level) for dimension, text in choices.items()},
                definition=rotated,
            )


def _rotations(fit: Fit, factor: str, rows: pl.DataFrame) -> Iterator[tuple[str, Fit]]:
    """Yield a level and the fit with it as the reference, for each level but the first."""
    if factor not in rows.columns:
        raise StudyError(f'Can\'t rotate "{factor}": it is not in the formula of "{fit.name}".')
    listed = [level for level in map(str, fit.levels.get(factor, ())) if level in set(rows[factor].to_list())]
    levels = listed or [str(level) for level in rows[factor].drop_nulls().unique(maintain_order=True).to_list()]
    for level in levels[1:]:
        reordered = (level, *(other for other in levels if other != level))
        yield level, replace(fit, levels={**fit.levels, factor: reordered})


_LAST = ("fit", "engine", "formula", "choices", "row_no", ID)


@dataclass(frozen=True)
class SensitivityResult:
    """Hold `table`: one row per specification and cell, in the columns of the view `specifications` without its
    differences.

    not_kept: why the rows could not be written to the database; None if they were.
    """

    table: pl.DataFrame
    not_kept: str | None


@checked_arguments()
@opens_once
def specifications(
    db: str | Path,
    study: str | Study | None = None,
    specs: Sequence[str] = (),
    source: str | None = None,
    workers: Workers = None,
    refit: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> SensitivityResult:
    """Fit the named specifications of `study` (default: all that its file has), and keep each as soon as it is made.

    What is unchanged (rows, question, R code, versions of R packages) is taken from the database, unless `refit`.
    A fit that fails is a row that says so. `workers` and `executor` are as for `fit()`.
    `progress(done, all)` is called after each.

    Raise UnknownNameError for an unknown specification, UsageError if the study has none, DatabaseError
    without trials, RError without R.
    """
    study = study_in(db, study, lambda candidate: bool(candidate.sensitivity), "has specifications")
    if not study.sensitivity:
        raise UsageError(
            f'The study "{study.name}" has no specifications.', "A study file has them as [sensitivity.NAME]."
        )
    plan = plan_specifications(db, study, specs, source)
    if not plan:
        raise no_rows_error("fit", db, source)
    calls = [planned.call for planned in plan]
    fit_results = results(db, calls, refit=refit, workers=executor or workers, progress=progress, raises=False)
    return SensitivityResult(_table(fit_results, plan), fit_results.not_kept)


def kept_specifications(db: str | Path) -> pl.DataFrame:
    """Return the rows that the database keeps of specifications, whatever they were made from."""
    with reading(db) as connection:
        rows: pl.DataFrame = frame_of(connection.table(TABLE).order("rowid"))
    return rows


def _table(fit_results: Results, plan: Sequence[PlannedSpecification]) -> pl.DataFrame:
    """Sort by cell, in it by specification; those of a rotation are consecutive."""
    calls = fit_results.calls.select(ID, "data_hash", "versions", "seconds", fitted_at="ended_at")
    places = pl.DataFrame({ID: [planned.call.id for planned in plan], "place": range(len(plan))})
    rows = (
        fit_results.frames[TABLE].join(calls, on=ID, how="left", maintain_order="left").join(places, on=ID, how="left")
    )
    ordered = rows.sort("source", "study_version", "variant", "row_no", "spec_no", "place", maintain_order=True)
    first = ("source", "study", "study_version", "variant", "spec", "spec_no", "label", "model", "test")
    numbers = [name for name in table_schema(TABLE) if name not in (*first, *_LAST)]
    return ordered.select(*first, *numbers, *_LAST, "data_hash", "versions", "seconds", "fitted_at")
