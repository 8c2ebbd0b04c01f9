"""`collect`: options in, one call, messages out."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from slant.collector.commands.options import (
    ABOVE_0,
    AT_LEAST_1,
    FILE,
    LOOKS,
    MOST_AT_ONCE,
    UNTIL_WIDTH,
    WholeNumber,
    base_url_option,
    db_option,
    money_option,
    output_options,
    provider_file_option,
    requests_option,
    section,
    seed_option,
    stopping_option,
    study_option,
    time_limit_option,
    variant_option,
    version_option,
    yes_option,
)
from slant.collector.errors import UsageError
from slant.collector.example_models import EXAMPLE_MODEL, SECOND_MODEL
from slant.collector.terminal import LazyCommand, LazyGroup, count_text, if_interrupted, print_rows, say

_COMMANDS = {
    name: LazyCommand(f"slant.collector.commands.{module}", function, about)
    for name, module, function, about in (
        ("check-model", "token_counts", "check_model_command", "What a model's token count is worth: 30 questions."),
        ("export", "import_export", "export_command", "Trials, or any view, as Parquet, CSV or JSON lines."),
        ("import", "import_export", "import_command", "Answers from files into the database."),
        ("load", "status", "load_command", "Answers from the journals into the database."),
        ("merge", "merge", "merge_command", "Databases of several collectors, or shards, into one."),
        ("methods", "methods", "methods_command", "A paragraph for a paper about a run, and how to repeat it."),
        (
            "preregister",
            "preregister",
            "preregister_command",
            "What is fixed before the data, as one text and its hash, for a registry.",
        ),
        ("prompts", "prompts", "prompts_command", "The prompts of a study as they are sent, before anything is asked."),
        ("recode", "recode", "recode_command", "Let a model code answers that a rule left undecided."),
        ("reread", "reread", "reread_command", "Read kept responses again, as this version understands them."),
        ("recount", "token_counts", "recount_command", "Count readable reasoning again, with a tokenizer."),
        ("set-aside", "set_aside", "set_aside_command", "Let a wrong run count nowhere, with the reason that is kept."),
        ("status", "status", "status_command", "How far each model is, by outcome; while a run goes on, its pace."),
        ("studies", "studies", "studies", "The studies there are; begin one of your own, validate its file."),
        ("view", "view", "view_command", "Read trials in a browser, pairs side by side, games round by round."),
    )
}

EXAMPLES = f"""\b
Examples:
  collect --study rmiat --simulated                    the paper's five models, played by a local server
  collect --study rmiat --model {EXAMPLE_MODEL} --dry-run
  collect --study rmiat --model {EXAMPLE_MODEL} --model {SECOND_MODEL}
  collect --study rmiat --model {EXAMPLE_MODEL} --batch        half the price; later the same fetches (exit 3: not yet)
  collect --study interference --simulated --repeat 5 --logprobs
  collect --study ./mine/study.toml --model local/qwen3-8b --base-url http://localhost:8080/v1
  collect --study rmiat --model {EXAMPLE_MODEL} --again 200    the same trials on another day; then: analyze retest
  collect --study rmiat --model {EXAMPLE_MODEL} --shard 2/8 --db shard2.duckdb    one of eight; then: collect merge
  collect --study rmiat --model {EXAMPLE_MODEL} --until-width 10 --repeat 8 --looks 4    until intervals are narrow

Answers are kept in a journal beside the database (slant.duckdb.journal) before they count. The same command goes
on where it stopped. Keys come from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, DEEPSEEK_API_KEY …
"""

_batch_option = section("Batch jobs")


@click.group(cls=LazyGroup, lazy_commands=_COMMANDS, invoke_without_command=True, epilog=EXAMPLES)
@study_option()
@click.option("--model", "models", multiple=True, metavar="PROVIDER/NAME", help="Repeatable. Default: the study's.")
@click.option("--simulated", is_flag=True, help="Ask a simulated provider on this machine instead; costs nothing.")
@variant_option(more=" all: one after the other.")
@click.option("--answer", metavar="FORMAT", help="An answer format that the study has: direct, cot, react, tool.")
@click.option(
    "--reasoning-back",
    type=click.Choice(["default", "kept", "dropped"]),
    default="default",
    show_default=True,
    help="Whether a game's model is sent its earlier reasoning again; kept and dropped are variants of their own.",
)
@seed_option()
@click.option(
    "--repeat", "repetitions", type=AT_LEAST_1, default=1, show_default=True, help="How often each trial is asked."
)
@stopping_option("--until-width", type=ABOVE_0, metavar="UNITS", help=UNTIL_WIDTH)
@stopping_option("--looks", type=AT_LEAST_1, metavar="N", help=LOOKS)
@click.option("--shard", metavar="K/N", help="Ask only part K of N of the plan, as one of N collectors: 2/8.")
@click.option(
    "--processes",
    type=AT_LEAST_1,
    default=1,
    show_default=True,
    help="Share the work out among N processes here.",
)
@click.option("--registration", type=FILE, metavar="FILE", help="What `collect preregister` wrote; kept with the run.")
@click.option("--dry-run", is_flag=True, help="Show tokens, cost, time and the first prompt; send nothing.")
@base_url_option
@provider_file_option
@requests_option(
    "--concurrency",
    type=WholeNumber(1, MOST_AT_ONCE),
    default=16,
    show_default=True,
    help="Requests in flight for each model.",
)
@requests_option(
    "--max-retries",
    type=WholeNumber(),
    default=5,
    show_default=True,
    help="Of a request that failed; no answer is retried.",
)
@time_limit_option
@requests_option(
    "--stop-after-declined",
    type=AT_LEAST_1,
    default=5,
    show_default=True,
    metavar="N",
    help="Different trials in a row that a provider declines in unknown words, until its model is stopped.",
)
@requests_option(
    "--ask-rejected",
    is_flag=True,
    help="Ask once more what a provider has rejected (twice declined, for no known reason).",
)
@requests_option(
    "--logprobs", is_flag=True, help="Keep the probabilities of both options, where a provider gives them."
)
@requests_option("--structured-output", is_flag=True, help="Let the provider enforce JSON of the right shape.")
@money_option("--prices", type=FILE, metavar="FILE", help="Prices of your own (TOML).")
@money_option(
    "--budget", type=ABOVE_0, metavar="USD", help="The most that the study may cost in --db, earlier runs included."
)
@click.option(
    "--again",
    type=AT_LEAST_1,
    metavar="TRIALS",
    help="Ask so many balanced trials that have an answer once more, on another occasion.",
)
@money_option(
    "--pilot",
    type=AT_LEAST_1,
    metavar="TRIALS",
    help="Ask each model so many balanced trials first, then confirm the rest.",
)
@yes_option
@_batch_option(
    "--batch", is_flag=True, help="Use batch jobs of OpenAI or Anthropic; the same command later fetches answers."
)
@_batch_option("--wait", is_flag=True, help="Stay until every job is done.")
@_batch_option(
    "--batch-size", type=AT_LEAST_1, metavar="N", help="The most requests in one job. Default: the provider's limit."
)
@_batch_option("--mixed", is_flag=True, help="Allow live and batch answers of one model in one study.")
@db_option
@output_options
@version_option
@click.pass_context
def collect(ctx: click.Context, /, **options: Any) -> None:
    """Ask language models the trials of a study and keep every answer."""
    given = [name for name in options if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if ctx.invoked_subcommand is not None:
        if given:
            raise UsageError(f"Options of `{ctx.invoked_subcommand}` come after it: collect {ctx.invoked_subcommand} …")
        return
    if not options["study"]:
        if given:
            raise UsageError("--study is missing. For the names of studies: collect studies")
        click.echo(ctx.get_help())
        return
    if not options["batch"] and (options["wait"] or options["batch_size"]):
        raise UsageError("--wait and --batch-size are about batch jobs. To use them: --batch")
    variant, answer, back = (options.pop(name) for name in ("variant", "answer", "reasoning_back"))
    suffix = (f".{answer}" if answer else "") + (f".{back}" if back != "default" else "")
    if variant != "all":
        _collect(variant=variant + suffix, **options)
        return
    _each_variant(options["study"], options["db"], options, suffix)


def _each_variant(study: str, db: Path, options: dict[str, Any], suffix: str) -> None:
    """`--variant all`: one after the other, in the study's order; exit code 1 where one of them is not complete.
    A variant that leaves out a model that was named, or that needs another variant first, is skipped with the reason.
    """
    from slant.collector.studies.catalogue import load_variants

    is_complete = True
    for name, variant in load_variants(study, db).items():
        if variant.is_extension:
            say(f"{name} is skipped: it is an extension, not a condition of the paper. To ask it: --variant {name}")
            continue
        say(f"{name}: {variant.about}" if variant.about else name)
        try:
            _collect(variant=name + suffix, **options)
        except UsageError as error:
            is_complete = False
            say(f"{name} is skipped: {error}")
        except SystemExit as stop:
            if stop.code not in (0, 1):
                raise
            is_complete = is_complete and not stop.code
    if not is_complete:
        sys.exit(1)


def _collect(
    *,
    study: str,
    models: tuple[str, ...],
    simulated: bool,
    variant: str,
    seed: int | None,
    repetitions: int,
    shard: str | None,
    processes: int,
    registration: Path | None,
    until_width: float | None,
    looks: int | None,
    base_url: str | None,
    concurrency: int,
    max_retries: int,
    time_limit: float,
    stop_after_declined: int,
    ask_rejected: bool,
    logprobs: bool,
    dry_run: bool,
    prices: Path | None,
    budget: float | None,
    pilot: int | None,
    again: int | None,
    yes: bool,
    db: Path,
    output_format: str,
    batch: bool,
    wait: bool,
    batch_size: int | None,
    mixed: bool,
    structured_output: bool,
) -> None:
    from slant.collector.api import carry_out
    from slant.collector.ask.reading_again import open_rejected
    from slant.collector.commands.batch_jobs import run_batch
    from slant.collector.commands.confirmation import agree, run_pilot, shard_notes, show_dry_run, show_stopping
    from slant.collector.cost.pilot import pilot_of
    from slant.collector.cost.repeated_trials import repeated_trial_notes
    from slant.collector.keep.journal_loader import load_journals, with_mending
    from slant.collector.model_checks.notes import run_notes
    from slant.collector.plan.asking_again import again_of, occasion_notes, refuse_with_again
    from slant.collector.plan.run_plan import RunPlan, make_run_plan
    from slant.collector.plan.shards import Shard
    from slant.collector.progress.bar import ProgressWatcher
    from slant.collector.registration.canonical import read_registration
    from slant.collector.registration.registering import departures
    from slant.collector.run.one_process import Options
    from slant.collector.stopping.rule import StoppingRule, refuse_parts
    from slant.collector.studies.catalogue import load_study
    from slant.collector.studies.stored_texts import keep_registration, keep_text

    stopping = StoppingRule.of(until_width, looks, repetitions)
    if stopping is not None:
        refuse_parts(batch=batch, pilot=pilot, shard=shard, again=again)
    loaded = load_study(study, variant, db)
    registered = None if registration is None else read_registration(registration)
    if again is not None:
        refuse_with_again(batch=batch, processes=processes, pilot=pilot, is_shard=shard is not None)
    chosen_shard = None if shard is None else Shard.read(shard)

    def current_run_plan() -> RunPlan:
        run_plan = make_run_plan(
            loaded,
            models,
            db,
            simulated=simulated,
            seed=seed,
            repetitions=repetitions,
            base_url=base_url,
            prices_file=prices,
            needs_keys=not dry_run,
            structured_output=structured_output,
            shard=chosen_shard,
            registration=registered,
            stopping=stopping,
        )
        return run_plan if again is None else again_of(run_plan, again)

    if_interrupted(
        f'Left before "{loaded.name}" ({loaded.variant}) was asked.', f"What is in {db} and beside it is kept."
    )
    if ask_rejected and not dry_run and db.exists():
        n_open = open_rejected(db, loaded.name)
        say(f"{count_text(n_open, 'rejected trial')} of {loaded.name} can be asked once more.")
    run_plan = with_mending(db, current_run_plan, say)
    options = Options(concurrency, max_retries, time_limit, logprobs, budget, mixed, stop_after_declined)
    for model, reason in run_plan.left_out:
        say(f"{model} can't be asked here: {reason}.")
    notes = *run_notes(run_plan, wants_logprobs=logprobs), *repeated_trial_notes(run_plan, concurrency, is_batch=batch)
    unregistered = [] if registered is None else departures(run_plan, registered)
    for note in (*notes, *shard_notes(run_plan, budget), *occasion_notes(run_plan), *unregistered):
        say(note)
    at_most = run_plan
    if stopping is not None:
        still_asked = show_stopping(run_plan, concurrency, output_format, is_dry_run=dry_run)
        if still_asked is None:
            return
        at_most = still_asked
    if dry_run:
        slice_or_all = run_plan if pilot is None else pilot_of(run_plan, pilot)
        show_dry_run(slice_or_all, concurrency, output_format, is_batch=batch)
        return
    if_interrupted(
        "Left at once.", f"All answers that came are kept beside {db}. The same command asks what is missing."
    )
    if batch:
        if processes != 1:
            raise UsageError("Batch jobs are made by one process: leave out --processes.")
        run_batch(
            run_plan,
            options,
            ProgressWatcher(),
            output_format,
            yes=yes,
            wait=wait,
            size=batch_size,
            pilot=pilot,
            look_again=current_run_plan,
        )
        return
    if pilot is not None:
        rest = run_pilot(run_plan, pilot, options, yes, ProgressWatcher(), current_run_plan, output_format)
        if rest is None:
            return
        run_plan, yes = rest, True
    if run_plan.model_plans and not run_plan.pending and stopping is None:
        keep_text(db, loaded)
        if registered is not None:
            keep_registration(db, registered)
        load_journals(db)  # what a killed run left in its journal
        say(f"Nothing to ask: all {sum(a.planned for a in run_plan.model_plans):,} trials have their answers in {db}.")
        return
    yes = agree(at_most, concurrency, yes)
    report = carry_out(run_plan, options, yes=yes, watcher=ProgressWatcher(), processes=processes)
    retest = f"analyze retest --study {loaded.name} --db {shlex.quote(str(db))}"
    next_command = loaded.next_command(db) if again is None else retest
    _print_report(report, output_format, loaded, next_command)


def _print_report(report: Any, output_format: str, study: Any, next_command: str) -> None:
    from slant.collector.ask.doubtful_counts import doubtful_count_notes
    from slant.collector.ask.uncounted_answers import uncounted_notes
    from slant.collector.progress.lost_answers import lost_answer_notes, notes_beside
    from slant.collector.progress.status import closing_notes

    for note in (lost := lost_answer_notes(report.db, study.name, study.version)):
        say(note)
    print_rows(list(report.models), output_format)
    for model in report.models:
        if model["stopped_because"]:
            say(f"{model['model']} was stopped: {model['stopped_because']}")
        elif model["failed"]:
            failed = count_text(model["failed"], "trial")
            say(f"{failed} of {model['model']} failed, the last with: {model['last_failure']}")
        if changed := model.get("model_changed"):
            games = count_text(changed, "game")
            say(f"answered by more than one model: {games} of {model['model']} (view allocation_game_ends).")
    if report.disk_was_full:
        say(f"The disk is full, so asking stopped; all answers are kept. Make room beside {report.db}, then go on.")
    counts = (*uncounted_notes(report.db, study.name), *doubtful_count_notes(report.db, study.name))
    for note in (*notes_beside(report.notes, lost), *closing_notes(report.db, study), *counts):
        say(note)
    if report.is_complete:
        if report.models and all(model["asked"] and not model["answered"] for model in report.models):
            next_command = f"collect view --db {shlex.quote(str(report.db))}"  # there is nothing to fit
        run = f" (run {report.run_id})" if report.run_id else ""
        say(f"Done: {report.db}{run}. Next: {next_command}")
        return
    if report.is_loaded:
        say("Not complete. The same command asks what is missing, and only that.")
    sys.exit(1)
