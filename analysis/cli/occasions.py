"""Compare answers to the same prompts: later occasions with the first (`analyze retest`, `analyze watch`), a model with
its successor (`analyze successor`).
"""

from __future__ import annotations

import shlex
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands.options import BETWEEN_0_AND_1, FILE
from slant.collector.errors import UsageError
from slant.collector.example_models import EXAMPLE_MODEL, SECOND_MODEL
from slant.collector.terminal import say

if TYPE_CHECKING:
    import polars as pl


# A terminal has room for these; CSV and JSON have all columns.
_SHOWN = {
    "retest": (
        "source", "study_version", "variant", "model", "occasion", "test", "measure", "n_answers", "share_equal",
        "kappa", "n", "icc", "icc_low", "icc_high", "icc_residual", "shift", "shift_low", "shift_high", "p_value",
    ),
    "watch": (
        "source", "study_version", "variant", "model", "test", "measure", "term", "occasion", "first_value", "value",
        "shift", "conf_low", "conf_high", "since", "is_alarm",
    ),
    "successor": (
        "source", "old_model", "new_model", "variant", "test", "measure", "term", "old", "new", "difference",
        "conf_low", "conf_high", "bound", "verdict", "verdict_holm",
    ),
}  # fmt: skip
_EXAMPLES_OF_RETEST = f"""\b
Examples:
  collect --study rmiat --model {EXAMPLE_MODEL} --again 200
  analyze retest --study rmiat
  analyze retest --study rmiat --by test --format csv > retest.csv
  analyze retest --study rmiat --figure retest.svg
"""

_BY = option("--by", of=("model", "test"), default="model", help="Pool all tests of a model, or report each test.")


@result_command("retest", epilog=_EXAMPLES_OF_RETEST, options=[_BY], figure="all tests together", refit=True)
def retest_command(asked: Asked, by: str) -> Answer:
    """Compare trials that were asked again (`collect --again`) with their first answers: is it the same tomorrow?

    For each later occasion there are the share of equal answers and Cohen's kappa, the intraclass correlation of the
    measure (of all trials, and of how those of one test and condition differ: icc_residual), and its shift with a
    paired t test. When each occasion was, and which model answered, is in the table retest_occasions.
    """
    import polars as pl

    from slant.analysis.questions.occasions import retest
    from slant.analysis.rows.cells import GRAIN

    result = asked.compute(retest)
    together = result.table.filter(pl.col("test").is_null())
    rows = together if by == "model" else result.table.filter(pl.col("test").is_not_null())
    same = [name for name in (*GRAIN, "measure", "test") if rows[name].n_unique() == 1]
    return Answer(rows, [name for name in _SHOWN["retest"] if name not in same], figure=("plot_retest", together))


ALARM = 4
_EXAMPLES_OF_WATCH = f"""\b
Examples:
  collect watch rmiat --model {EXAMPLE_MODEL}
  analyze watch --study rmiat
  analyze watch --study rmiat --page watch.html --figure watch.svg
  analyze watch --study rmiat --format json --on-alarm "mail -s moved me@example.org"

Exit code 4: on the last occasion at least one mean, effect or rate has moved. Nothing is sent anywhere, unless the
command of --on-alarm does so; it gets the rows that moved as JSON on its standard input.
"""
_OF_OCCASIONS = ("model", "occasion", "asked_from", "n_trials", "n_answered", "served_models", "cost_usd")
_OPTIONS_OF_WATCH = (
    option("--show", of=("latest", "history", "occasions"), default="latest", help="The rows to print."),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="Probability of a false alarm, over all looks."),
    click.option("--page", type=FILE, metavar="FILE", help="Also write an HTML page with the history: FILE.html."),
    click.option("--on-alarm", metavar="COMMAND", help="Run this command on an alarm; the rows are on its input."),
)


@result_command("watch", epilog=_EXAMPLES_OF_WATCH, options=_OPTIONS_OF_WATCH, figure="the shifts over the occasions")
def watch_command(asked: Asked, show: str, alpha: float, page: Path | None, on_alarm: str | None) -> Answer:
    """Follow a model over the occasions on which it was asked the same prompts: which means, effects, rates of answers
    and refusals, lengths and costs of answers have moved since the first one?

    Intervals are valid after each occasion, however often one looks, and include the error of the first occasion;
    `since` is the occasion with which the shift begins. Missing occasions, a changed study and another served model are
    named.
    """
    import polars as pl

    from slant.analysis.questions.occasions import IS_LATEST, moved_sentence, watch

    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f'Can\'t write the page to "{page}": its name must end in .html.')
    result = asked.compute(watch, work="Looking for shifts in R", alpha=alpha)
    latest = result.table.filter(IS_LATEST)
    rows = {"latest": latest, "history": result.table, "occasions": result.occasions}[show]
    shown = [name for name in _SHOWN["watch"] if name in rows.columns] if show != "occasions" else rows.columns
    same = [name for name in _SHOWN["watch"][:4] if rows[name].n_unique() == 1]
    verdict = moved_sentence(latest)
    if page is not None:
        from slant.analysis.pages.result_page import write_result_page

        about = f"A false alarm has at most a probability of {alpha} over all looks and all that is watched."
        tables = {
            "On the last occasion": latest.select(_SHOWN["watch"][3:7] + _SHOWN["watch"][8:]),
            "Occasions": result.occasions.select(_OF_OCCASIONS).with_columns(pl.col("asked_from").cast(pl.Date)),
        }
        said, drawn = [verdict, *result.gaps, *result.warnings, about], ("plot_watch", result.table)
        written = write_result_page(page, "Has the model moved?", said, drawn, tables, asked.workers)
        say(f"The page: {written}")
    if on_alarm and result.moved.height:
        _run(on_alarm, result.moved)
    code = ALARM if result.moved.height else 0
    figure = ("plot_watch", result.table)
    return Answer(rows, [n for n in shown if n not in same], [verdict, *result.gaps], figure=figure, exit_code=code)


def _run(command: str, moved: pl.DataFrame) -> None:
    """Run what the user typed, without a shell; what it prints goes to stderr, for stdout has the rows."""
    stderr = 2
    try:
        ended = subprocess.run(shlex.split(command), input=moved.write_json(), text=True, check=False, stdout=stderr)
    except (OSError, ValueError) as error:  # an alarm is one, whether its command runs or not
        say(f'Can\'t run the command of --on-alarm, "{command}": {error}.')
        return
    if ended.returncode:
        say(f"The command of --on-alarm ended with exit code {ended.returncode}.")


_OLD, _NEW = (name.split("/")[-1] for name in (EXAMPLE_MODEL, SECOND_MODEL))
_EXAMPLES_OF_SUCCESSOR = f"""\b
Examples:
  analyze successor {_OLD} {_NEW} --study rmiat
  analyze successor paper.zip new.duckdb --bound 0.2 --bound rate=0.05
  analyze successor old.duckdb:{_OLD} new.duckdb:{_NEW} --figure successor.svg
"""
_OPTIONS_OF_SUCCESSOR = (
    click.argument("old"),
    click.argument("new"),
    option("--show", of=("effects", "unpaired"), default="effects", help="The table to print."),
    click.option(
        "--bound",
        multiple=True,
        metavar="[MEASURE=]NUMBER",
        help="The smallest difference that would matter: 0.2, rating=0.2, rate=0.05 (of answers and refusals). "
        "Repeatable. Default: half the smallest_effect of the study.",
    ),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="The level of the tests."),
)


@result_command(
    "successor",
    epilog=_EXAMPLES_OF_SUCCESSOR,
    options=_OPTIONS_OF_SUCCESSOR,
    figure="the old effects against the new ones",
)
def successor_command(asked: Asked, old: str, new: str, show: str, bound: tuple[str, ...], alpha: float) -> Answer:
    """Compare a model with its successor on the same prompts: each mean and effect of a level, and the rates of answers
    and refusals.

    OLD and NEW are databases, sealed archives, or models or runs of --db; FILE:MODEL is one model of a file. Each
    difference (new less old) has its 95 % interval and a verdict: "equivalent within the bound" (two one-sided tests),
    "differs by more than the bound" (its interval lies beyond it) or "not decided"; verdict_holm is the same after
    Holm's correction over all of them. The last lines are a paragraph for a paper.
    """
    from slant.analysis.archive.study_copy import database_of
    from slant.analysis.questions.successor import file_of_side, successor

    with ExitStack() as stack:
        files = [file_of_side(side, asked.db) for side in (old, new)]
        paths = [(stack.enter_context(database_of(file)), name) for file, name in files]
        sides = [f"{path}:{name}" if name else str(path) for path, name in paths]
        result = asked.compute(successor, work="Comparing in R", old=sides[0], new=sides[1], bound=bound, alpha=alpha)
    rows = result.table if show == "effects" else result.unpaired
    shown = [name for name in _SHOWN["successor"] if name in rows.columns] if show == "effects" else rows.columns
    same = [
        name for name in ("old_model", "new_model", "variant", "test") if rows.height and rows[name].n_unique() == 1
    ]
    empty = [name for name in ("bound", "verdict", "verdict_holm") if name in rows and rows[name].is_null().all()]
    return Answer(
        rows,
        [name for name in shown if name not in (*same, *empty)],
        says=[result.summary, result.paragraph],
        figure=("plot_successor", result.table),
    )
