"""Compare what `collect --again` or `collect watch` asked once more with the first answers: is it the same tomorrow,
and has the model moved? R's retest_reliability() and watch_shifts() have the numbers, those of the latter valid after
each occasion.
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
from slant.analysis.calls.result_rows import ID
from slant.analysis.calls.results import Progress, results
from slant.analysis.questions.alike import ALPHA
from slant.analysis.questions.successor import HAS_FIXED_MEAN, OF_TRIALS, can_pair, measured_answers
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import view_rows
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, as_typed
from slant.collector.keep.database import opens_once
from slant.collector.studies.catalogue import Study

TABLE, OCCASIONS, ANSWERS = "retests", "retest_occasions", "retest_answers"
_OF_MODEL = ("study", *GRAIN, "model", "occasion")
_COMPARED = ("test", "condition", "measure", "trial_id", "first_answer", "later_answer", "first_value", "later_value")


@dataclass(frozen=True)
class Retest:
    """Hold what `retest()` found.

    table: one row for each source, study_version, variant, model, occasion, measure and test (None: all tests
    together), as R's retest_reliability() describes them. occasions: one row per model and occasion, with dates and the
    served models then and now. warnings: what is doubtful, in sentences. not_kept: why new numbers are not in the
    database; None if they are.
    """

    table: pl.DataFrame
    occasions: pl.DataFrame
    warnings: list[str]
    not_kept: str | None


@checked_arguments()
@opens_once
def retest(
    db: str | Path,
    study: str | Study | None = None,
    source: str | None = None,
    workers: Workers = None,
    refit: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Retest:
    """Measure how far answers on later occasions (`collect --again`) agree with the first ones, and how far they moved.

    The result has the share of equal answers and Cohen's kappa; the intraclass correlation (of all trials, and of how
    those of one test and condition differ) and the mean shift (paired t) of the dependent variable: tokens,
    is_consistent, d, decision_bias, is_yes, or each question of a factorial study, by design. Numbers are kept in the
    database, and made again if answers have come. `workers` and `executor` are as for `fit()`.

    Raise DatabaseError if no trial was asked again, RError without R.
    """
    asked_again = set(view_rows(db, OCCASIONS)["study"])
    study = study_in(db, study, lambda candidate: candidate.name in asked_again, "has trials that were asked again")
    calls = retest_calls(db, study.name, source)
    if not calls:
        raise not_asked_again(db, study)
    kept = results(db, calls, refit=refit, workers=executor or workers, progress=progress)
    kept.check_none_failed()
    occasions = occasions_of(db, study.name, source)
    return Retest(_in_order(kept.frames[TABLE], study), occasions, occasion_warnings(occasions), kept.not_kept)


def not_asked_again(db: str | Path, study: Study) -> DatabaseError:
    return DatabaseError(
        f'No trial of "{study.name}" was repeated in "{db}".',
        f"To repeat 200 of them: collect --study {study.as_typed} --model … --again 200 --db {as_typed(db)}",
    )


def _in_order(rows: pl.DataFrame, study: Study) -> pl.DataFrame:
    """Sort rows as the view retest_reliability has them, with all tests together first."""
    models = {model.model: number for number, model in enumerate(study.models)}
    tests = {test.test: test.test_no for test in study.tests}
    model_no, test_no = (
        pl.col(name).replace_strict(numbers, default=None, return_dtype=pl.Int64)
        for name, numbers in (("model", models), ("test", tests))
    )
    is_single = pl.col("test").is_not_null()
    keys = (model_no, "model", "occasion", "measure", is_single, test_no, "test")
    return rows.drop(ID).sort(*GRAIN, *keys, nulls_last=True, maintain_order=True)


def retest_calls(db: str | Path, study: str, source: str | None = None) -> list[Call]:
    """Return the calls for each model and occasion: all tests together, then each test."""
    calls = []
    for part in view_rows(db, ANSWERS, study=study, source=source).partition_by(_OF_MODEL, maintain_order=True):
        for by in (["measure"], ["measure", "test"]):
            about = {**part.select(_OF_MODEL).row(0, named=True), "by": by[-1]}
            rows = part.select(_COMPARED)
            calls.append(Call("retest_reliability", rows, {"by": by}, about=about, tables={"": TABLE}))
    return calls


def occasions_of(db: str | Path, study: str, source: str | None = None) -> pl.DataFrame:
    return view_rows(db, OCCASIONS, study=study, source=source)


def occasion_warnings(occasions: pl.DataFrame) -> list[str]:
    """Return sentences on what differs between the first occasion and a later one besides the day."""
    sentences = []
    for row in occasions.to_dicts():
        name = f"{row['model']}, occasion {row['occasion']}"
        if row["n_served_otherwise"]:
            sentences.append(
                f"{name}: {row['n_served_otherwise']:,} of {row['n_trials']:,} trials were answered by another served "
                f"model than the first time (then {row['first_served_models']}, now {row['served_models']})."
            )
        if row["n_first_by_batch"]:
            sentences.append(
                f"{name}: {row['n_first_by_batch']:,} first answers came by batch, the later ones live: a provider may "
                "serve the two differently."
            )
    return sentences


_CELL = (*GRAIN, "model")
_KEYS = (*_CELL, "test", "measure", "term")
IS_LATEST = pl.col("occasion") == pl.col("occasion").max().over("source", "variant", "model")
"""Select the last occasion of each model in a table of `watch()`."""
_LATE = 1.6  # times the usual time between occasions: one is missing


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
    """Follow each mean and effect, rates of answers and refusals, and length and cost of answers over the occasions of
    `collect watch` (or `--again`). The first answers are the reference. A false alarm, over all looks and all that is
    watched, has at most the probability `alpha`.

    Raise DatabaseError if nothing was asked again, UsageError of games, RError without R.
    """
    study = study_in(db, study, can_pair, "has answers that are paired by prompt")
    answers = measured_answers(Path(db), study, source)
    occasions = occasions_of(db, study.name, source)
    if occasions.is_empty():
        raise not_asked_again(db, study)
    # the answers to trials that were asked again, of every occasion, as rows of prompts by occasion
    later = answers.rows.filter(pl.col("occasion") > 1)
    cells = later.select("first_trial_id", *_CELL).unique(maintain_order=True)
    firsts = answers.rows.filter(occasion=1).drop(_CELL).join(cells, on="first_trial_id", maintain_order="left")
    every = pl.concat([firsts.select(answers.rows.columns), later]).drop_nulls("value")
    test = pl.when(~pl.col("measure").is_in(list(OF_TRIALS))).then("test")
    prompt = pl.concat_str("first_trial_id", "test", "position", separator=" ")
    named = every.with_columns(test=test, prompt=prompt, cluster="first_trial_id")
    rows = pl.concat(_series(named.with_columns(pl.col("occasion").cast(pl.Int32)), answers.arguments["levels"]))
    call = Call("watch_shifts", rows, {"by": list(_KEYS), "alpha": alpha})
    table = answer_of(call, executor or workers).frames[""].sort(*_KEYS, "occasion", maintain_order=True)
    moved = table.filter(IS_LATEST & pl.col("is_alarm"))
    warnings = [text for text in table["messages"].unique(maintain_order=True) if text]
    return Watch(
        table, occasions, moved, list(_gaps(occasions, answers.trials)), [*occasion_warnings(occasions), *warnings]
    )


def moved_sentence(latest: pl.DataFrame) -> str:
    """Return the sentence for the last occasion: the first alarm, or that there is none, with the largest shift of a
    mean that each measure's intervals hold."""
    moved = latest.filter("is_alarm")
    if moved.is_empty():
        ends = pl.max_horizontal(pl.col("conf_low", "conf_high").abs())
        means = latest.filter(term="mean").group_by("measure", maintain_order=True).agg(ends.max().alias("most"))
        limits = [f"{name.replace('_', ' ')} {most:.3g}" for name, most in means.drop_nulls().iter_rows()]
        within = f" Shifts of means are not excluded up to: {', '.join(limits)}." if limits else ""
        return f"No alarm in {latest.height} series up to occasion {max(latest['occasion'])}.{within}"
    first = moved.row(0, named=True)
    name = ", ".join(str(first[key]) for key in ("model", "test", "measure", "term") if first[key] is not None)
    more = f", and {moved.height - 1} more" if moved.height > 1 else ""
    return (
        f"Alarm: {name} has moved by {first['shift']:.3g} ({first['conf_low']:.3g} to {first['conf_high']:.3g}) since "
        f"occasion {first['since']}{more}."
    )


def _series(rows: pl.DataFrame, levels: Mapping[str, list[str]]) -> Iterator[pl.DataFrame]:
    """Yield the means of each test and measure, and the sides of each level."""
    varies = pl.col("value").n_unique().over("measure", "test") > 1
    yield _rows(rows.filter(varies & ~HAS_FIXED_MEAN), "mean", pl.lit(1))
    measured = rows.filter(~pl.col("measure").is_in(list(OF_TRIALS)))
    for name, (reference, *others) in levels.items():
        for level in others if name in rows.columns else ():
            text = pl.col(name).cast(pl.String)
            sides = measured.filter(text.is_in([str(reference), str(level)]))
            sides = sides.filter(text.n_unique().over(_CELL, "measure", "test") == 2)
            yield _rows(sides, f"{name}: {level}", pl.when(text == str(level)).then(1).otherwise(-1))


def _rows(rows: pl.DataFrame, term: str, side: pl.Expr) -> pl.DataFrame:
    named = rows.with_columns(pl.col("test", "measure").cast(pl.String), term=pl.lit(term), side=side.cast(pl.Int32))
    return named.select(*_KEYS, "prompt", "cluster", "occasion", "value", "side")


def _gaps(occasions: pl.DataFrame, trials: pl.DataFrame) -> Iterator[str]:
    """Yield which occasions are missing, and where the study, the model's name, or the model that answers changed."""
    asked = trials.unique(["model", "occasion"], maintain_order=True).sort("model", "occasion")
    for model, occasion, now, before in asked.select(
        "model", "occasion", "requested_model", before=pl.col("requested_model").shift().over("model")
    ).iter_rows():
        if before and now and before != now:
            yield f"{model}: from occasion {occasion} on it was asked for as {now}, before it as {before}."
    for (model,), own in occasions.sort("asked_from").group_by("model", maintain_order=True):
        # the last one: since then others were asked
        times = [own["first_asked_from"][0], *own["asked_from"], trials["done_at"].max()]
        days = [(b - a).total_seconds() / 86400 for a, b in pairwise(times) if a and b]
        usual = pl.Series(days[:-1]).median() if len(days) > 2 else None
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
