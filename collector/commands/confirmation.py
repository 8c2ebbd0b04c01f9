"""What the command line says before money is spent: the quote, the question, the pilot and its results;
of `--until-width` the rule, and how it ended.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import polars as pl

from slant.collector.api import carry_out
from slant.collector.ask.uncounted_answers import uncounted_notes
from slant.collector.ask.watcher import Watcher
from slant.collector.batch.submit import refuse_game
from slant.collector.commands.batch_jobs import say_stopped
from slant.collector.cost.estimate import dollars
from slant.collector.cost.pilot import pilot_of
from slant.collector.cost.quote import quote_rows, quotes, sentences, short_rows
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.plan.conversations import plan
from slant.collector.plan.run_plan import RunPlan
from slant.collector.progress.lost_answers import lost_answer_notes
from slant.collector.progress.status import progress
from slant.collector.providers.lifecycles import asked_lifecycle, lifecycle_of
from slant.collector.run.one_process import Options
from slant.collector.run.until_width import Precision, begin_precision
from slant.collector.stopping.looks import look_sentence
from slant.collector.terminal import count_text, print_rows, say

DECLINED = 1  # exit code of a run that nobody agreed to pay for


def show_quote(
    run_plan: RunPlan, concurrency: int, output_format: str = "table", *, is_batch: bool = False, err: bool = False
) -> None:
    """Rows to stdout (for programs with ranges), their assumptions to stderr; with `err` all of it to stderr."""
    quoted = quotes(run_plan, concurrency, is_batch=is_batch)
    print_rows(short_rows(quoted) if output_format == "table" else quote_rows(quoted), output_format, err=err)
    for sentence in sentences(quoted):
        say(sentence)


def show_dry_run(run_plan: RunPlan, concurrency: int, output_format: str, *, is_batch: bool = False) -> None:
    """`--dry-run`: the quote and the first prompt in full. What would be refused is refused here, too."""
    if is_batch and run_plan.model_plans:
        refuse_game(run_plan.study, next(plan(*run_plan.plan_of(run_plan.model_plans[0].model))))
    show_quote(run_plan, concurrency, output_format, is_batch=is_batch)
    show_first_prompt(run_plan)


def show_first_prompt(run_plan: RunPlan) -> None:
    """Of a dry run, in full."""
    if not run_plan.model_plans:
        say(f"No model can be asked here. To try it without a key: {run_plan.study.trial_command}")
        return
    prompt = run_plan.first_prompt(run_plan.model_plans[0])
    if prompt is None:
        say("No conversation falls to this shard. Nothing would be sent.")
        return
    say(f"\nFirst prompt to {run_plan.model_plans[0].name}, as it would be sent:")
    for message in prompt.messages:
        say(f"--- {message['role']} ---\n{message['content']}")
    if (tool := prompt.tool) is not None:
        say(f"--- tool ---\n{tool.name}({tool.argument}: {' | '.join(tool.options)})\n{tool.description}")
    say("---\nNothing was sent. Tokens, cost and time are estimates.")


def shard_notes(run_plan: RunPlan, budget_usd: float | None = None) -> list[str]:
    """Which part of the plan is asked, where that is not the whole; and what a budget means then."""
    if run_plan.shard is None:
        return []
    trials = ", ".join(
        f"{model_plan.planned:,} of {run_plan.whole:,} trials of {model_plan.name}"
        for model_plan in run_plan.model_plans
    )
    notes = [f"Shard {run_plan.shard} of the plan: {trials}."]
    if budget_usd is not None:
        notes.append(
            f"--budget is for this shard's database alone: {run_plan.shard.of} shards may cost "
            f"{run_plan.shard.of} times {dollars(budget_usd)}."
        )
    return notes


def announced_ends(run_plan: RunPlan) -> list[str]:
    """Return what providers say of the end of models that are about to be paid for, where the table has another day."""
    notes = []
    for model_plan in run_plan.paid:
        name, model = model_plan.provider.name, model_plan.model.requested_model
        told, known = asked_lifecycle(model_plan.provider, model), lifecycle_of(name, model)
        if told is not None and (known is None or known.ends != told.ends):
            notes.append(told.sentence(model_plan.address))
    return notes


def agree(run_plan: RunPlan, concurrency: int, yes: bool, *, is_batch: bool = False) -> bool:
    """Quote and ask before paid requests, on a terminal; leaves the program where the answer is no."""
    for note in announced_ends(run_plan):
        say(note)
    if yes or not run_plan.paid or not sys.stdin.isatty():
        return yes
    count = sum(model_plan.pending for model_plan in run_plan.paid)
    show_quote(run_plan, concurrency, is_batch=is_batch, err=True)
    up_to = "up to " if run_plan.stopping is not None else ""
    if not click.confirm(f"Send {up_to}{count:,} paid requests?", err=True):
        sys.exit(DECLINED)
    return True


def run_pilot(
    run_plan: RunPlan,
    trials: int,
    options: Options,
    yes: bool,
    watcher: Watcher,
    look_again: Callable[[], RunPlan],
    output_format: str,
) -> RunPlan | None:
    """Ask the pilot's trials that lack an answer, show what they gave and what the rest would take.

    Returns the plan of the rest where a person or --yes agrees to it, else None.
    """
    pilot = pilot_of(run_plan, trials)
    if pilot.pending or not pilot.model_plans:
        report = carry_out(pilot, options, yes=agree(pilot, options.concurrency, yes), watcher=watcher)
        if not report.is_complete:
            say_stopped(report)
            say("The pilot is not complete. The same command asks what it lacks.")
            sys.exit(1)
    return after_pilot(pilot, look_again(), options.concurrency, yes, output_format)


def after_pilot(
    pilot: RunPlan, rest: RunPlan, concurrency: int, yes: bool, output_format: str, *, is_batch: bool = False
) -> RunPlan | None:
    """Show what a complete pilot gave, and what the rest would take; the rest where a person or --yes agrees to it.

    Programs get the pilot's rows where nothing else is asked, else those of the report that follows."""
    for_person = output_format == "table"
    for note in lost_answer_notes(rest.db, rest.study.name, rest.study.version):
        say(note)
    say(f"The pilot ({sum(model_plan.planned for model_plan in pilot.model_plans):,} trials) has its answers:")
    rows = pilot_rows(rest.db, rest)
    print_rows(rows, err=not for_person)
    for note in uncounted_notes(rest.db, rest.study.name):
        say(note)
    if not rest.pending:
        return rest
    say("The rest would take:")
    show_quote(rest, concurrency, is_batch=is_batch, err=not for_person)
    if yes or (sys.stdin.isatty() and click.confirm(f"Ask the other {count_text(rest.pending, 'trial')}?", err=True)):
        return rest
    if not for_person:
        print_rows(rows, output_format)
    if not sys.stdin.isatty():
        say("To ask the rest: the same command with --yes.")
    return None


def pilot_rows(db: Path, run_plan: RunPlan) -> list[dict[str, Any]]:
    """One row a model: outcomes, tokens, seconds and cost of a trial, over the answers so far."""
    counts = progress(db).filter(pl.col("study") == run_plan.study.name, pl.col("variant") == run_plan.study.variant)
    with reading(db) as connection:
        sizes = frame_of(connection.sql("FROM answer_sizes"))
    keys = ["source", "study", "study_version", "variant", "model"]
    joined = counts.join(sizes, on=keys, how="left")
    names = {model_plan.name for model_plan in run_plan.model_plans}
    return [
        {
            "model": row["model"],
            "trials": row["n_done"],
            "answered": row["n_answered"],
            "refused": row["n_refused"],
            "truncated": row["n_truncated"],
            "malformed": row["n_malformed"],
            "mean_output_tokens": row["mean_output_tokens"],
            "sd_output_tokens": row["sd_output_tokens"],
            "longest": row["max_output_tokens"],
            "mean_s": row["mean_latency_s"],
            "cost_of_one": dollars(row["cost_usd"] / row["n_done"]) if row["cost_usd"] is not None else "",
        }
        for row in joined.filter(pl.col("study_version") == run_plan.study.version).iter_rows(named=True)
        if row["model"] in names
    ]


def show_stopping(run_plan: RunPlan, concurrency: int, output_format: str, *, is_dry_run: bool) -> RunPlan | None:
    """Say the rule, and what is the least and the most that will be asked; the most, as a run plan. None if nothing
    is left to do: all models have ended, or it is a dry run."""
    precision = begin_precision(run_plan, loads=not is_dry_run)
    say(precision.rule.sentences(precision.outcome))
    for sentence in precision.other_rules() if is_dry_run else ():  # a run says it itself
        say(sentence)
    for made in precision.looks.values():
        if made and precision.next_look(made[-1].model) is None:
            say(look_sentence(made[-1], precision.rule))
    going = precision.going()
    if is_dry_run:
        _show_quotes(precision, going, concurrency, output_format)
        return None
    if run_plan.model_plans and not going.model_plans:
        say(f"Nothing to ask: {'all models have' if run_plan.model_plans[1:] else 'the model has'} ended by this rule.")
        return None
    for least in precision.until_next_look():
        names = ", ".join(model_plan.name for model_plan in least.model_plans)
        repetitions = count_text(least.repetitions, "repetition")
        say(f"{names}: {count_text(least.pending, 'trial')} until the next look, after {repetitions}.")
    return going


def _show_quotes(precision: Precision, going: RunPlan, concurrency: int, output_format: str) -> None:
    """Show what would be asked before anything can end, and all that may be asked; then the first prompt."""
    rows: list[dict[str, Any]] = []
    for_person = output_format == "table"
    for name, run_plans in (("least", precision.until_next_look()), ("most", [going])):
        for run_plan in run_plans:
            quoted = quotes(run_plan, concurrency)
            of_offer = short_rows(quoted) if for_person else quote_rows(quoted)
            rows += [{"asked": name, "repetitions": run_plan.repetitions} | row for row in of_offer]
    print_rows(rows, output_format)
    for sentence in sentences(quotes(going, concurrency)):
        say(f"At most: {sentence}")
    show_first_prompt(going)
