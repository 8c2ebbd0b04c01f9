"""What `analyze` prints: tables, the comparison with the print, the report; and how it speaks of fits."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import click
import polars as pl

from slant.analysis.cli.study import meant, study_option
from slant.analysis.fitting.fits import FitResult, fit
from slant.analysis.pages.report import report as write_report
from slant.analysis.pages.tables import token_measures
from slant.analysis.pages.versions import made_with, told_versions
from slant.analysis.paper.compare import compare as compare_all
from slant.analysis.paper.compare import summary
from slant.analysis.paper.family import PRINT
from slant.analysis.paper.judged import STATUSES
from slant.analysis.paper.reconstruction import bases_in_words
from slant.analysis.questions.games.chance import told_of_chance
from slant.analysis.rows.doubts import doubtful_fits, mixtures
from slant.analysis.rows.fit_choice import passed_over
from slant.analysis.rows.tables import study_name, table_info
from slant.analysis.rows.tables import tables as all_tables
from slant.collector.checks.notes import table_notes
from slant.collector.commands.shown import shown_options
from slant.collector.designs import design_named
from slant.collector.studies.catalogue import Study
from slant.collector.terminal import db_option, format_option, print_rows, printable, say

_QUIET_S = 2.0


class FitProgress:
    """A line on stderr that counts fits, shown once the work has taken two seconds, and only on a terminal.

    `watch(path, name)` names a file in which the long fit of this name writes what it is doing; the line shows it, and
    is gone with it. `note()` says at once, on whatever stderr is, what must be known before a long wait.
    """

    def __init__(self, doing: str = "Fitting in R") -> None:
        self._begun = time.monotonic()
        self._doing_what = self._text = doing
        self._first: tuple[float, int] | None = None
        self._said: dict[Path, str] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __enter__(self) -> FitProgress:
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        for said in self._said:
            said.unlink(missing_ok=True)

    def __call__(self, done: int, number: int) -> None:
        """With the time that is left, at the pace of what was made by this command."""
        now = time.monotonic()
        self._first = self._first or (now, done)
        since, made = now - self._first[0], done - self._first[1]
        left = f", about {duration(since / made * (number - done))} left" if made and number > done else ""
        self._text = f"{self._doing_what}: {done} of {number}{left}"

    def watch(self, said: Path, name: str = "") -> None:
        self._said[said] = name

    def note(self, text: str) -> None:
        say(text)

    def _show(self) -> None:
        if self._ended.wait(_QUIET_S):
            return
        from rich.console import Console

        with Console(stderr=True).status(self._text, refresh_per_second=4) as status:
            while not self._ended.wait(0.5):
                status.update(f"{printable(self._doing())} ({time.monotonic() - self._begun:.0f} s)")

    def _doing(self) -> str:
        """What the fit that spoke last says; fits that take the whole machine are made one after another."""
        try:
            spoke = [said for said in self._said if said.exists()]
            last = max(spoke, key=lambda said: said.stat().st_mtime_ns, default=None)
            doing = last.read_text("utf-8").strip() if last else ""
            return ": ".join(filter(None, (self._said[last], doing))) if last and doing else self._text
        except (OSError, UnicodeDecodeError):
            return self._text


def duration(seconds: float) -> str:
    """Rounded as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def fit_and_say(engine: str, db: Path, study: str | None, **options: Any) -> FitResult:
    """Fit, and say on stderr how many fits are ok and what is doubtful about the others."""
    with FitProgress() as progress:
        result = fit(engine, db, study, progress=progress, **options)
    counts = Counter(result.diagnostics["status"].to_list())
    say(f"{result.diagnostics.height} fits: " + ", ".join(f"{n} {status}" for status, n in counts.most_common()) + ".")
    for said in doubtful_fits(result.diagnostics):
        say(f"Doubtful: {said}")
    for said in passed_over(engine, db) if study is None else ():
        say(said)
    if versions := made_with(result):
        say(versions)
    if result.not_kept:
        say(f"The fits could not be kept. {result.not_kept}")
    return result


def measures_in_words(db: Path, study: Study, source: str | None) -> Iterator[str]:
    """What the tokens of each model are, a sentence for each source; of a study about something else, nothing."""
    if not design_named(study.design).analyses_tokens:
        return
    rows = all_tables(db, ["token_sources"], study=study.name)["token_sources"]
    for (name,), part in rows.group_by("source", maintain_order=True):
        if source in (None, name):
            models = token_measures(part, {}).values()
            yield f"Tokens ({name}) are, for {'; '.join(models) or 'no model, known'}."


@click.command(epilog="\b\nExamples:\n  analyze compare --study rmiat --summary\n  analyze compare --only slips")
@study_option
@click.option(
    "--source",
    type=click.Choice(["collected", "imported", "simulated", PRINT]),
    help="Only rows of this source; print: what can be checked without raw data.",
)
@click.option("--summary", "summarised", is_flag=True, help="One line a table instead of one a number.")
@click.option(
    "--table", "asked", multiple=True, help='Only this table: S6, text, "v1 S3" … May be given several times.'
)
@click.option(
    "--only",
    type=click.Choice(["agrees", "slips", "disagrees", "no-data", "not-checkable"]),
    help="Only numbers that stand like this.",
)
@click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
@db_option
@format_option
@shown_options
def compare(
    study: str | None, source: str | None, summarised: bool, asked: tuple[str, ...], only: str | None,
    workers: int | None, db: Path, output_format: str,
) -> None:  # fmt: skip
    """Every printed number of the paper beside the recomputed one: its tables, the numbers in its text ("text"), its
    earlier version ("v1 S3" to "v1 S7").

    A number agrees where it differs from the print by at most `tolerance`: half a unit of the last printed digit, if
    the study says nothing else. A slip is a misprint that the authors' own data contradict. "no data": nothing of that
    model and test is here. "not checkable": what is here can't decide, and the note says why. Simulated rows are
    compared, but not judged. Rows of the source "print" need no raw data: a paper's numbers among each other, and
    beside the study's design. Of games, `test` is the variant and `condition` the format of answers.
    """
    its = meant(db, study, lambda one: one.published is not None, "has printed numbers to compare with")
    with FitProgress() as progress:
        rows = compare_all(db, its, source=source, workers=workers, progress=progress, tables=asked or None)
    counts, bases = Counter(rows["status"].to_list()), [*bases_in_words(rows), *_checked_in_words(rows)]
    if only:
        rows = rows.filter(pl.col("status") == {"slips": "slip"}.get(only, only.replace("-", " ")))
    print_rows(summary(rows) if summarised else rows, output_format)
    measures = measures_in_words(db, its, source)
    for said in [*measures, *mixtures(db, its.name, source), *told_versions(db, its.name), *bases]:
        say(said)
    say(f"{sum(counts.values()):,} numbers: " + ", ".join(f"{s} {counts[s]:,}" for s in STATUSES if counts[s]) + ".")


def _checked_in_words(rows: pl.DataFrame) -> Iterator[str]:
    checked = rows.filter((pl.col("source") == PRINT) & pl.col("agrees").is_not_null())
    if checked.height:
        yield f'Checked without raw data, by what else is printed and by the study\'s design (source "{PRINT}"): ' + (
            f"{checked.height} numbers."
        )


@click.command(epilog="\b\nExamples:\n  analyze tables\n  analyze tables tokens_by_condition --format csv")
@click.argument("names", nargs=-1, metavar="[TABLE]...")
@click.option("--study", help="Only rows of this study: its name, or the path of its TOML file.")
@click.option(
    "--measure", type=click.Choice(["reasoning", "output", "recounted"]), help="Which tokens. Default: the study's."
)
@click.option("--list", "listed", is_flag=True, help="Say which tables there are, and what is in them.")
@db_option
@format_option
@shown_options
def tables(
    names: tuple[str, ...], study: str | None, measure: str | None, listed: bool, db: Path, output_format: str
) -> None:
    """The tables that SQL alone can make (descriptives, refusals, mentions of the IAT, …). Needs no R.

    CSV and JSON print one table, so they want one TABLE name.
    """
    infos, study = table_info(), study_name(study)
    if listed:
        rows = [{"table": i.name, "paper": i.paper or "", "grain": ", ".join(i.grain), "what": i.purpose}
                for i in infos.values()]  # fmt: skip
        print_rows(rows, output_format)
        return
    if output_format != "table" and len(names) != 1:
        raise click.UsageError(f"--format {output_format} prints one table: name it ({', '.join(infos)}).")
    made = ("topic_", "bayes_", "permutation_", "specifications")
    found = all_tables(db, names or None, study=study, measure=measure)
    for name, frame in found.items():
        if not names and frame.is_empty() and (infos[name].design or name.startswith(made)):
            continue  # eleven empty tables, where no topics were fitted, would hide the others
        print_rows(frame, output_format, title=infos[name].title if output_format == "table" else None)
    for note in table_notes(db, study):
        say(f"Note: {note}")
    for said in (*mixtures(db, study, measure=measure), *told_of_chance(found, db)):
        say(said)


@click.command(epilog="\b\nExample:\n  analyze report --out report.html")
@study_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    help="The HTML file to write; one that is there is replaced.",
)
@click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
@db_option
@shown_options
def report(study: str | None, out: Path, workers: int | None, db: Path) -> None:
    """One self-contained HTML page: tables beside the print, figures, warnings, where it comes from.

    Prints the path of the page.
    """
    its = meant(db, study)
    with FitProgress() as progress:
        path = write_report(db, out, its, workers=workers, progress=progress)
    click.echo(path)
