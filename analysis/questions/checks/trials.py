"""The trials that checks read: the rows of the study's mixed model, refusals among them, with what tells how an answer
ended, which option was named first, and how many tokens were allowed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.analysis.calls.call import Call
from slant.analysis.rows.cells import CONDITION_LABELS, GRAIN, LABELS, MEASURED, ORDER
from slant.analysis.rows.study_choice import rows_of_source
from slant.analysis.rows.views import read_view, set_measure
from slant.collector.ask.run_warnings import reasoning_budget
from slant.collector.errors import DatabaseError, StudyError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.sources import sources_that
from slant.collector.studies.catalogue import Fit, Study
from slant.collector.study.crossed_fits import cell_model

CELL = (*GRAIN, "model", "test")
SIGN_KEPT = "is_sign_kept_by_missing"
COLUMNS = (
    *(*GRAIN, "trial_id", "run_id", *LABELS, *CONDITION_LABELS),
    *("wording", "item", "repetition", *MEASURED, "outcome"),
)
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")


def has_mixed_fit(study: Study) -> bool:
    """Return whether the study defines what is checked."""
    return cell_model(dict(study.fits)) is not None


def mixed_fit(study: Study) -> Fit:
    """Return the study's mixed model for the checks."""
    if (own := cell_model(dict(study.fits))) is not None:
        return own
    raise StudyError(
        f'Can\'t check "{study.name}": checks need a mixed model of counts by model and test, and it has none.',
        'Its file would have one as [fits.lme4] with formula = "tokens ~ condition + (1 | wording)" and '
        'by = ["model", "test"].',
    )


def read_trials(db: str | Path, study: Study, source: str | None, measure: str | None) -> pl.DataFrame:
    """Return a row per trial of a model (people have no tokens): COLUMNS, `finish_reason`, `first_option`,
    `token_limit` and `temperature`. Both settings are null if unknown, as in all imports: those of an imported run are
    the study file's, and others may have asked differently.

    Raises StudyError if the view of the fit lacks a column, DatabaseError if nothing is left to check.
    """
    view = mixed_fit(study).view
    with reading(db) as connection:
        set_measure(connection, measure)
        frame = read_view(connection, view)
        if missing := [name for name in COLUMNS if name not in frame.columns]:
            raise StudyError(f'Can\'t check "{study.name}": the view "{view}" has no column "{missing[0]}".')
        first = "map_extract(factor_lists, 'first_option')[1][1] AS first_option"
        rows: pl.DataFrame = frame_of(connection.view("trial_rows").select(f"trial_id, finish_reason, {first}"))
        prompt_columns = rows.unique("trial_id", keep="any")  # one that was ended twice was asked alike both times
        frame = with_token_limits(frame, connection)
    frame = rows_of_source(frame, db, study, source).filter(pl.col("source").is_in(sources_that("is_of_models")))
    if frame.is_empty():
        raise DatabaseError(
            f'Nothing to check of "{study.name}": its checks need token counts, and only people answered.',
            "To compare their answers: analyze --fit d_score, analyze alike",
        )
    frame = frame.select(*COLUMNS, *(["group"] if "group" in frame.columns else []), "token_limit", "temperature")
    frame = frame.sort([name for name in ORDER if name in frame.columns], nulls_last=True)
    return frame.join(prompt_columns, on="trial_id", how="left", maintain_order="left")


def refusals_call(trials: pl.DataFrame, paper: Fit) -> Call:
    """Return the call that bounds each effect for refused and other missing answers."""
    contrast = next(iter(paper.levels))
    sides = {"by": list(CELL), "contrast": contrast, "levels": list(paper.levels[contrast])}
    return Call("check_refusals", trials, sides)


def with_signs(rows: pl.DataFrame, refusals: pl.DataFrame | None) -> pl.DataFrame:
    """Return the rows with `is_sign_kept_by_missing` of each cell, from the rows of such a check; null if that is
    unknown."""
    if refusals is None or refusals.is_empty():
        return rows.with_columns(pl.lit(None, pl.Boolean).alias(SIGN_KEPT))
    signs = refusals.select(*CELL, SIGN_KEPT).unique(CELL, keep="first")
    return rows.join(signs, on=CELL, how="left", maintain_order="left")


def with_token_limits(frame: pl.DataFrame, connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Return the rows with `token_limit` and `temperature` as asked for, from run_id and model."""
    joined = frame.join(_limits(connection), on=["run_id", "model"], how="left", maintain_order="left")
    is_ours = pl.col("source").is_in(sources_that("is_asked"))
    return joined.with_columns(pl.when(is_ours).then(name).alias(name) for name in ("token_limit", "temperature"))


def _limits(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    rows = connection.table("run_models").select("run_id, model, settings").fetchall()
    limits = [(run, model, _setting(text, _LIMITS), _setting(text, ("temperature",))) for run, model, text in rows]
    schema = {"run_id": pl.String, "model": pl.String, "token_limit": pl.Float64, "temperature": pl.Float64}
    return pl.DataFrame(limits, schema=schema, orient="row").unique(["run_id", "model"], keep="last")


def _setting(settings: str | None, names: tuple[str, ...]) -> float | None:
    """Return the first number among these settings."""
    values: dict[str, Any] = json.loads(settings or "{}") or {}
    if names == _LIMITS and (budget := reasoning_budget(values)) is not None:
        return float(budget)
    numbers = [values[name] for name in names if isinstance(values.get(name), (int, float))]
    return float(numbers[0]) if numbers else None
