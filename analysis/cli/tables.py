"""Print the tables that the database's views make (`analyze tables`); the printed numbers of a paper next to the
recomputed ones (`analyze compare`), or answers with the printed counts (`analyze reconstruct`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import polars as pl

from slant.analysis.cli.options import measure_option, option, workers_options
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.analysis.fitting.result_versions import kept_version_sentences
from slant.analysis.pages.report_tables import FORMATS, table_text, token_measures
from slant.analysis.paper.comparison import STATUSES, compare, summary
from slant.analysis.paper.numbers import PRINT
from slant.analysis.paper.reconstruction import bases_in_words, reconstruct_answers
from slant.analysis.rows.result_warnings import chance_warnings, mixture_warnings
from slant.analysis.rows.study_choice import loadable_studies, study_names
from slant.analysis.rows.views import set_measure, study_name, table_info, tables
from slant.collector.commands import options
from slant.collector.errors import UsageError
from slant.collector.keep.database import kept_open, reading
from slant.collector.keep.frames import frame_of, registered
from slant.collector.keep.view_heads import TableInfo
from slant.collector.model_checks.findings import table_notes
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text, print_data, print_rows, printable, say
from slant.collector.view.notes_file import COLUMNS, NotesFile

_MOST_TABLES = 10
_CONSTANT = ("study", "study_version", "source", "variant")
_EXAMPLES = """\b
Examples:
  analyze tables
  analyze tables tokens_by_condition --format csv
  analyze tables costs --format latex > costs.tex              for a paper (booktabs); or --format markdown
  analyze tables coded_trials --notes anna.csv --notes ben.csv --format csv
  analyze tables --lake FOLDER
"""


@click.command("tables", epilog=_EXAMPLES)
@click.argument("names", nargs=-1, metavar="[TABLE]...")
@options.study_option("Default: every study.")
@measure_option
@click.option(
    "--notes", multiple=True, type=options.FILE, metavar="FILE", help="Readers' notes, for coded_trials. Repeatable."
)
@click.option("--all", "is_all", is_flag=True, help="All tables with rows, rather than the first ten.")
@options.list_option
@options.db_option
@options.output_options_with(*FORMATS)
@options.or_lake
@options.row_options
def tables_command(
    names: tuple[str, ...],
    study: str | None,
    measure: str | None,
    notes: tuple[Path, ...],
    is_all: bool,
    is_list: bool,
    db: Path,
    output_format: str,
) -> None:
    """Print tables made by SQL alone: descriptives, refusals, costs, and what fits have kept. This needs no R.

    Without a name the first ten that hold anything are printed, those of the study's design before others.
    CSV, JSON, LaTeX and Markdown hold one table: name it. coded_trials has readers' notes (`collect view --notes`).
    """
    infos, study = table_info(), study_name(study)
    if not is_list and (notes or CODED_TRIALS in names):
        if set(names) - {CODED_TRIALS}:
            raise click.UsageError(f"{CODED_TRIALS} is printed alone, because it comes from notes.")
        _print(coded_trials(db, notes, study, measure), output_format, CODED_TRIALS)
        return
    if is_list:
        rows = [
            {"table": info.name, "paper": info.paper or "", "grain": ", ".join(info.grain), "what": info.purpose}
            for info in infos.values()
        ]
        _print(pl.DataFrame(rows), output_format, "tables")
        return
    if output_format != "table" and len(names) != 1:
        raise click.UsageError(f"--format {output_format} prints only one table: name it (analyze tables --list).")
    with kept_open(db):
        frames = tables(db, study=study, names=names or None, measure=measure)
        remarks = [f"Note: {note}" for note in table_notes(db, study)]
        remarks += [*mixture_warnings(db, study, measure=measure), *chance_warnings(frames, db)]
        of_database = study_names(db)
        printed = {each.name for each in loadable_studies(of_database, db) if each.published}
    shown = frames if names else _first_tables(frames, infos, len(frames) if is_all else _MOST_TABLES)
    constants = {} if names else _constants(shown.values())
    if constants:
        print_data("; ".join(f"{name}: {printable(value)}" for name, value in constants.items()))
    for name, frame in shown.items():
        has_study = "study" in frame.columns and not frame.is_empty()
        has_paper = printed.issuperset(frame["study"].unique() if has_study else of_database)
        _print(frame.drop(constants, strict=False), output_format, name, infos[name], has_paper=has_paper)
    if not names and (more := sum(not frame.is_empty() for frame in frames.values()) - len(shown)):
        say(f"{count_text(more, 'more table')} with rows: --all, or name them (analyze tables --list).")
    for remark in remarks:
        say(remark)


def _first_tables(
    frames: Mapping[str, pl.DataFrame], infos: Mapping[str, TableInfo], most: int
) -> dict[str, pl.DataFrame]:
    """Return tables that hold anything: those of papers, of the study's design, and then those of any study."""
    filled = [name for name, frame in frames.items() if not frame.is_empty()]
    chosen = sorted(filled, key=lambda name: (not infos[name].paper, not infos[name].designs))[:most]
    return {name: frames[name] for name in chosen}


def _constants(frames: Iterable[pl.DataFrame]) -> dict[str, str]:
    """Return the columns with one value in all rows of all tables, if several tables have them: they are printed once,
    above."""
    values: dict[str, list[Any]] = {}
    for frame in frames:
        for name in _CONSTANT:
            if name in frame.columns:
                values.setdefault(name, []).extend(frame[name].unique())
    return {name: str(found[0]) for name, found in values.items() if len(found) > 1 and len(set(found)) == 1}


def _print(
    frame: pl.DataFrame, output_format: str, name: str, info: TableInfo | None = None, *, has_paper: bool = False
) -> None:
    """Print a table. `has_paper`: all its studies have printed numbers; a table of your own study is in no paper."""
    title = info.title(is_printed=has_paper) if info else ""
    if output_format in FORMATS:
        print_data(table_text(frame, output_format, caption=title, label=f"tab:{name}"), nl=False)
    else:
        print_rows(frame, output_format, title=title if info and output_format == "table" else None)


CODED_TRIALS = "coded_trials"


def coded_trials(
    db: str | Path, notes: Sequence[str | Path], study: str | None = None, measure: str | None = None
) -> pl.DataFrame:
    """Return the notes of each file (its name is the reader's) with the columns of their trials, of `study` or of all.

    There is one row per reader and trial, by reader in the order of files, then in the order of asking. Notes on trials
    that the database does not hold are left out. Raise UsageError if there is no file, a file is not one of notes, or
    two have the same name; `measure` is as for `open_trials`.
    """
    paths = [Path(path) for path in notes]
    readers = [path.stem for path in paths]
    if not paths or len(set(readers)) < len(readers):
        raise UsageError(
            f'The table "{CODED_TRIALS}" needs files of notes with different names.',
            "analyze tables coded_trials --notes FILE",
        )
    if missing := [str(path) for path in paths if not path.exists()]:
        raise UsageError(f"There are no notes {', '.join(missing)}.", "collect view --notes FILE writes them.")
    rows = [
        {"reader_no": number, "reader": path.stem, **{name: note.get(name) or None for name in COLUMNS}}
        for number, path in enumerate(paths)
        for note in NotesFile(path).read().values()
    ]
    schema = {"reader_no": pl.Int64, **dict.fromkeys(("reader", *COLUMNS), pl.String)}
    with reading(db) as connection, registered(connection, "reader_notes", pl.DataFrame(rows, schema=schema)):
        set_measure(connection, measure)
        coded: pl.DataFrame = frame_of(connection.sql(sql_query(CODED_TRIALS)))
    return coded if study is None else coded.filter(pl.col("study") == study)


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
    options.source_option(PRINT),
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
        type=options.FILE,
        metavar="FILE",
        help="Another database, or a sealed archive, of the same study: compare its fits with those of --db.",
    ),
    click.option(
        "--print",
        "own_print",
        type=options.FILE,
        metavar="FILE",
        help="A CSV with a printed table of your own: columns of `analyze --fit NAME --format csv` (term, estimate …).",
    ),
)


@result_command(
    "compare",
    epilog="\b\nExamples:\n  analyze compare --study rmiat --summary\n  analyze compare --status disagrees\n"
    "  analyze compare --db mine.duckdb --with theirs.zip\n  analyze compare --db mine.duckdb --print table2.csv",
    options=_OPTIONS,
    usual_options=[workers_options, options.db_option, options.output_options, options.row_options],
)
def compare_command(
    asked: Asked, is_summary: bool, table_names: tuple[str, ...], status: str | None, other: Path | None,
    own_print: Path | None,
) -> Answer:  # fmt: skip
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

    --print compares a table of your own, in a CSV, with the estimates of the study's fits: to half a unit of each last
    printed digit.
    """
    if own_print is not None:
        return _own_print(asked, own_print, bool(table_names or other or is_summary), status)
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


def _own_print(asked: Asked, file: Path, is_mixed: bool, status: str | None) -> Answer:
    from slant.analysis.paper.own_print import compare_print

    if is_mixed:
        raise UsageError("--print compares a table of your own.", "Leave out --table, --summary and --with.")
    rows = asked.compute(compare_print, file=file)
    counts = Counter(rows["status"].to_list())
    if status:
        rows = rows.filter(pl.col("status") == status.replace("-", " "))
    named = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    return Answer(rows, says=[f"{sum(counts.values()):,} numbers of {file.name}: {named or 'none'}."])


def _checked_in_words(rows: pl.DataFrame) -> Iterator[str]:
    checked = rows.filter((pl.col("source") == PRINT) & pl.col("agrees").is_not_null())
    if checked.height:
        yield (
            f"Checked without raw data, against other printed numbers and the study's design "
            f'(source "{PRINT}"): {checked.height} numbers.'
        )


_RECONSTRUCT_EXAMPLES = """\b
Example:
  analyze reconstruct --study interference --format csv > paper.csv
  collect import --study interference --layout tidy --db paper.duckdb paper.csv
  analyze compare --study interference --db paper.duckdb
"""


@click.command("reconstruct", epilog=_RECONSTRUCT_EXAMPLES)
@options.study_option("It must come with a reconstruction.", required=True)
@options.output_options
def reconstruct_command(study: str, output_format: str) -> None:
    """Make answers with the printed counts, for a paper whose raw data are not public.

    A number that the counts decide comes out exactly; a posterior also depends on which words failed, which is not
    printed. No model gave these answers, and every row says so. `collect import` reads them (layout tidy).
    """
    loaded = load_study(study)
    print_rows(reconstruct_answers(loaded), output_format)
    say(f'Constructed from what "{loaded.name}" prints, not answers of any model. Store them in a separate database.')
