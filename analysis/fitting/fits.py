"""Run an engine over every cell of a study and keep the result (`fit()`).

The study's TOML file says what is fitted (view, formula, levels), R/ says how. Here is only the way there and back.

Test whether an outcome differs between any of several groups, in words, for regressions without random effects.

A coefficient only compares one group with the first, and which one is first is a choice; these tests are of all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress as Progress
from slant.analysis.calls.results import Results, results
from slant.analysis.fitting.corrections import SHOWN, corrected_sentences, corrections_of
from slant.analysis.fitting.fit_plan import PlannedFit, plan_fits
from slant.analysis.fitting.frames import FitFrames
from slant.analysis.rows.cells import read_rows
from slant.analysis.rows.study_choice import Look, find_fits, new_looks, no_rows_error
from slant.collector.arguments import checked_arguments
from slant.collector.errors import UnknownNameError
from slant.collector.keep.database import opens_once
from slant.collector.screen_tables import in_digits, shown_p, table_as_html, table_as_text
from slant.collector.studies.catalogue import Study
from slant.collector.terminal import count_text

ASKED_FOR = (
    "estimate", "difference", "conf_low", "conf_high", "p_adjusted", "p_value", "model", "test", "term", "status",
)  # fmt: skip
"""List the columns of a fit's tables that stay at any width of a screen."""
_KEYS, _NUMBERS = ("model", "test", "term"), ("estimate", "conf_low", "conf_high", "p_value")
_CELL = ["source", "study", "study_version", "variant", "model", "test", "fit", "refusals_removed", "measure"]
_FRAMES = "Frames of it: .summary (short), .table (all columns), .diagnostics, .variances, .messages, .tables"


@dataclass(frozen=True)
class FitResult:
    """Hold what `fit()` found, in frames that each begin with source, study, study_version, variant, model, test, …

    Printed, it shows its estimates with their intervals; `summary` has them in eight columns. Each ends with `fit`, the
    study's name for the fit: a study may have several of one engine. table: one row per estimate: term, estimate,
    std_error, df, statistic, p_value, conf_low, conf_high (95 %). diagnostics: one row per fit: status (ok, singular,
    warned, failed), n, n_missing (rows without a count, left out), dropped (how many rows each flag of the fit left
    out, as in "is_refusal: 4"; null if it has no flag), n_groups, log_lik, aic, bic, singular, optimiser, messages,
    token_source, versions, seconds. A fit of trials that were not all asked or counted alike is never ok, and says so
    in its messages. variances: one row per variance component (variances, not standard deviations). messages: one row
    per warning, message or error of R: kind, text. tables: by engine and name, what only this engine has; empty frames
    if it was not used. topics: those of topic models (R's fit_stm() describes the frames): topics, words, prevalence,
    contrasts, shifts, correlations, examples, models. bayes: those of Bayesian models (R's fit_brms()): models,
    predictions, contrasts, checks, loo. With a Bayesian model among the fits, every frame has the columns is_converged
    and verdict. call_ids: of the fits in the database. not_kept: why the results could not be written to the database
    (a read-only file, for example); None if they were.
    """

    engine: str
    table: pl.DataFrame
    diagnostics: pl.DataFrame
    variances: pl.DataFrame
    messages: pl.DataFrame
    not_kept: str | None
    _save: Callable[[Path, dict[str, str]], None] = field(repr=False, compare=False)
    tables: Mapping[str, Mapping[str, pl.DataFrame]] = field(default_factory=dict, compare=False)
    call_ids: tuple[str, ...] = ()

    @property
    def summary(self) -> pl.DataFrame:
        """Return the requested estimates, narrow enough for Polars to show completely: one row per estimate, with
        model, test, term, estimate, conf_low, conf_high, p_value and the status of its fit."""
        statuses = self.diagnostics.select(*_CELL, "status").unique(_CELL, keep="first")
        rows = self.table.join(statuses, on=_CELL, how="left", nulls_equal=True, maintain_order="left")
        return rows.select(name for name in (*_KEYS, *_NUMBERS, "status") if name in rows.columns)

    def __repr__(self) -> str:
        return "\n".join([self._heading, table_as_text(self._shown, ASKED_FOR), *corrected_sentences(self), _FRAMES])

    def _repr_html_(self) -> str:
        """Return the result for notebooks."""
        return f"<p>{escape(self._heading)}</p>{table_as_html(self._shown, ASKED_FOR)}<p>{escape(_FRAMES)}</p>"

    @property
    def _heading(self) -> str:
        counts = self.diagnostics["status"].value_counts(sort=True).iter_rows()
        statuses = ", ".join(f"{n} {status}" for status, n in counts)
        kept = f" Not kept: {self.not_kept}" if self.not_kept else ""
        return f"{self.engine}: {count_text(self.diagnostics.height, 'fit')} ({statuses}).{kept}"

    @property
    def _shown(self) -> pl.DataFrame:
        compared = corrections_of(self)
        if not compared.is_empty():
            return in_digits(compared.select(SHOWN), 4)
        rows = self.table if not self.table.is_empty() else self.diagnostics.drop("versions", "messages", strict=False)
        return in_digits(rows, 4)

    @property
    def topics(self) -> Mapping[str, pl.DataFrame]:
        return self.tables["stm"]

    @property
    def bayes(self) -> Mapping[str, pl.DataFrame]:
        return self.tables["brms"]

    def r_object(self, path: str | Path, **cell: str) -> Path:
        """Fit again and save R's own objects to `path` (.rds; a list named by cell); return the path.

        `cell` narrows it down: `result.r_object("o3.rds", model="o3-mini", test="flowers_insects")`.
        """
        path = Path(path).resolve()
        self._save(path, cell)
        return path


@checked_arguments()
@opens_once
def fit(
    db: str | Path,
    study: str | Study | None = None,
    fit: str = "",
    source: str | None = None,
    refusals_removed: bool = True,
    measure: str | None = None,
    workers: Workers = None,
    refit: bool = False,
    progress: Progress | None = None,
    settings: Mapping[str, Any] | None = None,
    only: Mapping[str, Collection[str]] | None = None,
    executor: Executor | None = None,
) -> FitResult:
    """Fit each cell of `study` (default: of every study in the database that defines this fit) and keep the results.

    `fit` is the name of a fit, or of an engine for all fits of it. A cell whose rows, formula, R code and versions of R
    packages are unchanged is taken from the database, unless `refit`. A fit that fails is a row of `.diagnostics` with
    its reason. `workers` R processes (default: the cores) make them, or your own `executor`: any of concurrent.futures,
    including Dask's. `progress(done, all)` is called after each fit. `settings` replace those of the study file, as in
    `settings={"topics": 6}` for stm. `only` narrows it down to some cells, as in `only={"model": ["o3-mini"]}`.

    Raise UnknownNameError for an engine that no study here defines, DatabaseError without trials, RError without R.
    """
    which: dict[str, Any] = {"source": source, "measure": measure, "refusals_removed": refusals_removed}
    plan: list[PlannedFit] = []
    for fit_study, definition in find_fits(fit, db, study):
        plan += plan_fits(db, fit_study, definition, settings=settings, only=only, **which)
    if not plan:
        raise no_rows_error("fit", db, source)
    return _result(fit, _fitted(db, plan, executor or workers, refit, progress).of([work.call for work in plan]), plan)


@dataclass(frozen=True)
class FitRequest:
    """Hold one call of `fit()` among several that are made together: the name of a fit, and the same arguments."""

    fit: str
    refusals_removed: bool = True
    only: Mapping[str, Collection[str]] | None = None


@opens_once
def fits_together(
    db: str | Path,
    study: Study,
    requests: Sequence[FitRequest],
    workers: Workers = None,
    progress: Progress | None = None,
) -> Results:
    """Return the result of `fit()` for each request, computed by the same R processes; nothing for a request without
    cells."""
    pairs = [(request, definition) for request in requests for _, definition in find_fits(request.fit, db, study)]
    views = dict.fromkeys(definition.view for _, definition in pairs)
    rows = {view: read_rows(db, study.name, [d for _, d in pairs if d.view == view], None) for view in views}
    plan: list[PlannedFit] = []
    for request, definition in pairs:
        its, removed = rows[definition.view], request.refusals_removed
        plan += plan_fits(db, study, definition, refusals_removed=removed, only=request.only, rows=its)
    return _fitted(db, plan, workers, False, progress)


def _fitted(
    db: str | Path, plan: Sequence[PlannedFit], workers: Workers, refit: bool, progress: Progress | None
) -> Results:
    calls = list({work.call.id: work.call for work in plan}.values())
    beside = new_looks(db, map(_look, plan))
    return results(db, calls, refit=refit, workers=workers, progress=progress, beside=beside)


def _look(work: PlannedFit) -> Look:
    cell = work.cell
    n_trials = cell.rows.height + sum(cell.n_dropped.values())
    model, test = cell.key.get("model"), cell.key.get("test")
    return Look(work.study, cell.key["source"], cell.key["variant"], work.definition.name, model, test, n_trials)


def _result(engine: str, fit_results: Results, plan: Sequence[PlannedFit]) -> FitResult:
    frames = FitFrames(fit_results)
    usual = (frames.table, frames.diagnostics, frames.variances, frames.messages, fit_results.not_kept)
    ids = tuple(frames.fits["call_id"])
    return FitResult(engine, *usual, partial(_save_objects, plan), frames.of_engines(), ids)


def _save_objects(plan: Sequence[PlannedFit], path: Path, cell: dict[str, str]) -> None:
    cell_fits = [planned for planned in plan if cell.items() <= planned.cell.key.items()]
    if not cell_fits:
        keys = plan[0].cell.key
        raise UnknownNameError("cell", ", ".join(cell.values()), [", ".join(keys.values())], f"Columns: {list(keys)}")
    first = cell_fits[0]
    arguments = {**first.arguments, **first.asides, "save_to": str(path)}
    rows = first.cell.rows
    if not first.engine.files:  # one model that is kept is of the first cell: it can't be cut into several
        cells = [planned.cell for planned in cell_fits]
        rows = pl.concat([cell.rows.with_columns(**{k: pl.lit(v) for k, v in cell.key.items()}) for cell in cells])
        arguments["by"] = list(first.cell.key)
    call_arguments = {"engine": first.definition.engine, "arguments": arguments}
    answered(Call("run_fit", rows, call_arguments, packages=first.engine.packages))


_ENGINES = ("lm", "logistic", "clm", "clogit")


def term_tests(result: FitResult) -> Iterator[pl.DataFrame]:
    """Yield the rows of each engine that has such tests; F tests and likelihood ratio tests have other columns."""
    for engine in _ENGINES:
        if not (rows := result.tables[engine]["tests"]).is_empty():
            yield rows


def term_test_sentences(result: FitResult) -> list[str]:
    """Return a sentence for each test of several groups at once: "m, hired: condition: F(2, 117) = 3.2, p = .044"."""
    return [sentence for rows in term_tests(result) for sentence in _sentences(rows)]


def _sentences(rows: pl.DataFrame) -> Iterator[str]:
    for row in rows.filter(pl.col("df") > 1).drop_nulls("p_value").to_dicts():
        cell = ", ".join(row[name] for name in ("model", "test") if row[name] is not None)
        named = "the whole model, against one without groups" if row["term"] == "all" else row["term"]
        p = shown_p(row["p_value"])
        shown = p if p.startswith("<") else f"= {p}"
        yield f"{cell or row['fit']}: {named}: {_statistic(row)}, p {shown}."


def _statistic(row: dict[str, Any]) -> str:
    if row.get("f_value") is not None:
        return f"F({row['df']:g}, {round(row['df_residual'], 2):g}) = {row['f_value']:.2f}"
    return f"chi squared({row['df']:g}) = {row['chi_squared']:.2f}"
