"""Bring trials in from files (`collect import`), and out again (`collect export`)."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from slant.collector.commands.options import (
    FILE,
    anonymous_option,
    db_option,
    is_choosing_rows,
    is_typed,
    opening_once,
    output_options,
    row_options,
    setting_option,
    study_option,
    verbose_option,
)
from slant.collector.errors import SlantError, UsageError, as_typed
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.system.files import csv_text
from slant.collector.system.scratch import write_whole_file
from slant.collector.terminal import count_text, if_interrupted, late_bar, print_data, print_rows, printable, say

_SHOWN_PROBLEMS = 10
_SHOWN_COLUMNS = 40

_IMPORT_EXAMPLES = f"""\b
Examples:
  collect import answers.csv                    inspect its columns, propose a study, say what to type next
  collect import --study rmiat answers.csv
  collect import --study rmiat --model {EXAMPLE_MODEL} answers.parquet
  collect import --study rmiat --map answer=response,tokens=n_tok --map-model x-1=local/x answers.csv
  collect import --study rmiat --map answer=reply.text,test==flowers_insects,wording=prompt_id+1 log.jsonl
  collect import --study NAME --map item:answer=rating_* wide.xlsx
  collect import --study rmiat --layout lee-lai --model deepseek-r1 DeepSeek-R1/
  collect import --study NAME --layout people --map item:answer=Q* --person age_group,party survey.csv \\
                 --consent "informed, data may be shared" --origin osf.io/abcde

Files: CSV, Excel, Parquet, JSON (lines or an array), batch output of OpenAI, Anthropic, Gemini and Bedrock, logs of
Inspect, promptfoo and jsPsych; also packed (.gz, .zst, .bz2, .xz, .zip). A place that has no column may be part of
custom_id or id: rose|compatible|1.
--map: a column, a field in a field (a.b[0].c), =VALUE for all rows, COLUMN+1 where numbers begin at 0, and
condition:answer=a:b for a row with an answer in each of the columns a and b.

The layout "tidy" has slant's own column names: test, condition, item, wording, answer, tokens, model (or --model),
and if you like group, repetition, reasoning_text, token_source, option_a, option_b … as `collect export` writes them.
A study of forced choices needs option_a and option_b (the texts that were A and B) and no tokens; domain, block, word,
category may stand for test, condition, item, group.
The layout "people" takes nothing but columns that are named, by --map, by --person or by our own names (participant,
response_time_ms, is_error, phase among them); files of Qualtrics, jsPsych and Project Implicit need few. People get
running numbers, and every other column is listed as left out.
An empty answer or NA is missing: it is counted, and not taken. Importing a file twice adds nothing.
Exit code 1 where rows could not be read; the others are kept.
"""

_EXPORT_EXAMPLES = """\b
Examples:
  collect export --out trials.parquet
  collect export --study NAME --out trials.csv --spreadsheet-safe
  collect export --anonymous --out trials.csv      for a blind review: without commands, paths, hosts
  collect export --view refusal_counts --format csv --out -
  collect export --view allocation_candidates --out candidates.csv
  collect export --layout scout --out transcripts/trials.parquet
  collect export --layout lake FOLDER           all there is, as Parquet that grows; then: analyze tables --lake FOLDER
"""


@click.command("import", epilog=_IMPORT_EXAMPLES)
@study_option("Without it, the columns are inspected and a study is proposed.")
@click.option(
    "--layout", default="tidy", show_default=True, help="Of the files: tidy, people, lee-lai, bai or downstream."
)
@click.option("--model", help="The model of all rows, if the files don't name it.")
@setting_option("variant")
@click.option("--map", "columns", multiple=True, metavar="OURS=THEIRS", help="Columns: answer=response,tokens=n_tok.")
@click.option(
    "--map-model", "map_models", multiple=True, metavar="THEIRS=MODEL", help="A model: x-1=local/x. Repeatable."
)
@click.option("--decimal", metavar="MARK", help="Decimal mark: . or , (in a file with semicolons).")
@click.option(
    "--person", multiple=True, metavar="COLUMN", help="Participant attributes to import, e.g. age_group=AGE,gender."
)
@click.option(
    "--map-value",
    "map_values",
    multiple=True,
    metavar="COLUMN:THEIRS=OURS",
    help="People: condition:1=compatible; of one question: answer[item=rose]:0=Calm.",
)
@click.option(
    "--not", "without", multiple=True, metavar="COLUMN", help="Without a study: a column that doesn't belong to it."
)
@click.option("--consent", metavar="TEXT", help="People: what they agreed to. Required.")
@click.option("--origin", metavar="TEXT", help="People: the origin of their answers. Required.")
@click.option("--problems", "problems_file", type=FILE, metavar="FILE", help="Save every problem as CSV.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@db_option
@output_options
@opening_once
def import_command(
    study: str | None, variant: str, problems_file: Path | None, db: Path, output_format: str, **files: Any
) -> None:
    """Bring answers from files (or the files of folders) into the database.

    Without --study the columns are looked at, and a study of a fitting design is written, with what each column was
    taken for; nothing is imported, and no file is written over.
    """
    if study is None:
        if is_typed("variant") or problems_file is not None:
            raise UsageError("--variant and --problems need a study: name it, as in --study rmiat")
        if any(files.pop(name) for name in ("person", "map_values", "consent", "origin")):
            raise UsageError("People's answers need a study: name it, as in --study rmiat --layout people")
        _propose(files, db)
        return
    if files.pop("without"):
        raise UsageError("--not is only for proposals: a study names its columns in its [import].")
    from slant.collector.importing.imports import import_trials, imported_before
    from slant.collector.keep.anonymous import typed_command
    from slant.collector.progress.status import coverage_note
    from slant.collector.studies.catalogue import load_study
    from slant.collector.studies.stored_texts import kept_text, text_id

    loaded = load_study(study, variant, db)
    for known in imported_before(db, loaded.name, files["paths"]):
        say(known)
    newest = kept_text(db, loaded.name)
    if_interrupted("Left at once.", f"Rows that are in {db} stay. The same command adds only the rest.")
    with _progress() as on_rows:
        report = import_trials(db, study, variant=variant, on_rows=on_rows, command=typed_command(db), **files)
    _print_import(report, output_format)
    if report.rows_already_there and newest is not None and newest.text_id != text_id(loaded.texts):
        say(f"{study} has been edited, and rows that were there stay as it read them. To read all again: --db NEW_FILE")
    if note := coverage_note(db, loaded):
        say(note)
    if problems_file is not None:
        try:
            rows = ((problem.file, problem.line, printable(problem.text)) for problem in report.problems)
            write_whole_file(problems_file, csv_text(("file", "line", "problem"), rows).encode("utf-8"))
        except OSError as error:
            raise SlantError(f"Can't write {problems_file}: {error.strerror}.", "The import itself is done.") from error
    if report.problems:
        _say_problems(report.problems, problems_file)
        sys.exit(1)


@click.command("export", epilog=_EXPORT_EXAMPLES)
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False), metavar="[FOLDER]")
@study_option("Default: every study.")
@click.option("--view", help="A view: allocation_rounds, trials, any table. Default: the trials of the study.")
@click.option(
    "--format", "file_format", type=click.Choice(["parquet", "csv", "jsonl"]), help="Default: by the file's ending."
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), help="The file to write; - is stdout."
)
@click.option(
    "--layout",
    type=click.Choice(["scout", "lake"]),
    help="scout: transcripts as Parquet for Inspect Scout. lake: FOLDER with everything; repeat the command to "
    "add new rows.",
)
@click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="CSV: prevent spreadsheets from running texts as formulas.",
)
@click.option("--prompts", is_flag=True, help="Add what was sent to each trial as the column prompt.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
@anonymous_option
@db_option
@verbose_option
@row_options
def export_command(
    folder: Path | None,
    study: str | None,
    view: str | None,
    file_format: str | None,
    out: Path | None,
    layout: str | None,
    db: Path,
    **kinds: bool,
) -> None:
    """Write trials (or any view) as Parquet, CSV or JSON lines; or all there is as a lake of Parquet files."""
    if (layout == "lake") != (folder is not None):
        as_file = f"--out {folder}" if folder is not None and folder.suffix else f"--view {folder} --out FILE"
        raise UsageError(
            "Only a lake is written to a folder: collect export --layout lake FOLDER",
            *([] if folder is None else [f"To write one file: collect export {as_file}"]),
        )
    if folder is not None:
        anonymous = kinds.pop("anonymous")
        if study or view or file_format or out or any(kinds.values()) or is_choosing_rows():
            raise UsageError(
                "A lake has all studies, views, versions and runs; new rows are added in new files.",
                "Remove the other options; --anonymous and --db may stay.",
            )
        _export_lake(db, folder, anonymous)
        return
    from slant.collector.keep.export import export_trials, usual_view, views_of_games
    from slant.collector.studies.catalogue import load_study

    if study is not None and study.endswith(".toml"):
        study = load_study(study).name
    if layout is not None:
        if view or file_format or kinds.pop("spreadsheet_safe") or kinds.pop("prompts"):
            raise UsageError(f"--layout {layout} always writes trials, as Parquet.")
        from slant.collector.view.bundle import export_for_scout

        out = out or Path("transcripts") / "trials.parquet"
        if_interrupted("Left at once.", _left_as_it_was(out))
        n_trials = export_for_scout(db, out, study, **kinds)
        say(f'{n_trials:,} trials written to {out}. In Python: inspect_scout.transcripts_from("{out.parent}")')
        return
    asked_for, view = view, view or usual_view(db, study)
    path = out or Path(f"{view}.{file_format or 'parquet'}")
    to_stdout = str(path) == "-"
    if to_stdout and file_format == "parquet":
        raise UsageError("Parquet can't be written to a pipe.", "Name a file: --out trials.parquet")
    chosen = file_format or ("csv" if to_stdout else None)
    is_shown = to_stdout and sys.stdout.isatty()
    if_interrupted("Left at once.", "The output on stdout is incomplete." if to_stdout else _left_as_it_was(path))
    shown = io.BytesIO()
    where: Any = shown if is_shown else sys.stdout.buffer if to_stdout else path
    report = export_trials(db, study, where, view, chosen, **kinds)
    if is_shown:
        print_data(shown.getvalue().decode(), nl=False)
    mix = ", ".join(f"{count:,} {source}" for source, count in sorted(report.sources.items()))
    rows = f"{count_text(report.rows, 'row')} of {view}{f' ({mix})' if mix else ''}"
    say(f"{rows} written to {'stdout' if to_stdout else path}.")
    if others := [name for name in views_of_games(db) if name != view and not asked_for]:
        say(f"Games have separate views: --view {', '.join(others)}")


def _left_as_it_was(path: Path) -> str:
    return f"{path} is unchanged: a file is replaced only once it is complete."


def _export_lake(db: Path, folder: Path, anonymous: bool) -> None:
    from slant.collector.keep.lake import export_lake

    if_interrupted("Left at once.", f"What is in {folder} stays. The same command adds the rest.")
    with _progress("written") as on_rows:
        report = export_lake(db, folder, on_rows, anonymous=anonymous)
    say(
        f"{count_text(report.new_attempts, 'attempt')} written in {count_text(report.new_parts, 'part')}; "
        f"{folder} holds {report.attempts:,}. "
        f"Next: analyze tables --lake {as_typed(folder)}"
    )


def _propose(files: dict[str, Any], db: Path) -> None:
    """Write a study for the files, and say what it took and how to go on."""
    from slant.collector.importing.proposals.proposal import propose_study
    from slant.collector.studies.catalogue import load_study, next_command

    if (layout := files.pop("layout")) not in ("tidy", "people"):
        raise UsageError("--layout needs a study: name it, as in --study rmiat")
    if_interrupted("Left at once.", "Nothing was written.")
    decimal = files["decimal"]
    with _progress() as on_rows:
        proposed = propose_study(on_rows=on_rows, is_of_people=layout == "people", **files)
    path = proposed.write()
    say(f"Proposed: a study of the design {proposed.design}, from the columns of the files:")
    for sentence in (*proposed.taken, *proposed.remarks):
        say(f"  {printable(sentence)}")
    if proposed.left:
        say(f"Not taken: {printable(', '.join(proposed.left[:20]))}{' …' if len(proposed.left) > 20 else ''}")
    say("Why, column by column:")
    for sentence in proposed.why[:_SHOWN_COLUMNS]:
        say(f"  {printable(sentence)}")
    if len(proposed.why) > _SHOWN_COLUMNS:
        say(f"  … and {len(proposed.why) - _SHOWN_COLUMNS} more columns")
    say(f"Written: {', '.join(str(path.parent / name) for name in sorted(proposed.files))}")
    own_db = db if is_typed("db") else Path(f"{path.parent.name}.duckdb")
    typed = [f"--model {as_typed(proposed.model)}"] if proposed.model else []
    typed += [f"--decimal {decimal}"] if decimal else []
    if proposed.layout == "people":
        typed += ["--layout people --consent TEXT --origin TEXT"]
        typed += [f"--map-value {as_typed(value)}" for value in proposed.values]
    rows = " ".join([*typed, *(as_typed(file) for file in files["paths"])])
    say(f"Next: collect import --study ./{path} --db {as_typed(own_db)} {rows}")
    if proposed.fit:
        say(f"      {next_command(load_study(str(path)), own_db)}")
    elif proposed.table:
        say(f"      analyze tables {proposed.table} --db {as_typed(own_db)}")


def _print_import(report: Any, output_format: str) -> None:
    invalid = "refusals" if report.only_labels else "invalid"
    rows = [
        {"model": model, "test": test, "imported": count, invalid: report.refusals_by_test[model, test]}
        for (model, test), count in report.rows_by_test.items()
    ]
    if rows:
        print_rows(rows, output_format)
    for warning in report.warnings:
        say(f"Warning: {warning}")
    if report.people or report.left_out:
        n_people = f"{report.people:,} {'person' if report.people == 1 else 'people'}"
        kept = "stored by name" if report.has_names else "now numbered; the ids in the file are not stored"
        say(f"{n_people}, {kept}.")
        left = ", ".join(map(printable, report.left_out))
        say(f"Columns not imported, and not stored: {left or 'none'}.")
    refusals = sum(report.refusals_by_test.values())
    kind = f"{refusals:,} without one clear choice"
    if report.only_labels:
        kind = f"{count_text(refusals, 'refusal')}: {'an answer' if refusals == 1 else 'answers'} not exactly a label"
    imported = f"{count_text(report.rows_imported, 'row')} imported ({kind})"
    say(f"{imported if report.rows_imported else 'No new rows'}; {report.rows_already_there:,} were already there.")


def _say_problems(problems: list[Any], saved: Path | None) -> None:
    say(f"{len(problems):,} {'row was' if len(problems) == 1 else 'rows were'} not imported:")
    causes = list(_causes(problems))
    for cause in causes[:_SHOWN_PROBLEMS]:
        say(f"  {cause}")
    place = f"all are in {saved}" if saved else "to save all: --problems FILE.csv"
    if len(causes) > _SHOWN_PROBLEMS:
        say(f"  … and {len(causes) - _SHOWN_PROBLEMS:,} more causes ({place})")
    elif len(causes) < len(problems):
        say(f"  ({place})")


def _causes(problems: list[Any]) -> Iterator[str]:
    """Return a line per cause: unknown models together, rows with the same cause together, the others unchanged."""
    models = Counter(problem.model for problem in problems if problem.model)
    if models:
        count = sum(models.values())
        named = f"{len(models)} models unknown: " if len(models) > 1 else "1 model unknown: "
        listed = ", ".join(f"{name} ({n_rows:,})" for name, n_rows in models.most_common())
        hint = f"add {'them' if len(models) > 1 else 'it'}, or --map-model {next(iter(models))}=PROVIDER/NAME"
        yield f"{count:,} {'row' if count == 1 else 'rows'}: {named}{listed}; {hint}"
    alike: dict[str, list[Any]] = {}
    for problem in problems:
        if not problem.model:
            alike.setdefault(problem.text, []).append(problem)
    for text, rows in alike.items():
        first = rows[0]
        yield str(first) if len(rows) == 1 else f"{len(rows):,} rows: {text} (first: {first.file}, line {first.line:,})"


@contextmanager
def _progress(what: str = "read") -> Iterator[Callable[[int], None]]:
    """Count rows on a terminal."""
    from rich.progress import SpinnerColumn, TextColumn

    with late_bar(SpinnerColumn(), TextColumn(f"{{task.completed:,.0f}} rows {what}")) as update:
        yield lambda count: update(advance=count)
