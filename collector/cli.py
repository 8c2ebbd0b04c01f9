"""`collect`: options in, one call, messages out."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from slant.collector.errors import UsageError
from slant.collector.terminal import (
    SlantGroup,
    db_option,
    format_option,
    print_rows,
    say,
    version_option,
)

_COMMANDS = {
    "studies": ("slant.collector.commands.studies", "studies"),
    "import": ("slant.collector.commands.data", "import_"),
    "export": ("slant.collector.commands.data", "export"),
    "check": ("slant.collector.commands.check", "check"),
    "methods": ("slant.collector.commands.methods", "methods"),
    "recount": ("slant.collector.commands.check", "recount"),
    "status": ("slant.collector.commands.status", "status"),
    "load": ("slant.collector.commands.status", "load"),
}

EXAMPLES = """\b
Examples:
  collect --study rmiat --simulated                    the paper's five models, played by a local server
  collect --study rmiat --model openai/o3-mini --dry-run
  collect --study rmiat --model openai/o3-mini --model deepseek/deepseek-reasoner
  collect --study rmiat --model openai/o3-mini --batch        half the price; the same later fetches (exit 3: not yet)
  collect --study interference --simulated --repeat 5 --logprobs
  collect --study ./mine/study.toml --model local/qwen3-8b --base-url http://localhost:8080/v1

Answers are kept in a journal beside the database (slant.duckdb.journal) before they count. The same command goes
on where it stopped. Keys come from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, DEEPSEEK_API_KEY …
"""


class CollectGroup(SlantGroup):
    """Loads a command's module when it is used, so that `collect --help` answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=CollectGroup, invoke_without_command=True, epilog=EXAMPLES)
@click.option("--study", help="A study's name (see `collect studies`) or the path of its TOML file.")
@click.option(
    "--model", "models", multiple=True, metavar="PROVIDER/NAME", help="May be given again. Default: the study's."
)
@click.option("--simulated", is_flag=True, help="Ask a simulated provider on this machine instead; costs nothing.")
@click.option(
    "--variant", default="base", show_default=True, help="A named set of changes that the study defines; all: each."
)
@click.option("--answer", metavar="FORMAT", help="How answers are asked for, where a study says: direct, cot, tool …")
@click.option(
    "--reasoning-back", type=click.Choice(["default", "kept", "dropped"]), default="default", show_default=True,
    help="What of its reasoning a model of many turns is given back; kept and dropped are variants of their own.",
)  # fmt: skip
@click.option("--seed", type=int, help="Decides the order; another seed asks all anew. Default: the study's.")
@click.option("--repeat", "repetitions", type=int, default=1, show_default=True, help="How often each trial is asked.")
@click.option("--base-url", help="The address of a server of your own, for local/NAME.")
@click.option("--concurrency", type=int, default=16, show_default=True, help="Requests in flight for each model.")
@click.option("--max-retries", type=int, default=5, show_default=True, help="After a failure, never after an answer.")
@click.option("--time-limit", type=float, default=600.0, show_default=True, help="Seconds for one answer.")
@click.option("--logprobs", is_flag=True, help="Keep how likely both options were, where a provider says so.")
@click.option("--structured-output", is_flag=True, help="Let the provider enforce JSON of the right shape.")
@click.option("--prices", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Prices of your own.")
@click.option("--budget", type=float, metavar="USD", help="Most the study may cost, earlier runs in its database too.")
@click.option("--pilot", type=int, metavar="TRIALS", help="Ask a balanced slice of each model first, then ask you.")
@click.option("--batch", is_flag=True, help="Through batch jobs of OpenAI or Anthropic; again, to fetch their answers.")
@click.option("--wait", is_flag=True, help="With --batch: stay until every job is done.")
@click.option("--batch-size", type=int, metavar="N", help="Most requests in one job. Default: the provider's limit.")
@click.option("--mixed", is_flag=True, help="Let one model be asked both live and by batch in one study.")
@click.option("--dry-run", is_flag=True, help="Show tokens, cost, time and the first prompt; send nothing.")
@click.option("--yes", is_flag=True, help="Agree to requests that cost money.")
@db_option
@format_option
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
            raise UsageError("--study is missing: which study? `collect studies` lists them.")
        click.echo(ctx.get_help())
        return
    variant, answer, back = (options.pop(name) for name in ("variant", "answer", "reasoning_back"))
    suffix = (f".{answer}" if answer else "") + (f".{back}" if back != "default" else "")
    if variant != "all":
        _collect(variant=variant + suffix, **options)
        return
    from slant.collector.commands.all_variants import each_variant

    each_variant(options["study"], options["db"], lambda name: _collect(variant=name + suffix, **options))


def _collect(
    *, study: str, models: tuple[str, ...], simulated: bool, variant: str, seed: int | None, repetitions: int,
    base_url: str | None, concurrency: int, max_retries: int, time_limit: float, logprobs: bool, dry_run: bool,
    prices: Path | None, budget: float | None, pilot: int | None, yes: bool, db: Path, output_format: str,
    batch: bool, wait: bool, batch_size: int | None, mixed: bool, structured_output: bool,
) -> None:  # fmt: skip
    from slant.collector.api import Options, carry_out
    from slant.collector.checks.notes import run_notes
    from slant.collector.commands.agreeing import agree, run_pilot, show_dry_run
    from slant.collector.commands.batch import run_batch
    from slant.collector.cost.asked_again import asked_again_notes
    from slant.collector.cost.pilot import pilot_of
    from slant.collector.keep.journal_loader import load_journals
    from slant.collector.plan.run_plan import Offer, make_offer
    from slant.collector.progress.bar import ProgressWatcher
    from slant.collector.studies.catalogue import load_study
    from slant.collector.studies.stored_texts import keep_text

    loaded = load_study(study, variant, db)

    def look() -> Offer:
        return make_offer(
            loaded, models, db, simulated=simulated, seed=seed, repetitions=repetitions, base_url=base_url,
            prices_file=prices, needs_keys=not dry_run, structured_output=structured_output,
        )  # fmt: skip

    offer = look()
    options = Options(concurrency, max_retries, time_limit, logprobs, budget, mixed)
    for model, reason in offer.left_out:
        say(f"Can't be asked here: {model} ({reason}).")
    for note in (*run_notes(offer, wants_logprobs=logprobs), *asked_again_notes(offer, concurrency, is_batch=batch)):
        say(note)
    if dry_run:
        slice_or_all = offer if pilot is None else pilot_of(offer, pilot)
        show_dry_run(slice_or_all, concurrency, output_format, is_batch=batch)
        return
    if batch:
        run_batch(
            offer, options, ProgressWatcher(), output_format, yes=yes, wait=wait, size=batch_size, pilot=pilot,
            look_again=look,
        )  # fmt: skip
        return
    if pilot is not None:
        rest = run_pilot(offer, pilot, options, yes, ProgressWatcher(), look, output_format)
        if rest is None:
            return
        offer, yes = rest, True
    if offer.asked and not offer.pending:
        keep_text(db, loaded)
        load_journals(db)  # what a killed run left in its journal
        say(f"Nothing to ask: all {sum(a.planned for a in offer.asked):,} trials have their answers in {db}.")
        return
    yes = agree(offer, concurrency, yes)
    report = carry_out(offer, options, yes=yes, watcher=ProgressWatcher())
    _tell(report, output_format, loaded)


def _tell(report: Any, output_format: str, study: Any) -> None:
    from slant.collector.ask.uncounted_answers import uncounted_notes
    from slant.collector.progress.coverage import coverage_note

    print_rows(list(report.models), output_format)
    for model in report.models:
        if model["stopped_because"]:
            say(f"{model['model']} was stopped: {model['stopped_because']}")
        elif model["failed"]:
            say(f"{model['failed']:,} trials of {model['model']} failed, the last with: {model['last_failure']}")
        if changed := model.get("model_changed"):
            say(f"{changed:,} games of {model['model']} were answered by more than one model (allocation_game_ends).")
    if report.disk_was_full:
        say(f"The disk is full: asking stopped, every answer so far is kept. Make room beside {report.db}, then go on.")
    for note in (coverage_note(report.db, study), *uncounted_notes(report.db, study.name)):
        if note:
            say(note)
    if report.is_complete:
        say(f"Done: {report.db} (run {report.run_id}). Next: {study.next_command(report.db)}")
        return
    if report.is_loaded:
        say("Not complete. The same command asks what is missing, and only that.")
    sys.exit(1)
