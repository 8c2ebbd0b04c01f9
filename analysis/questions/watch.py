"""Say whether a model that is asked the same prompts again and again has moved. R's watch_shifts() has the numbers,
valid after each occasion; this module says what is watched, and what else differs between occasions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl

from slant.analysis.calls.call import Call, answer_of
from slant.analysis.calls.executors import Workers
from slant.analysis.questions.alike import ALPHA
from slant.analysis.questions.measured_pairs import can_pair, measured_answers
from slant.analysis.questions.retests import ANSWERS, not_asked_again, occasion_warnings, occasions_of
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import read_view
from slant.collector.arguments import checked_arguments
from slant.collector.keep.database import opens_once, reading
from slant.collector.studies.catalogue import Study

_CELL = (*GRAIN, "model")
_KEYS = (*_CELL, "test", "measure", "term")
_LATE = 1.6  # times the usual time between occasions: one is missing
_OF_TRIALS: Mapping[str, pl.Expr] = {
    "answered": pl.col("outcome") == "answered",
    "refused": pl.col("is_refusal"),
    "output_tokens": pl.col("output_tokens"),
}


@dataclass(frozen=True)
class Watch:
    """Hold what `watch()` found.

    table: a row per source, study_version, variant, model, test (null: all), measure, term (the mean, and each level)
    and later occasion, as R's watch_shifts() describes them. occasions: when each was, with served models and cost.
    moved: the rows of the table with an alarm on the last occasion of their model. gaps: occasions that are missing,
    and what else changed, in sentences. warnings: what is doubtful.
    """

    table: pl.DataFrame
    occasions: pl.DataFrame
    moved: pl.DataFrame
    gaps: list[str]
    warnings: list[str]


@checked_arguments()
@opens_once
def watch(
    db: str | Path,
    study: str | Study | None = None,
    source: str | None = None,
    alpha: float = ALPHA,
    workers: Workers = None,
    executor: Executor | None = None,
) -> Watch:
    """Follow each mean and effect, the rates of answers and refusals, and the length of answers over the occasions of
    `collect watch` (or `--again`). The first answers are the reference. A false alarm, over all looks and all that is
    watched, has at most the probability `alpha`.

    Raise DatabaseError if nothing was asked again, UsageError of games, RError without R.
    """
    study = study_in(db, study, can_pair, "has answers that are paired by prompt")
    answers = measured_answers(Path(db), study, source)
    occasions = occasions_of(db, study.name, source)
    if occasions.is_empty():
        raise not_asked_again(db, study)
    with reading(db) as connection:
        again = read_view(connection, ANSWERS, study=study.name, source=source)
    rows = pl.concat([*_measured(again, answers.trials, answers.arguments["levels"]), *_of_trials(answers.trials)])
    call = Call("watch_shifts", rows, {"by": list(_KEYS), "alpha": alpha})
    table = answer_of(call, executor or workers).frames[""].sort(*_KEYS, "occasion", maintain_order=True)
    last = pl.col("occasion") == pl.col("occasion").max().over(_CELL)
    moved = table.filter(last & pl.col("is_alarm"))
    warnings = [text for text in table["messages"].unique(maintain_order=True) if text]
    return Watch(table, occasions, moved, list(_gaps(occasions)), [*occasion_warnings(occasions), *warnings])


def _measured(again: pl.DataFrame, trials: pl.DataFrame, levels: Mapping[str, list[str]]) -> Iterator[pl.DataFrame]:
    """Yield the means of each test and measure, and the sides of each level, as rows of prompts by occasion."""
    known = again.filter(pl.col("first_value").is_not_null())
    prompt = pl.concat_str("first_trial_id", "part", separator=" ")
    later = known.with_columns(prompt=prompt, value=pl.col("later_value"))
    first = later.unique(["prompt", "measure", *_CELL], maintain_order=True)
    first = first.with_columns(occasion=pl.lit(1, first["occasion"].dtype), value=pl.col("first_value"))
    rows = pl.concat([first, later]).with_columns(pl.col("value").cast(pl.Float64))
    shown = [name for name in levels if name not in rows.columns and name in trials.columns]
    rows = rows.join(trials.select(pl.col("trial_id").alias("first_trial_id"), *shown), on="first_trial_id", how="left")
    yield _rows(rows, "mean", None)
    for name, (reference, *others) in levels.items():
        for level in others if name in rows.columns else ():
            text = pl.col(name).cast(pl.String)
            sides = rows.filter(text.is_in([str(reference), str(level)]))
            if sides.select(text.n_unique()).item() == 2:
                yield _rows(sides, f"{name}: {level}", pl.when(text == str(level)).then(1).otherwise(-1))


def _of_trials(trials: pl.DataFrame) -> Iterator[pl.DataFrame]:
    watched = trials.filter(
        pl.col("first_trial_id").is_in(trials.filter(pl.col("occasion") > 1)["first_trial_id"].implode())
    )
    for name, value in _OF_TRIALS.items():
        rows = watched.with_columns(
            prompt=pl.col("first_trial_id"), measure=pl.lit(name), value=value.cast(pl.Float64),
            test=pl.lit(None, pl.String),
        )  # fmt: skip
        if rows["value"].n_unique() > 1:
            yield _rows(rows, "mean", None)


def _rows(rows: pl.DataFrame, term: str, side: pl.Expr | None) -> pl.DataFrame:
    sides = (pl.lit(1) if side is None else side).cast(pl.Int32)
    named = rows.with_columns(pl.col("test", "measure").cast(pl.String), term=pl.lit(term), side=sides)
    return named.select(*_KEYS, "prompt", pl.col("occasion").cast(pl.Int32), "value", "side").drop_nulls("value")


def _gaps(occasions: pl.DataFrame) -> Iterator[str]:
    """Yield which occasions are missing, and where the study, or the model that answers, changed."""
    for (model,), own in occasions.sort("asked_from").group_by("model", maintain_order=True):
        times = [own["first_asked_from"][0], *own["asked_from"]]
        days = [(b - a).total_seconds() / 86400 for a, b in pairwise(times) if a and b]
        usual = pl.Series(days).median() if len(days) > 1 else None
        for begun, wait in zip(times, days, strict=False):
            if isinstance(usual, float) and usual > 0 and wait > _LATE * usual:
                missing = f"{round(wait / usual) - 1} missing, one in {usual:.0f} days"
                yield f"{model}: nothing was asked for {wait:.0f} days from {begun:%d %B %Y} ({missing})."
        served = [own["first_served_models"][0], *own["served_models"]]
        for number, before, now in zip(own["occasion"], served, served[1:], strict=False):
            if before and now and before != now:
                yield f"{model}: from occasion {number} on {now} answered, before it {before}."
        if (versions := own["study_version"].unique(maintain_order=True)).len() > 1:
            yield f"{model}: the study was changed; its versions {', '.join(versions)} are watched apart."
