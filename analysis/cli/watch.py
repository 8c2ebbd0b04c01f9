"""`analyze watch`: has a model moved since it was first asked?"""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands.options import BETWEEN_0_AND_1, FILE
from slant.collector.errors import UsageError
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.terminal import say

if TYPE_CHECKING:
    import polars as pl

    from slant.analysis.questions.watch import Watch

ALARM = 4
EXAMPLES = f"""\b
Examples:
  collect watch rmiat --model {EXAMPLE_MODEL}
  analyze watch --study rmiat
  analyze watch --study rmiat --page watch.html --figure watch.svg
  analyze watch --study rmiat --format json --on-alarm "mail -s moved me@example.org"

Exit code 4: on the last occasion at least one mean, effect or rate has moved. Nothing is sent anywhere, unless the
command of --on-alarm does so; it gets the rows that moved as JSON on its standard input.
"""
_SHOWN = (
    "source", "study_version", "variant", "model", "test", "measure", "term", "occasion", "first_value", "value",
    "shift", "conf_low", "conf_high", "since", "is_alarm",
)  # fmt: skip
_OPTIONS = (
    option("--show", of=("latest", "history", "occasions"), default="latest", help="The rows to print."),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="Probability of a false alarm, over all looks."),
    click.option("--page", type=FILE, metavar="FILE", help="Also write an HTML page with the history: FILE.html."),
    click.option("--on-alarm", metavar="COMMAND", help="Run this command on an alarm; the rows are on its input."),
)


@result_command("watch", epilog=EXAMPLES, options=_OPTIONS, figure="the shifts over the occasions")
def watch_command(asked: Asked, show: str, alpha: float, page: Path | None, on_alarm: str | None) -> Answer:
    """Follow a model over the occasions on which it was asked the same prompts: which means, effects, rates of answers
    and refusals, and lengths of answers have moved since the first one?

    Intervals are valid after each occasion, however often one looks, and include the error of the first occasion;
    `since` is the occasion with which the shift begins. Missing occasions, a changed study and another served model are
    named.
    """
    import polars as pl

    from slant.analysis.questions.watch import watch

    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f'Can\'t write the page to "{page}": its name must end in .html.')
    result = asked.compute(watch, work="Looking for shifts in R", alpha=alpha)
    latest = result.table.filter(pl.col("occasion") == pl.col("occasion").max().over("model"))
    rows = {"latest": latest, "history": result.table, "occasions": result.occasions}[show]
    shown = [name for name in _SHOWN if name in rows.columns] if show != "occasions" else rows.columns
    same = [name for name in _SHOWN[:4] if rows[name].n_unique() == 1]
    verdict = _verdict(result)
    if page is not None:
        from slant.analysis.pages.watch_page import write_watch_page

        say(f"The page: {write_watch_page(result, verdict, page, alpha, asked.workers)}")
    if on_alarm and result.moved.height:
        _run(on_alarm, result.moved)
    code = ALARM if result.moved.height else 0
    drawn = ("plot_watch", result.table)
    return Answer(rows, [n for n in shown if n not in same], [verdict, *result.gaps], figure=drawn, exit_code=code)


def _verdict(result: Watch) -> str:
    n_looked = result.table.unique(["model", "test", "measure", "term"]).height
    if result.moved.is_empty():
        return f"Nothing has moved: no alarm in {n_looked} series over {result.occasions.height} later occasions."
    first = result.moved.row(0, named=True)
    name = ", ".join(str(first[key]) for key in ("model", "test", "measure", "term") if first[key] is not None)
    more = f", and {result.moved.height - 1} more" if result.moved.height > 1 else ""
    return (
        f"Alarm: {name} has moved by {first['shift']:.3g} ({first['conf_low']:.3g} to {first['conf_high']:.3g}) since "
        f"occasion {first['since']}{more}."
    )


def _run(command: str, moved: pl.DataFrame) -> None:
    """Run what the user typed, without a shell."""
    try:
        ended = subprocess.run(shlex.split(command), input=moved.write_json(), text=True, check=False)
    except (OSError, ValueError) as error:
        raise UsageError(f'Can\'t run the command of --on-alarm, "{command}": {error}.') from None
    if ended.returncode:
        say(f"The command of --on-alarm ended with exit code {ended.returncode}.")
