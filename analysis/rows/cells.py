"""Read the rows of a fit: from a view in a stable order, cut into cells, and hashed.

A *cell* is what one fit is made of: the rows of one source, study version, variant, and whatever the study fits by
(for RM-IAT: model and test).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import polars as pl
from duckdb import ColumnExpression, ConstantExpression

from slant.analysis.rows.result_warnings import Key, model_mixture_warnings
from slant.analysis.rows.views import read_view, set_measure, stored_views
from slant.collector.errors import StudyError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of, registered
from slant.collector.keep.stored_attempts import with_attributes, with_numbers, with_people
from slant.collector.keep.view_heads import read_view_heads
from slant.collector.progress.status import MAX_LOST, Count, unequal_losses
from slant.collector.studies.catalogue import Fit
from slant.collector.study.crossed_fits import STEP, engine_columns

GRAIN = ("source", "study_version", "variant")
LABELS = ("model", "model_label", "model_no", "test", "test_label", "test_no")
CONDITION_LABELS = ("condition", "condition_label", "condition_no")
MEASURED = ("tokens", "token_source", "is_refusal", "is_valid")
_OF_COUNTS_IN_STEPS = ("step_sensitivity", "censored")
# Sums of floating-point numbers depend on the order of rows, and DuckDB promises none without being asked.
ORDER = (
    *GRAIN, "model_no", "model", "test_no", "test", "condition_no", "condition", "wording", "item", "repetition",
    "trial_id", "question", "position",
)  # fmt: skip
_ALIKE = ("model", "test")
PAPER_WORDS = {"test": "domain", "condition": "block"}
"""Give the words that a paper's formula may have for columns of ours: views of trials have both, tables ours."""
OUTCOME = "outcome"
_ANSWERS = ("rating", "scored", "number", "measured")
"""List the outcomes in the units of the question: points of its scale, or what its number counts."""
FEW_DF = 4  # at 3, a t of 3.2 is needed; at 1, one of 12.7
_UNITS = ("question", "kind", "low", "high")
_NAME = re.compile(r"[A-Za-z_.][A-Za-z0-9_.]*")


@dataclass(frozen=True)
class Cell:
    """Hold the rows of one fit. `key` holds source, study_version, variant and the columns of the study's `by`.

    `warnings` say what differs among the rows: several settings or seeds, for example, or several measures.
    `common_values`: model, and a test that the formula names, if it is the same in all rows. `n_dropped`: how many rows
    were left out by each of the fit's flags and outcomes.
    """

    key: dict[str, str]
    rows: pl.DataFrame
    token_source: str | None
    warnings: tuple[str, ...] = ()
    common_values: Mapping[str, str] = field(default_factory=dict)
    n_dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ViewRows:
    """Hold ordered rows of one view with the columns that some fits use. There is a warning for each model that was
    asked in several ways (see result_warnings.py).
    """

    frame: pl.DataFrame
    columns: list[str]
    mixture_warnings: Mapping[Key, str]


def read_rows(
    db: str | Path,
    study: str,
    fits: Sequence[Fit],
    measure: str | None,
    trial_ids: Collection[str] | None = None,
    *,
    later_occasions: bool = False,
) -> ViewRows:
    """Return the rows that these fits of one view start from, read once for all of them; only those of some trials, or
    also those that were asked again, if requested.

    Raise StudyError if the view or one of its columns is missing, DatabaseError as `reading` does.
    """
    name = fits[0].view
    with reading(db) as connection:
        set_measure(connection, measure)
        if later_occasions:
            connection.execute("SET VARIABLE later_occasions = 'shown'")
        if name not in stored_views(connection):
            raise StudyError(
                f'Can\'t fit "{fits[0].name}": this database has no view "{name}".',
                f"Views there are: {', '.join(stored_views(connection))}.",
            )
        view = connection.view(name)
        is_own = ColumnExpression("study") == ConstantExpression(study)
        view = view.filter(is_own) if "study" in view.columns else view
        named = [column for fit in fits for column in named_columns(fit)]
        view, of_trials = with_attributes(view, named)
        view, of_people = with_people(connection, view, named)
        attributes = of_trials | of_people
        columns = view.columns
        fit_columns = [
            column for fit in fits for column in (*fit.by, *used_columns(fit, columns), *fit.drop_flags, *fit.where)
        ]
        if any(fit.drop_outcomes for fit in fits):
            fit_columns += _present_columns((OUTCOME,), columns)
        if any(may_repeat(used_columns(fit, columns)) for fit in fits):
            fit_columns += _present_columns(REPEATED_BY, columns)
        if any(fit.fitted in _ANSWERS for fit in fits):
            fit_columns += _present_columns(_UNITS, columns)
        selected = dict.fromkeys((*GRAIN, *fit_columns, *_present_columns(("study", *_ALIKE, "token_source"), columns)))
        heads = read_view_heads()
        grain = heads[name].grain if name in heads else ()
        order = ", ".join(f'"{column}"' for column in _order_of_rows(columns, grain))
        with _chosen(connection, view, trial_ids) as chosen:
            frame: pl.DataFrame = frame_of(chosen.order(order).select(*(f'"{column}"' for column in selected)))
        mixture_warnings = model_mixture_warnings(read_view(connection, "mixed_cells", study=study))
    listed = {column for fit in fits for column in (*fit.levels, *fit.factors)}
    return ViewRows(with_numbers(frame, attributes - listed), columns, mixture_warnings)


@contextmanager
def _chosen(
    connection: duckdb.DuckDBPyConnection, view: duckdb.DuckDBPyRelation, trial_ids: Collection[str] | None
) -> Iterator[duckdb.DuckDBPyRelation]:
    if trial_ids is None:
        yield view
        return
    with registered(connection, "chosen_trials", pl.DataFrame({"trial_id": list(trial_ids)}, {"trial_id": pl.String})):
        yield view.filter("trial_id IN (SELECT trial_id FROM chosen_trials)")


def _order_of_rows(columns: list[str], grain: tuple[str, ...]) -> list[str]:
    """Return the columns to sort rows by. Columns that a view also has in a paper's words are excluded: its items name
    their test, and the last digits of a fit, which depend on the order, stay those of stored fits."""
    has_twice = [name for name, theirs in PAPER_WORDS.items() if theirs in columns]
    left_out = {f"{name}{end}" for name in has_twice for end in ("", "_no")}
    return [name for name in dict.fromkeys(_present_columns((*ORDER, *grain), columns)) if name not in left_out]


def read_cells(
    db: str | Path,
    study: str,
    fit: Fit,
    *,
    source: str | None,
    measure: str | None,
    refusals_removed: bool,
    rows: ViewRows | None = None,
) -> list[Cell]:
    """Return the cells of one fit of `study`, in the paper's order; rows that the fit leaves out are removed, if asked.

    `rows` are those of `read_rows`, if already read. This raises what that raises.
    """
    rows = rows or read_rows(db, study, [fit], measure)
    flags, outcomes = (fit.drop_flags, fit.drop_outcomes) if refusals_removed else ((), ())
    return list(cells_of(rows, fit, source, flags, outcomes=outcomes))


def cells_of(
    rows: ViewRows,
    fit: Fit,
    source: str | None,
    flags: tuple[str, ...] = (),
    more: tuple[str, ...] = (),
    outcomes: tuple[str, ...] = (),
) -> Iterator[Cell]:
    """Yield the cells of a fit among rows of its view, without the rows that have one of `flags` or of `outcomes`: the
    columns that the fit uses, with the steps of counts if it asks for them, and `more` columns."""
    frame = rows.frame if source is None else rows.frame.filter(source=source)
    for column, values in fit.where.items():
        frame = frame.filter(pl.col(column).cast(pl.String).is_in(values))
    used = used_columns(fit, rows.columns)
    if (outcome := _outcome_in_steps(fit)) is not None:
        frame, used = with_steps(frame, outcome), (*used, STEP)
    left_out = [(flag, pl.col(flag).fill_null(False)) for flag in flags]
    if OUTCOME in frame.columns:  # a view without outcomes has only answers
        left_out += [(outcome, (pl.col(OUTCOME) == outcome).fill_null(False)) for outcome in outcomes]
    yield from _cut_cells(frame, fit, tuple(dict.fromkeys((*used, *more))), left_out, rows.mixture_warnings)


def _outcome_in_steps(fit: Fit) -> str | None:
    """Return the column of the counts, for a fit that takes them in the steps in which their model counts."""
    if fit.engine in _OF_COUNTS_IN_STEPS:
        return fit.outcome
    return fit.fitted if fit.settings.get("step") == STEP else None


def with_steps(frame: pl.DataFrame, outcome: str) -> pl.DataFrame:
    """Return `frame` with the column STEP: in what steps the row's model counts, as in the view `token_sources`.

    It is the greatest common divisor of all its counts above 0, refusals included; null with fewer than two different
    ones. It is found before rows are cut into cells: in a single test a model may have counted 128, 256 and 384 only.
    """
    kinds = [*GRAIN, *_present_columns(("model", "token_source"), frame.columns)]
    counts = pl.col(outcome).cast(pl.Float64)
    steps_by_model = frame.filter(counts > 0).group_by(kinds).agg(counts.unique().alias(STEP))
    steps = [_step(values) for values in steps_by_model[STEP].to_list()]
    steps_by_model = steps_by_model.with_columns(pl.Series(STEP, steps, pl.Float64))
    return frame.drop(STEP, strict=False).join(
        steps_by_model, on=kinds, how="left", nulls_equal=True, maintain_order="left"
    )


def _step(counts: Sequence[float]) -> float | None:
    if len(counts) < 2:
        return None
    return float(math.gcd(*map(int, counts))) if all(count.is_integer() for count in counts) else 1.0


def used_columns(fit: Fit, columns: list[str]) -> tuple[str, ...]:
    """Return columns that R needs: those of the formula (R itself checks the rest of it) or outcome and contrast."""
    names = _names_in_formulas(fit)
    if fit.engine == "brms" or "family" in fit.settings:  # text without a list of levels is ordered by its numbers
        names += [f"{name}_no" for name in names]
    own = (fit.outcome, fit.contrast, *fit.columns, *engine_columns(fit.engine))
    names += [name for name in own if name]
    if "reasoning_text" in names:  # texts of several kinds are never combined
        names.append("reasoning_kind")
    used = tuple(dict.fromkeys(name for name in names if name in columns))
    for name in (*fit.by, *fit.drop_flags, *fit.where, *filter(None, own)):
        if name not in columns:
            raise StudyError(
                f'Can\'t fit "{fit.name}": the view "{fit.view}" has no column "{name}".',
                f"Columns there are: {', '.join(columns)}.",
            )
    return used


def word_for(column: str, names: Collection[str]) -> str:
    """Return the name of a column of ours among `names`: our own, or else the one that a paper has for it."""
    theirs = PAPER_WORDS.get(column, column)
    return theirs if column not in names and theirs in names else column


def named_columns(fit: Fit) -> tuple[str, ...]:
    """Return the names in a fit that may be columns of its view."""
    own = (fit.outcome, fit.contrast, *fit.columns, *engine_columns(fit.engine))
    named = (*_names_in_formulas(fit), *own, *fit.by, *fit.drop_flags, *fit.where)
    return tuple(dict.fromkeys(name for name in named if name))


def _names_in_formulas(fit: Fit) -> list[str]:
    return [name for text in (fit.formula, fit.settings.get("reference_model")) if text for name in _NAME.findall(text)]


def _present_columns(names: tuple[str, ...], columns: list[str]) -> list[str]:
    return [name for name in names if name in columns]


def _cut_cells(
    frame: pl.DataFrame,
    fit: Fit,
    used: tuple[str, ...],
    left_out: Sequence[tuple[str, pl.Expr]],
    mixture_warnings: Mapping[Key, str],
) -> Iterator[Cell]:
    """Yield the cells. One that has lost all its rows stays, so that its fit is a row that says so. `left_out`: which
    rows are, by the name of the reason.
    """
    keys = [*GRAIN, *fit.by]
    for values, rows in frame.group_by(keys, maintain_order=True):
        sources = rows["token_source"].drop_nulls().unique().sort().to_list() if "token_source" in rows.columns else []
        key = dict(zip(keys, map(str, values), strict=True))
        dropped, whole = {}, rows
        for name, is_out in left_out:
            remaining = rows.filter(~is_out)
            dropped[name], rows = rows.height - remaining.height, remaining
        warnings = tuple(_warnings(key, rows, used, mixture_warnings))
        if rows.is_empty():
            by_name = ", ".join(f"{name} in {n:,}" for name, n in dropped.items() if n)
            warnings = (*warnings, f"All {sum(dropped.values()):,} rows are left out: {by_name}.")
        elif loss := warning_of_lost_rows(whole, rows, fit, dropped):
            warnings = (*warnings, loss)
        warnings += tuple(filter(None, (warning_of_same_answers(rows, used), warning_of_pooled_units(rows, fit))))
        yield Cell(key, rows.select(used), " + ".join(sources) or None, warnings, _common_values(rows, fit), dropped)


def _common_values(rows: pl.DataFrame, fit: Fit) -> dict[str, str]:
    in_formula = _names_in_formulas(fit)
    names = [name for name in _ALIKE if name == "model" or word_for(name, in_formula) in in_formula]
    values = {name: rows[name].unique().to_list() for name in _present_columns(tuple(names), rows.columns)}
    return {name: str(unique_values[0]) for name, unique_values in values.items() if len(unique_values) == 1}


def _warnings(
    key: Mapping[str, str], rows: pl.DataFrame, used: tuple[str, ...], mixture_warnings: Mapping[Key, str]
) -> Iterator[str]:
    models = rows["model"].unique(maintain_order=True).to_list() if "model" in rows.columns else []
    for model in models:
        if warning := mixture_warnings.get((*(key[name] for name in GRAIN), model)):
            yield warning
    # A topic model compares tokens within a model and test only.
    if "tokens" in used and "token_source" in rows.columns and "reasoning_text" not in used:
        measures = rows.filter(pl.col("tokens").is_not_null())["token_source"].drop_nulls().unique().sort().to_list()
        if len(measures) > 1:
            yield f"Token counts of {len(measures)} kinds are mixed: {', '.join(measures)}."


def warning_of_pooled_units(rows: pl.DataFrame, fit: Fit) -> str | None:
    """Return the sentence for a fit of answers to several questions that have different units; None if they have one,
    or the formula holds the question (which is also the test)."""
    is_told_apart = {"question", "test"} & set(_names_in_formulas(fit))
    if fit.fitted not in _ANSWERS or not set(_UNITS) <= set(rows.columns) or is_told_apart:
        return None
    asked = rows.drop_nulls(fit.fitted).select(_UNITS).unique().sort("question")
    named = {
        question: {"number": "a number", "scale": f"{low} to {high}" if None not in (low, high) else "a scale"}.get(
            kind, "0 or 1"
        )
        for question, kind, low, high in asked.iter_rows()
    }
    if len(set(named.values())) < 2 and list(named.values()).count("a number") < 2:
        return None
    units = ", ".join(f"{question} ({unit})" for question, unit in named.items())
    return (
        f"Answers in different units are analysed together: {units}. To fit each question alone: "
        f'by = ["model", "test"], or where = {{ question = "{asked["question"][0]}" }}.'
    )


def warning_of_lost_rows(whole: pl.DataFrame, rows: pl.DataFrame, fit: Fit, dropped: Mapping[str, int]) -> str | None:
    """Return the sentence for a fit that leaves out more than a few per cent of rows, or unequally by its contrast;
    None if it does not. `whole`: all rows of its cell, `rows`: those that are fitted.
    """
    n_lost = whole.height - rows.height
    if not n_lost:
        return None
    differing = unequal_losses(list(_by_side(whole, rows, fit)))
    if differing is None and n_lost / whole.height <= MAX_LOST:
        return None
    reasons = ", ".join(f"{name} {n:,}" for name, n in dropped.items() if n)
    share = f"{n_lost:,} of {whole.height:,} rows ({n_lost / whole.height:.0%}) are left out ({reasons})"
    if differing is None:
        return f"{share}."
    return f"{share}, unequally: {differing}. What is compared may differ for that reason alone."


def _by_side(whole: pl.DataFrame, rows: pl.DataFrame, fit: Fit) -> Iterator[Count]:
    contrast = fit.contrast or next((name for name, levels in fit.levels.items() if len(levels) == 2), None)
    if contrast is None or contrast not in whole.columns:
        return
    for level in fit.levels.get(contrast, ()):
        is_level = pl.col(contrast).cast(pl.String) == str(level)
        n = whole.filter(is_level).height
        yield str(level), n - rows.filter(is_level).height, n


# Repetitions that are the same answer again, in fits that count each of them: as in R/warn_of_pooling.R. R sees only
# the columns of a cell's formula, which seldom have both words and wordings; so they are found among all columns of the
# view, and R reports them only for a caller's own data.
COMBINATION = ("item", "wording", "condition")
"""List what makes two trials of a cell repetitions of each other, with their test and group."""
REPEATED_BY = (*COMBINATION, "model", "test", "group")
MORE_THAN_CHANCE = 0.2
"""Limit how much more often than by chance, as a share, repetitions may be the same and still be separate answers."""
_COUNTS = "tokens"  # ratings and choices are naturally often the same


def may_repeat(used: Collection[str]) -> bool:
    """Return whether a fit of these columns counts repetitions as answers: its outcome is counts, and it has no
    component or cluster for word or wording."""
    return _COUNTS in used and "reasoning_text" not in used and not set(COMBINATION[:2]) <= set(used)


def warning_of_same_answers(rows: pl.DataFrame, used: Collection[str]) -> str | None:
    """Say how many combinations got the same answer every time, if that is more than chance would give."""
    if not may_repeat(used) or not set(COMBINATION) <= set(rows.columns):
        return None
    complete = rows.drop_nulls(list(used))
    keys = [name for name in REPEATED_BY if name in rows.columns]
    combinations = complete.group_by(keys).agg(n=pl.len(), n_distinct=pl.col(_COUNTS).n_unique())
    repeated = combinations.filter(pl.col("n") > 1)
    if repeated.is_empty():
        return None
    same = repeated.filter(pl.col("n_distinct") == 1)
    # the share of combinations with equal answers, if answers were drawn from those of the cell
    n_asked = repeated["n"]
    shares = complete[_COUNTS].value_counts(normalize=True)["proportion"]
    of_sizes = n_asked.value_counts()
    total = sum(float((shares**n).sum()) * times for n, times in of_sizes.iter_rows())
    if same.height / repeated.height <= float(total) / n_asked.len() + MORE_THAN_CHANCE:
        return None
    n_answers = complete.height - int((same["n"] - 1).sum())
    return (
        f"Of {repeated.height} words in a wording and condition that were repeated, {same.height} got the same "
        f"answer every time: {complete.height} rows hold {n_answers} answer{'s' if n_answers != 1 else ''}."
    )
