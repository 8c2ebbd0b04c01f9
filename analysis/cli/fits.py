"""Make the fits, print a table of them, and say what is doubtful (`analyze --fit`)."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.cli.fit_tables import bayes_table, check_adjustable, check_has_table, verdicts
from slant.analysis.cli.options import ENGINE_TABLES, TOPIC_TABLES
from slant.analysis.cli.output import print_result, say_result
from slant.analysis.cli.progress import FitProgress
from slant.analysis.cli.topic_tables import check_adjust, say_about_topics, topic_table
from slant.analysis.fitting.fits import FitResult, fit
from slant.analysis.fitting.result_versions import version_sentence
from slant.analysis.fitting.tests_of_groups import term_test_sentences
from slant.analysis.pages.answers import answers
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.doubts import grouped_doubts
from slant.analysis.rows.study_choice import find_fits, studies_not_fitted, study_in
from slant.collector.terminal import count_text, print_rows, say

_DIGITS = 4  # in a terminal's table; CSV and JSON have all


def print_fit(
    engine: str, db: Path, study: str | None, show: str | None, adjust: str | None, output_format: str, **options: Any
) -> bool:
    """Fit, print the table `show`, and say what the fits are worth; return True if every fit failed."""
    check_adjust(show, adjust)
    if show is not None:
        check_has_table(find_fits(engine, db, study), show)
    result = _fits(engine, db, study, **options)
    check_adjustable(result, adjust)
    has_topics = not result.topics["models"].is_empty()
    if has_topics or adjust or (show in TOPIC_TABLES and show not in ENGINE_TABLES["brms"]):
        print_rows(topic_table(result, show or "topics", adjust, study, db), output_format)
        say_about_topics(result, db, study)
    else:
        rows = bayes_table(result, show or "table", in_full=output_format != "table")
        print_result(_in_reading_order(rows) if output_format == "table" else rows, output_format, digits=_DIGITS)
    for sentence in (*_answers(engine, db, study, result), *term_test_sentences(result), *verdicts(result)):
        say(sentence)
    have_failed = bool((result.diagnostics["status"] == "failed").all())
    if output_format == "table" and not have_failed:
        of_study = f" --study {shlex.quote(study)}" if study else ""
        say(f"Next: analyze report{of_study} --db {shlex.quote(str(db))}")
    return have_failed


def _answers(engine: str, db: Path, study: str | None, result: FitResult) -> Iterator[str]:
    """Yield what the first of these fits answers, where its rows are of one source, version and variant."""
    grains = result.table.select(GRAIN).unique()
    if grains.height == 1 and result.table["study"].n_unique() == 1:
        yield from answers(study_in(db, study), result.table["fit"][0], result, grains.row(0, named=True))


def _in_reading_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Return an estimate, its interval, its p, and then their basis."""
    if not {"estimate", "conf_low", "conf_high"} <= set(rows.columns):
        return rows
    read = [name for name in ("estimate", "conf_low", "conf_high", "p_value") if name in rows.columns]
    before = rows.columns[: rows.columns.index("estimate")]
    return rows.select(*before, *read, *(name for name in rows.columns if name not in (*before, *read)))


def _fits(engine: str, db: Path, study: str | None, **options: Any) -> FitResult:
    """Fit, and say on stderr how many fits are ok and what is doubtful about the others."""
    with FitProgress() as progress:
        result = fit(db, study, engine, progress=progress, **options)
    counts = Counter(result.diagnostics["status"].to_list())
    statuses = ", ".join(f"{n} {status}" for status, n in counts.most_common())
    say(f"{count_text(result.diagnostics.height, 'fit')}: {statuses}.")
    for doubt in grouped_doubts([result.diagnostics]):
        say(str(doubt))
    for note in studies_not_fitted(engine, db) if study is None else ():
        say(note)
    if versions := version_sentence(result):
        say(versions)
    say_result(result)
    return result
