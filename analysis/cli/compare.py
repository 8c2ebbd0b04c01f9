"""Compare the printed numbers of a paper with the recomputed ones (`analyze compare`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import polars as pl

from slant.analysis.cli.options import option, workers_options
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.analysis.fitting.result_versions import kept_version_sentences
from slant.analysis.pages.report_tables import token_measures
from slant.analysis.paper.comparison import STATUSES, compare, summary
from slant.analysis.paper.numbers import PRINT
from slant.analysis.paper.reconstruction import bases_in_words, reconstruct_answers
from slant.analysis.rows.descriptive_tables import tables
from slant.analysis.rows.result_warnings import mixture_warnings
from slant.collector.commands.options import FILE, db_option, output_options, row_options, source_option, study_option
from slant.collector.errors import UsageError
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.terminal import print_rows, say


def measures_in_words(db: Path, study: Study, source: str | None) -> Iterator[str]:
    """Yield a sentence for each source on the tokens that models report; nothing for a study about something else."""
    if not study.design.analyses.counts_tokens:
        return
    rows = tables(db, study=study.name, names=["token_sources"])["token_sources"]
    for (name,), part in rows.group_by("source", maintain_order=True):
        if source in (None, name):
            models = token_measures(part, {}).values()
            yield f"Tokens ({name}) are, for {'; '.join(models) or 'no model, known'}."


_OPTIONS = (
    source_option(PRINT),
    click.option("--summary", "is_summary", is_flag=True, help="One row per table instead of one per number."),
    click.option(
        "--table", "table_names", multiple=True, help='Only this table of the paper: S6, text, "v1 S3". Repeatable.'
    ),
    option(
        "--status", of=("agrees", "slip", "disagrees", "no-data", "not-checkable"), help="Only numbers of this status."
    ),
    click.option(
        "--with",
        "other",
        type=FILE,
        metavar="FILE",
        help="Another database, or a sealed archive, of the same study: compare its fits with those of --db.",
    ),
)


@result_command(
    "compare",
    epilog="\b\nExamples:\n  analyze compare --study rmiat --summary\n  analyze compare --status disagrees\n"
    "  analyze compare --db mine.duckdb --with theirs.zip",
    options=_OPTIONS,
    usual_options=[workers_options, db_option, output_options, row_options],
)
def compare_command(
    asked: Asked, is_summary: bool, table_names: tuple[str, ...], status: str | None, other: Path | None
) -> Answer:
    """Compare every printed number of the paper with the recomputed one: in its tables, its text ("text"), and its
    earlier version ("v1 S3" to "v1 S7").

    A number agrees if it differs from the print by at most `tolerance`: half a unit of the last printed digit, unless
    the study gives another. A slip is a misprint: the authors' own data, or the print itself, contradict it. "no data":
    nothing of that model and test is here. "not checkable": the data here can't decide, and the note says why.
    Simulated rows are compared, but get no verdict. Rows of the source "print" need no raw data: a paper's numbers are
    compared with each other and with the study's design. In games, `test` is the variant and `condition` the format of
    answers.

    --with sets two databases (or archives) of one study side by side instead: each estimate here and there, their
    difference in standard errors (z), and whether it is the same, within chance, or differs.
    """
    if other is not None:
        return _side_by_side(asked, asked.db, other, is_print_of=(table_names, status))
    chosen = asked.choose(lambda candidate: candidate.published is not None, "has printed numbers to compare with")
    rows = asked.compute(compare, tables=table_names or None)
    counts, bases = Counter(rows["status"].to_list()), [*bases_in_words(rows), *_checked_in_words(rows)]
    if status:
        rows = rows.filter(pl.col("status") == status.replace("-", " "))
    named = ", ".join(f"{name} {counts[name]:,}" for name in STATUSES if counts[name])
    says = [
        *measures_in_words(asked.db, chosen, asked.source),
        *mixture_warnings(asked.db, chosen.name, asked.source),
        *kept_version_sentences(asked.db, chosen.name),
        *bases,
        f"{sum(counts.values()):,} numbers: {named}.",
    ]
    return Answer(summary(rows) if is_summary else rows, says=says, exact=True)


def _side_by_side(asked: Asked, db: Path, other: Path, is_print_of: tuple[tuple[str, ...], str | None]) -> Answer:
    from slant.analysis.archive.study_copy import database_of
    from slant.analysis.questions.side_by_side import STATUSES as STANDINGS
    from slant.analysis.questions.side_by_side import side_by_side

    if any(is_print_of):
        raise UsageError(
            "--table and --status select printed numbers, --with another database: remove one.", "Leave one out."
        )
    with database_of(db) as here, database_of(other) as there:
        result = asked.compute(side_by_side, db=here, other=there)
    rows = result.estimates
    shown = ["fit", "model", "test", "term", "estimate", "estimate_there", "z", "status", "source", "variant"]
    says = []
    for name in ("answered", "refused", "other"):
        totals = [int(result.counts[column].sum()) for column in (name, f"{name}_there")]
        says.append(f"{name.capitalize()}: {totals[0]:,} here, {totals[1]:,} there.")
    counts = Counter(rows["status"].to_list())
    named = ", ".join(f"{name} {counts[name]:,}" for name in STANDINGS if counts[name])
    says.append(f"{rows.height:,} estimates here ({db.name}) and there ({other.name}): {named}.")
    return Answer(rows, shown, says)


def _checked_in_words(rows: pl.DataFrame) -> Iterator[str]:
    checked = rows.filter((pl.col("source") == PRINT) & pl.col("agrees").is_not_null())
    if checked.height:
        yield (
            f"Checked without raw data, against other printed numbers and the study's design "
            f'(source "{PRINT}"): {checked.height} numbers.'
        )


_EXAMPLES = """\b
Example:
  analyze reconstruct --study interference --format csv > paper.csv
  collect import --study interference --layout tidy --db paper.duckdb paper.csv
  analyze compare --study interference --db paper.duckdb
"""


@click.command("reconstruct", epilog=_EXAMPLES)
@study_option("It must come with a reconstruction.", required=True)
@output_options
def reconstruct_command(study: str, output_format: str) -> None:
    """Make answers with the printed counts, for a paper whose raw data are not public.

    A number that the counts decide comes out exactly; a posterior also depends on which words failed, which is not
    printed. No model gave these answers, and every row says so. `collect import` reads them (layout tidy).
    """
    loaded = load_study(study)
    print_rows(reconstruct_answers(loaded), output_format)
    say(f'Constructed from what "{loaded.name}" prints, not answers of any model. Store them in a separate database.')
