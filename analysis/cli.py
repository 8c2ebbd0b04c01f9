"""`analyze` (and `slant`, which is `collect` and `analyze` under one name): options in, one call, rows out."""

from __future__ import annotations

from importlib import import_module, metadata
from pathlib import Path

import click

from collector.commands.output import SlantGroup, db_option, format_option, print_rows

_COMMANDS = {
    "compare": "analysis.cli_results",
    "report": "analysis.cli_results",
    "tables": "analysis.cli_results",
    "doctor": "analysis.cli_doctor",
}

EXAMPLES = """\b
Examples:
  analyze --fit lme4                                   mixed models, for every study in slant.duckdb that defines them
  analyze --fit effect_size --db other.duckdb --format csv > effect_sizes.csv
  analyze --fit lme4 --study rmiat --show diagnostics
  analyze compare --study rmiat --summary
  analyze report --out report.html
"""


class AnalyzeGroup(SlantGroup):
    """Loads a command's module when it is used, so that `analyze --help` answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(_COMMANDS[cmd_name]), cmd_name)
        return command


@click.group(cls=AnalyzeGroup, invoke_without_command=True, epilog=EXAMPLES)
@click.option("--fit", "engine", metavar="FIT", help="A fit that the study defines: lme4, effect_size.")
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
    type=click.Choice(["table", "diagnostics", "variances", "messages"]),
    default="table",
    show_default=True,
    help="Estimates, a row a fit, variance components, or what R said.",
)
@click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
@click.option("--refit", is_flag=True, help="Fit again what is unchanged, too.")
@db_option
@format_option
@click.pass_context
def analyze(
    ctx: click.Context,
    engine: str | None,
    study: str | None,
    source: str | None,
    measure: str | None,
    refusals: str,
    show: str,
    workers: int | None,
    refit: bool,
    db: Path,
    output_format: str,
) -> None:
    """Fits models in R, prints the paper's tables, compares them with the print.

    With --fit: fits that model in every cell (model and test) and prints its estimates, one row each. What has not
    changed since the last time is not fitted again. Rows go to stdout, everything else to stderr.
    """
    if ctx.invoked_subcommand is not None:
        return
    if engine is None:
        click.echo(ctx.get_help())
        return
    from analysis.cli_results import fit_and_say

    result = fit_and_say(
        engine, db, study, source=source, refusals_removed=refusals == "removed", measure=measure, workers=workers,
        refit=refit,
    )  # fmt: skip
    print_rows(getattr(result, show), output_format)
    if (result.diagnostics["status"] == "failed").all():
        ctx.exit(1)


def _say_version(ctx: click.Context, parameter: click.Parameter, is_asked: bool) -> None:
    """A checkout that nobody has installed has no version, and says so."""
    if not is_asked or ctx.resilient_parsing:
        return
    try:
        click.echo(f"slant, version {metadata.version('slant')}")
    except metadata.PackageNotFoundError:
        click.echo("slant, a checkout that is not installed")
    ctx.exit()


class _Everything(SlantGroup):
    """`slant collect …` and `slant analyze …` are the same commands under the distribution's own name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["collect", "analyze"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "collect":
            from collector.cli import collect

            return collect
        return analyze if cmd_name == "analyze" else None


@click.group(cls=_Everything, epilog="\b\nExamples:\n  slant collect --study rmiat --simulated\n  slant analyze report")
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_say_version, help="The version.")
def slant() -> None:
    """Measures how language models lean: collects behavioural experiments, analyses them with R."""
