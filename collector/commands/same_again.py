"""Ask a fixed balanced set of a study's prompts: of a model and its successor, or of one model every month."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slant.collector.commands.options import AT_LEAST_1, db_option
from slant.collector.errors import UsageError, as_typed
from slant.collector.example_models import EXAMPLE_MODEL, SECOND_MODEL
from slant.collector.terminal import say

if TYPE_CHECKING:
    from slant.collector.studies.catalogue import Study

_TIMES = {
    "day": ("0 9 * * *", "*-*-* 09:00"),
    "week": ("0 9 * * 1", "Mon 09:00"),
    "month": ("0 9 1 * *", "*-*-01 09:00"),
}
_PASSED_ON = "What follows is passed on to `collect`: --budget, --yes, --dry-run, --base-url, --simulated and the like."
_SUCCESSOR = f"""\b
Examples:
  collect successor rmiat --from {EXAMPLE_MODEL} --to {SECOND_MODEL} --bound 20 --dry-run
  collect successor rmiat --from {EXAMPLE_MODEL} --to {SECOND_MODEL} --trials 400
  analyze successor {EXAMPLE_MODEL} {SECOND_MODEL} --study rmiat

{_PASSED_ON}
"""
_WATCH = f"""\b
Examples:
  collect watch rmiat --every month --model {EXAMPLE_MODEL}    prints what to put into cron, or to type for systemd
  collect watch rmiat --model {EXAMPLE_MODEL} --yes            asks the next occasion
  analyze watch --study rmiat

{_PASSED_ON}
"""
_PASSES_ON = {"ignore_unknown_options": True, "allow_extra_args": True}
_more = click.argument("more", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF COLLECT]…")


@click.command("successor", epilog=_SUCCESSOR, context_settings=_PASSES_ON)
@click.argument("study")
@click.option("--from", "old", required=True, metavar="MODEL", help="The old model.")
@click.option("--to", "new", required=True, metavar="MODEL", help="The new model.")
@click.option("--bound", multiple=True, metavar="[MEASURE=]NUMBER", help="As in `analyze successor`.")
@click.option("--trials", type=AT_LEAST_1, help="How many prompts. Default: as many as decide with 80 % power.")
@db_option
@_more
@click.pass_context
def successor_command(
    ctx: click.Context,
    study: str,
    old: str,
    new: str,
    bound: tuple[str, ...],
    trials: int | None,
    db: Path,
    more: tuple[str, ...],
) -> None:
    """Ask a model and its successor the same balanced prompts, while both live.

    The smallest set that decides: with a probability of 80 % every mean and effect is found equivalent if nothing
    differs (before Holm's correction), by the variance of the old model's answers in the database. What is answered
    already is not asked again. The price, and when the models end, are said before anything is asked.
    """
    from slant.collector.cost.estimate import bounds_of, deciding_trials
    from slant.collector.studies.catalogue import load_study

    loaded = load_study(study, db=db)
    wanted = trials or deciding_trials(db, loaded, old, bounds_of(loaded, bound))
    planned = sum(test.planned for test in loaded.tests)
    n = min(wanted, planned)
    what = "asked" if trials else "which decide with 80 % power"
    too_few = f"All {planned:,} prompts are asked, which decide too rarely: with 80 % power it would take {wanted:,}."
    say(f"{n:,} prompts of each model, {what}." if n == wanted else too_few)
    words = ["--study", study, "--model", old, "--model", new, "--db", str(db), "--pilot", str(n), *more]
    _ask_slice(ctx, words)
    models = f"{shlex.quote(old)} {shlex.quote(new)}"
    say(f"Then: analyze successor {models} --study {shlex.quote(study)} --db {as_typed(db)}")


@click.command("watch", epilog=_WATCH, context_settings=_PASSES_ON)
@click.argument("study")
@click.option("--every", type=click.Choice(list(_TIMES)), help="Ask nothing: print the line that asks this often.")
@click.option("--trials", type=AT_LEAST_1, default=200, show_default=True, help="How many prompts an occasion.")
@db_option
@_more
@click.pass_context
def watch_command(
    ctx: click.Context, study: str, every: str | None, trials: int, db: Path, more: tuple[str, ...]
) -> None:
    """Ask the same balanced prompts of a study once more, as a new occasion; the first time, as its reference.

    Nothing is installed: --every prints one line for cron, and the same for systemd. `analyze watch` says what has
    moved.
    """
    from slant.collector.studies.catalogue import load_study

    loaded = load_study(study, db=db)
    if loaded.design.asks.plays_games:
        raise UsageError(f'"{loaded.name}" can\'t be watched: the rounds of a game follow from each other.')
    if every is not None:
        _print_lines(every, study, trials, db, more)
        return
    is_reference = not _has_answers(db, loaded, more)
    if is_reference:
        say(f"{db} has no answers of this model to {loaded.name} as it is now: this is the reference.")
    part = "--pilot" if is_reference else "--again"
    _ask_slice(ctx, ["--study", study, "--db", str(db), *more, part, str(trials)], "watch")


def _print_lines(every: str, study: str, trials: int, db: Path, more: tuple[str, ...]) -> None:
    """Print what asks and then looks, by cron or by systemd, in this folder and with these programs."""
    programs = Path(sys.argv[0]).resolve().parent
    place = ["--db", str(db)]
    ask = shlex.join([str(programs / "collect"), "watch", study, "--trials", str(trials), *place, *more, "--yes"])
    look = shlex.join([str(programs / "analyze"), "watch", "--study", study, *place])
    line, (cron, calendar) = f"cd {shlex.quote(str(Path.cwd()))} && {ask} && {look}", _TIMES[every]
    escaped = line.replace("%", r"\%")
    click.echo(f"{cron} {escaped}")
    click.echo(shlex.join(["systemd-run", "--user", f"--on-calendar={calendar}", "sh", "-c", line]))
    say("The first line is for cron (crontab -e), the second for systemd. Neither knows your API keys: set them there.")


def _has_answers(db: Path, study: Study, more: Sequence[str]) -> bool:
    """Return True if there are answers to this version of the study, of a model that `more` names, if it names one."""
    from slant.collector.keep.database import reading

    if not db.exists():
        return False
    words = " ".join(more).replace("--model=", "--model ").split()
    named = {word for flag, word in pairwise(words) if flag == "--model"}
    names = "SELECT DISTINCT model, provider || '/' || requested_model FROM all_trials"
    with reading(db) as connection:
        found = connection.execute(f"{names} WHERE study = ? AND study_version = ?", [study.name, study.version])
        known = {name for row in found.fetchall() for name in row}
    return bool(known & named if named else known)


def _ask_slice(ctx: click.Context, words: list[str], analysis: str | None = None) -> None:
    """Ask the pilot or the occasion that these words name, and no more; `analysis` is what comes next."""
    from slant.collector.api import collect as ask
    from slant.collector.commands.terminal_watcher import TerminalWatcher

    class SliceWatcher(TerminalWatcher):
        def after_pilot(self, *_: object) -> None:
            return None

    command: Any = ctx.find_root().command
    settings = command.make_context("collect", words).params
    watcher = SliceWatcher(settings.pop("output_format"), settings["db"])
    asked: Callable[..., Any] = ask
    watcher.show(asked(**settings, watcher=watcher), analysis)
