"""`collect`: options in, one call, messages out."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from collector.errors import UsageError
from collector.output import SlantGroup, db_option, format_option, print_rows, say

_COMMANDS = {
    "studies": ("collector.cli_studies", "studies"),
    "import": ("collector.cli_data", "import_"),
    "export": ("collector.cli_data", "export"),
    "status": ("collector.cli_status", "status"),
    "load": ("collector.cli_status", "load"),
}

EXAMPLES = """\b
Examples:
  collect --study rmiat --simulated                    the paper's five models, played by a local server
  collect --study rmiat --model openai/o3-mini --dry-run
  collect --study rmiat --model openai/o3-mini --model deepseek/deepseek-reasoner
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
@click.option("--variant", default="base", show_default=True, help="A named set of changes that the study defines.")
@click.option("--seed", type=int, help="Decides the order; another seed asks all anew. Default: the study's.")
@click.option("--repeat", "repetitions", type=int, default=1, show_default=True, help="How often each trial is asked.")
@click.option("--base-url", help="The address of a server of your own, for local/NAME.")
@click.option("--concurrency", type=int, default=16, show_default=True, help="Requests in flight for each model.")
@click.option("--max-retries", type=int, default=5, show_default=True, help="After a failure, never after an answer.")
@click.option("--time-limit", type=float, default=600.0, show_default=True, help="Seconds for one answer.")
@click.option("--dry-run", is_flag=True, help="Show what would be asked, and the first prompt; send nothing.")
@click.option("--yes", is_flag=True, help="Agree to requests that cost money.")
@db_option
@format_option
@click.version_option(package_name="slant", prog_name="slant")
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
    _collect(**options)


def _collect(
    *, study: str, models: tuple[str, ...], simulated: bool, variant: str, seed: int | None, repetitions: int,
    base_url: str | None, concurrency: int, max_retries: int, time_limit: float, dry_run: bool, yes: bool,
    db: Path, output_format: str,
) -> None:  # fmt: skip
    from collector.api import Options, carry_out
    from collector.load import load_journals
    from collector.offer import make_offer
    from collector.progress import ProgressWatcher
    from collector.study import load_study

    loaded = load_study(study, variant)
    offer = make_offer(
        loaded,
        models,
        db,
        simulated=simulated,
        seed=seed,
        repetitions=repetitions,
        base_url=base_url,
        needs_keys=not dry_run,
    )
    for model, reason in offer.left_out:
        say(f"Can't be asked here: {model} ({reason}).")
    if dry_run:
        _show(offer, output_format)
        return
    if offer.asked and not offer.pending:
        load_journals(db)  # what a killed run left in its journal
        say(f"Nothing to ask: all {sum(a.planned for a in offer.asked):,} trials have their answers in {db}.")
        return
    if offer.paid and not yes and sys.stdin.isatty():
        count = sum(asked.pending for asked in offer.paid)
        for row in offer.rows():
            say(f"{row['model']}: {row['to_ask']:,} of {row['planned']:,} trials to ask ({row['provider']}).")
        yes = click.confirm(f"Send {count:,} paid requests?", err=True)
        if not yes:
            sys.exit(1)
    report = carry_out(offer, Options(concurrency, max_retries, time_limit), yes=yes, watcher=ProgressWatcher())
    _tell(report, output_format)


def _show(offer: Any, output_format: str) -> None:
    print_rows(offer.rows(), output_format)
    if not offer.asked:
        say(f"No model can be asked here. To try it without a key: collect --study {offer.study.name} --simulated")
        return
    say(f"\nFirst prompt to {offer.asked[0].model.model}, as it would be sent:")
    for message in offer.first_prompt(offer.asked[0]).messages:
        say(f"--- {message['role']} ---\n{message['content']}")
    say("---\nNothing was sent. Token numbers are estimates (a token taken as four characters); prices are not known.")


def _tell(report: Any, output_format: str) -> None:
    print_rows(list(report.models), output_format)
    for model in report.models:
        if model["stopped_because"]:
            say(f"{model['model']} was stopped: {model['stopped_because']}")
        elif model["failed"]:
            say(f"{model['failed']:,} trials of {model['model']} failed, the last with: {model['last_failure']}")
    if report.disk_was_full:
        say(f"The disk is full: asking stopped, every answer so far is kept. Make room beside {report.db}, then go on.")
    if report.is_complete:
        say(f"Done: {report.db} (run {report.run_id}). Next: analyze --fit lme4 --db {report.db}")
        return
    if report.is_loaded:
        say("Not complete. The same command asks what is missing, and only that.")
    sys.exit(1)
