"""`analyze` (and `slant`, which is `collect` and `analyze` under one name): options in, one call, rows out."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from slant.analysis.bridge.worker_start import begin_early
from slant.collector.commands.shown import shown_options
from slant.collector.terminal import SlantGroup, db_option, format_option, print_rows, say, version_option

TOPIC_TABLES = (
    "topics", "words", "match", "prevalence", "contrasts", "shifts", "correlations", "examples", "models",
)  # fmt: skip
"""What `--show` can show of a topic model."""
BAYES_TABLES = ("predictions", "contrasts", "checks", "loo")
"""What it can show of a Bayesian model."""
SHOWN = [*dict.fromkeys(("table", "diagnostics", "variances", "messages", *BAYES_TABLES, *TOPIC_TABLES))]
_COMMANDS = {
    "check": "slant.analysis.cli.check",
    "compare": "slant.analysis.cli.results",
    "differences": "slant.analysis.cli.games",
    "figures": "slant.analysis.cli.figures",
    "indices": "slant.analysis.cli.games",
    "permute": "slant.analysis.cli.permute",
    "reconstruct": "slant.analysis.cli.reconstruct",
    "report": "slant.analysis.cli.results",
    "sensitivity": "slant.analysis.cli.sensitivity",
    "topics": "slant.analysis.cli.topics",
    "tables": "slant.analysis.cli.results",
    "doctor": "slant.analysis.cli.doctor",
}

EXAMPLES = """\b
Examples:
  analyze --fit lme4                                   mixed models, for every study in slant.duckdb that defines them
  analyze --fit effect_size --db other.duckdb --format csv > effect_sizes.csv
  analyze --fit lme4 --study rmiat --show diagnostics
  analyze --fit stm --study rmiat --show contrasts --adjust holm
  analyze --fit brms --study interference --show contrasts
  analyze permute --study interference --permutations 1000
  analyze indices --study hiring
  analyze compare --study rmiat --summary
  analyze figures --out figures
  analyze report --out report.html
"""


_FITTING = ("compare", "report")  # commands that make mixed models and effect sizes


class AnalyzeGroup(SlantGroup):
    """Loads a command's module when it is used, so that `analyze --help` answers at once."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """R takes its time to load, so it begins before Python's own imports."""
        if args[0] in _FITTING and "--help" not in args and not ctx.resilient_parsing:
            begin_early(("lme4", "lmerTest"))
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(_COMMANDS[cmd_name]), cmd_name)
        return command


@click.group(cls=AnalyzeGroup, invoke_without_command=True, epilog=EXAMPLES)
@click.option(
    "--fit",
    "engine",
    metavar="FIT",
    help="A fit or an engine that the study names: lme4, brms, effect_size, stm, refusal_length, step_sensitivity.",
)
@click.option("--study", help="A study's name or the path of its TOML file. Default: every study in the database.")
@click.option("--source", type=click.Choice(["collected", "imported", "simulated"]), help="Only rows of this source.")
@click.option(
    "--measure", type=click.Choice(["reasoning", "output", "recounted"]), help="Which tokens. Default: the study's."
)
@click.option(
    "--refusals", type=click.Choice(["removed", "kept"]), default="removed", show_default=True, help="As in the paper."
)
@click.option(
    "--show",
    type=click.Choice(SHOWN),
    help="Estimates, a row a fit, variance components, or what R said; predictions, contrasts, checks and loo are of "
    "brms; contrasts and the rest of stm. Default: table, or topics.",
)
@click.option("--adjust", type=click.Choice(["holm", "BH", "none"]), help="Adjusted p, for contrasts and correlations.")
@click.option("--topics", type=click.IntRange(min=1), help="How many topics stm fits. Default: the study's.")
@click.option("--preprocessing", type=click.Choice(["fast", "tm"]), help="How texts become words (stm); results agree.")
@click.option("--chains", type=click.IntRange(min=1), help="How many chains brms draws. Default: the study's.")
@click.option("--iterations", type=click.IntRange(min=2), help="Of each chain (brms). Three eighths warm up, unless:")
@click.option("--warmup", type=click.IntRange(min=1), help="Iterations that warm up (brms).")
@click.option("--seed", type=click.IntRange(min=0), help="Of what is drawn at random. Default: the study's.")
@click.option(
    "--random", type=click.Choice(["repetition", "run_id"]), multiple=True,
    help="A random intercept more, for each repetition or run (lme4, brms). May be given twice.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Draw also what is expected to take more than an hour (brms).")
@click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
@click.option("--refit", is_flag=True, help="Fit again what is unchanged, too.")
@db_option
@format_option
@click.pass_context
@shown_options
def analyze(
    ctx: click.Context,
    engine: str | None,
    study: str | None,
    source: str | None,
    measure: str | None,
    refusals: str,
    show: str | None,
    adjust: str | None,
    topics: int | None,
    preprocessing: str | None,
    chains: int | None,
    iterations: int | None,
    warmup: int | None,
    seed: int | None,
    random: tuple[str, ...],
    force: bool,
    workers: int | None,
    refit: bool,
    db: Path,
    output_format: str,
) -> None:
    """Fits models in R, prints the paper's tables, compares them with the print.

    With --fit: fits that model in every cell (model and test) and prints its estimates, one row each. What has not
    changed since the last time is not fitted again. Rows go to stdout, everything else to stderr. A fit with other
    settings than the study's is kept beside the study's own.
    """
    if ctx.invoked_subcommand is not None:
        return
    if engine is None:
        click.echo(ctx.get_help())
        return
    from slant.analysis.cli.bayes import bayes_table, check_adjustable, verdicts
    from slant.analysis.cli.results import fit_and_say
    from slant.analysis.cli.topics import check_adjust, say_about_topics, topic_table

    check_adjust(show, adjust)
    if iterations is not None and warmup is None:
        warmup = max(1, iterations * 3 // 8)  # as in the interference paper
    given = {
        "topics": topics, "preprocessing": preprocessing, "chains": chains, "iterations": iterations, "warmup": warmup,
        "seed": seed, "random": list(random) or None, "force": force or None,
    }  # fmt: skip
    settings = {name: value for name, value in given.items() if value is not None}
    result = fit_and_say(
        engine, db, study, source=source, refusals_removed=refusals == "removed", measure=measure, workers=workers,
        refit=refit, settings=settings,
    )  # fmt: skip
    has_topics = not result.topics["models"].is_empty()
    check_adjustable(result, adjust)
    if has_topics or adjust or (show in TOPIC_TABLES and show not in BAYES_TABLES):
        print_rows(topic_table(result, show or "topics", adjust, study, db), output_format)
        say_about_topics(result, db, study)
    else:
        print_rows(bayes_table(result, show or "table", in_full=output_format != "table"), output_format)
    for said in verdicts(result):
        say(said)
    if (result.diagnostics["status"] == "failed").all():
        ctx.exit(1)


class _Everything(SlantGroup):
    """`slant collect …` and `slant analyze …` are the same commands under the distribution's own name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["collect", "analyze"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "collect":
            from slant.collector.cli import collect

            return collect
        return analyze if cmd_name == "analyze" else None


@click.group(cls=_Everything, epilog="\b\nExamples:\n  slant collect --study rmiat --simulated\n  slant analyze report")
@version_option
def slant() -> None:
    """Measures how language models lean: collects behavioural experiments, analyses them with R."""
