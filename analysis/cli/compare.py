"""`analyze compare`: the printed numbers of a paper beside the recomputed ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import polars as pl

from slant.analysis.cli.options import ONE_STUDY, chosen_study, workers_options
from slant.analysis.cli.progress import FitProgress
from slant.analysis.pages.provenance import kept_version_sentences
from slant.analysis.pages.report_tables import token_measures
from slant.analysis.paper.comparison import compare, summary
from slant.analysis.paper.numbers import PRINT
from slant.analysis.paper.reconstruction import bases_in_words
from slant.analysis.paper.verdicts import STATUSES
from slant.analysis.rows.descriptive_tables import tables
from slant.analysis.rows.result_warnings import mixture_warnings
from slant.collector.commands.options import db_option, output_options, row_options, source_option, study_option
from slant.collector.designs import design_named
from slant.collector.studies.catalogue import Study
from slant.collector.terminal import print_rows, say

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers


def measures_in_words(db: Path, study: Study, source: str | None) -> Iterator[str]:
    """What the tokens of each model are, a sentence for each source; of a study about something else, nothing."""
    if not design_named(study.design).analyses_tokens:
        return
    rows = tables(db, study=study.name, names=["token_sources"])["token_sources"]
    for (name,), part in rows.group_by("source", maintain_order=True):
        if source in (None, name):
            models = token_measures(part, {}).values()
            yield f"Tokens ({name}) are, for {'; '.join(models) or 'no model, known'}."


@click.command(
    "compare",
    epilog="\b\nExamples:\n  analyze compare --study rmiat --summary\n  analyze compare --status disagrees",
)
@study_option(ONE_STUDY)
@source_option(PRINT)
@click.option("--summary", "is_summary", is_flag=True, help="One row per table instead of one per number.")
@click.option(
    "--table", "table_names", multiple=True, help='Only this table of the paper: S6, text, "v1 S3". Repeatable.'
)
@click.option(
    "--status",
    type=click.Choice(["agrees", "slip", "disagrees", "no-data", "not-checkable"]),
    help="Only numbers of this status.",
)
@workers_options
@db_option
@output_options
@row_options
def compare_command(
    study: str | None,
    source: str | None,
    is_summary: bool,
    table_names: tuple[str, ...],
    status: str | None,
    workers: Workers,
    db: Path,
    output_format: str,
) -> None:
    """Every printed number of the paper beside the recomputed one: in its tables, its text ("text"), and its earlier
    version ("v1 S3" to "v1 S7").

    A number agrees if it differs from the print by at most `tolerance`: half a unit of the last printed digit, unless
    the study gives another. A slip is a misprint: the authors' own data, or the print itself, contradict it. "no data":
    nothing of that model and test is here. "not checkable": the data here can't decide, and the note says why.
    Simulated rows are compared, but get no verdict. Rows of the source "print" need no raw data: a paper's numbers are
    compared with each other and with the study's design. In games, `test` is the variant and `condition` the format of
    answers.
    """
    chosen = chosen_study(
        db, study, lambda candidate: candidate.published is not None, "has printed numbers to compare with"
    )
    with FitProgress() as progress:
        rows = compare(db, chosen, source=source, workers=workers, progress=progress, tables=table_names or None)
    counts, bases = Counter(rows["status"].to_list()), [*bases_in_words(rows), *_checked_in_words(rows)]
    if status:
        rows = rows.filter(pl.col("status") == status.replace("-", " "))
    print_rows(summary(rows) if is_summary else rows, output_format)
    measures = measures_in_words(db, chosen, source)
    for note in [
        *measures,
        *mixture_warnings(db, chosen.name, source),
        *kept_version_sentences(db, chosen.name),
        *bases,
    ]:
        say(note)
    say(
        f"{sum(counts.values()):,} numbers: "
        + ", ".join(f"{name} {counts[name]:,}" for name in STATUSES if counts[name])
        + "."
    )


def _checked_in_words(rows: pl.DataFrame) -> Iterator[str]:
    checked = rows.filter((pl.col("source") == PRINT) & pl.col("agrees").is_not_null())
    if checked.height:
        yield (
            f"Checked without raw data, against other printed numbers and the study's design "
            f'(source "{PRINT}"): {checked.height} numbers.'
        )
