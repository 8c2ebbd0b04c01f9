"""Compare what `collect --again` asked once more with the first answers: is it the same tomorrow? R's
retest_reliability() has the numbers, for each test and for all together.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from slant.analysis.calls.call import Call
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID
from slant.analysis.calls.results import Progress, results
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import read_view
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError
from slant.collector.keep.database import opens_once, reading
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
    is_consistent, d, decision_bias or is_yes, by design. Numbers are kept in the database, and made again if answers
    have come. `workers` and `executor` are as for `fit()`.

    Raise DatabaseError if no trial was asked again, RError without R.
    """
    asked_again = _studies_asked_again(db)
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
        f"To repeat 200 of them: collect --study {study.as_typed} --model … --again 200 --db {db}",
    )


def _in_order(rows: pl.DataFrame, study: Study) -> pl.DataFrame:
    """Sort rows as the view retest_reliability has them, with all tests together first."""
    models = {model.model: number for number, model in enumerate(study.models)}
    tests = {test.test: test.test_no for test in study.tests}
    places = (
        pl.col(name).replace_strict(numbers, default=None, return_dtype=pl.Int64)
        for name, numbers in (("model", models), ("test", tests))
    )
    model_no, test_no = places
    is_single = pl.col("test").is_not_null()
    keys = (model_no, "model", "occasion", "measure", is_single, test_no, "test")
    return rows.drop(ID).sort(*GRAIN, *keys, nulls_last=True, maintain_order=True)


def retest_calls(db: str | Path, study: str, source: str | None = None) -> list[Call]:
    """Return the calls for each model and occasion: all tests together, then each test."""
    with reading(db) as connection:
        rows = read_view(connection, ANSWERS, study=study, source=source)
    return [call for part in rows.partition_by(_OF_MODEL, maintain_order=True) for call in _calls(part)]


def _calls(part: pl.DataFrame) -> Iterator[Call]:
    about = part.select(_OF_MODEL).row(0, named=True)
    for by in (["measure"], ["measure", "test"]):
        yield Call(
            "retest_reliability",
            part.select(_COMPARED),
            {"by": by},
            about={**about, "by": by[-1]},
            tables={"": TABLE},
        )


def occasions_of(db: str | Path, study: str, source: str | None = None) -> pl.DataFrame:
    with reading(db) as connection:
        return read_view(connection, OCCASIONS, study=study, source=source)


def occasion_warnings(occasions: pl.DataFrame) -> list[str]:
    """Return sentences on what differs between the first occasion and a later one besides the day."""
    sentences = []
    for row in occasions.to_dicts():
        name = f"{row['model']}, occasion {row['occasion']}"
        if row["n_served_otherwise"]:
            sentences.append(
                f"{name}: {row['n_served_otherwise']:,} of {row['n_trials']:,} trials were answered by another "
                "served model than the first time"
                f" (then {row['first_served_models']}, now {row['served_models']})."
            )
        if row["n_first_by_batch"]:
            sentences.append(
                f"{name}: {row['n_first_by_batch']:,} first answers came by batch, the later ones live: a provider may "
                "serve the two differently."
            )
    return sentences


def _studies_asked_again(db: str | Path) -> set[str]:
    with reading(db) as connection:
        return set(read_view(connection, OCCASIONS)["study"])
