"""Run `collect`: options in, one call, messages out."""

from __future__ import annotations

import sys
from typing import Any

import click
from click.core import ParameterSource

from slant.collector.commands.options import output_options, request_options, version_option
from slant.collector.errors import UsageError
from slant.collector.example_models import EXAMPLE_MODEL, SECOND_MODEL
from slant.collector.terminal import LazyCommand, LazyGroup, say

_COMMANDS = {
    name: LazyCommand(f"slant.collector.commands.{module}", function, about)
    for name, module, function, about in (
        ("check-model", "token_counts", "check_model_command", "Test a model's token count with 30 questions."),
        ("export", "import_export", "export_command", "Trials, or any view, as Parquet, CSV or JSON lines."),
        ("import", "import_export", "import_command", "Answers from files into the database."),
        ("load", "status", "load_command", "Answers from the journals into the database."),
        ("merge", "merge", "merge_command", "Databases of several collectors, or shards, into one."),
        ("methods", "methods", "methods_command", "A paragraph for a paper about a run, and how to repeat it."),
        (
            "preregister",
            "methods",
            "preregister_command",
            "Register what is fixed before the data: one text and its hash.",
        ),
        ("prompts", "prompts", "prompts_command", "The prompts of a study, exactly as they will be sent."),
        ("sample", "recode", "sample_command", "Draw texts for people to code."),
        ("code", "recode", "code_command", "Let a model code answers that the study's form does not read."),
        ("recode", "recode", "recode_command", "Let a model code answers that a rule left undecided."),
        ("reread", "token_counts", "reread_command", "Read stored responses again, with the rules of this version."),
        ("recount", "token_counts", "recount_command", "Count readable reasoning again, with a tokenizer."),
        ("set-aside", "merge", "set_aside_command", "Exclude a run from all results, and record why."),
        ("status", "status", "status_command", "Each model's progress, by outcome; during a run, its pace."),
        ("studies", "studies", "studies", "List studies; create your own; validate its file."),
        (
            "successor",
            "same_again",
            "successor_command",
            "The same prompts to a model and its successor, while both live.",
        ),
        ("timeline", "prompts", "timeline_command", "The trials of a study as a page for people, by jsPsych."),
        ("view", "view", "view_command", "Read trials in a browser; pairs side by side, games by round."),
        ("watch", "same_again", "watch_command", "The same prompts every month: has the model moved?"),
    )
}

EXAMPLES = f"""\b
Examples:
  collect --study rmiat --simulated                    the paper's five models, simulated on this machine
  collect --study rmiat --model {EXAMPLE_MODEL} --dry-run
  collect --study rmiat --model {EXAMPLE_MODEL} --model {SECOND_MODEL}
  collect --study rmiat --model {EXAMPLE_MODEL} --batch        half the price; later the same fetches (exit 3: not yet)
  collect --study interference --simulated --repetitions 5 --logprobs
  collect --study ./mine/study.toml --model local/qwen3-8b --base-url http://localhost:8080/v1
  collect --study rmiat --model {EXAMPLE_MODEL} --again 200    the same trials on another day; then: analyze retest
  collect --study rmiat --model {EXAMPLE_MODEL} --shard 2/8 --db shard2.duckdb    part 2 of 8; then: collect merge
  collect --study rmiat --model {EXAMPLE_MODEL} --until-width 10 --repetitions 8 --looks 4    narrow intervals

Answers are written to a journal next to the database (slant.duckdb.journal) before they count. The same command
resumes after a stop. Keys come from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, DEEPSEEK_API_KEY …
"""


@click.group(cls=LazyGroup, lazy_commands=_COMMANDS, invoke_without_command=True, epilog=EXAMPLES)
@request_options
@output_options
@version_option
@click.pass_context
def collect(ctx: click.Context, /, **options: Any) -> None:
    """Collect the answers of language models to a study's trials."""
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
    if options["variant"] == "all":
        _each_variant(options)
    else:
        _collect(**options)


def _each_variant(options: dict[str, Any]) -> None:
    """Run `--variant all`: one after the other, in the study's order; exit code 1 if one of them is not complete.
    A variant that leaves out a named model, or that needs another variant first, is skipped with the reason.
    """
    from slant.collector.studies.catalogue import load_variants

    is_complete = True
    for name, variant in load_variants(options["study"], options["db"]).items():
        if variant.is_extension:
            say(f"{name} is skipped: it is an extension, not a condition of the paper. To collect it: --variant {name}")
            continue
        say(f"{name}: {variant.about}" if variant.about else name)
        try:
            _collect(**options | {"variant": name})
        except UsageError as error:
            is_complete = False
            say(f"{name} is skipped: {error}")
        except SystemExit as stop:
            if stop.code not in (0, 1):
                raise
            is_complete = is_complete and not stop.code
    if not is_complete:
        sys.exit(1)


def _collect(*, output_format: str, **settings: Any) -> None:
    from slant.collector.api import collect as ask
    from slant.collector.commands.terminal_watcher import TerminalWatcher

    watcher = TerminalWatcher(output_format, settings["db"])
    watcher.show(ask(**settings, watcher=watcher), "retest" if settings["again"] is not None else None)
