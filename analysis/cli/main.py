"""Run `analyze` (and `slant`, which is `collect` and `analyze` under one name): options in, one call, rows out."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slant.analysis.cli import options
from slant.collector.commands import options as of_collect
from slant.collector.study.crossed_fits import engine_names
from slant.collector.terminal import LazyCommand, LazyGroup, SlantGroup, say

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers

_COMMANDS = {
    name: LazyCommand(f"slant.analysis.cli.{module}", "topics" if name == "topics" else f"{name}_command", about)
    for name, module, about in (
        ("agreement", "agreement", "Do coders of texts agree, and do a model's errors differ between conditions?"),
        ("alike", "agreement", "Does a model answer as people do? Compare its answers with theirs."),
        ("atlas", "validity", "Do newer models lean more? The effects of many studies by date of release."),
        ("calibrate", "permute", "Is the sampler correct? Bayesian fits of data drawn from their priors."),
        ("check", "check", "Threats to the results, each with its number: residuals, influence, refusals …"),
        ("compare", "tables", "Compare the paper's printed numbers with the recomputed ones."),
        ("differences", "game_indices", "Whether two conditions of a game differ in stratification."),
        ("doctor", "doctor", "What slant needs and what this machine lacks."),
        ("figures", "figures", "The paper's figures as SVG, PNG or PDF, with alternative texts."),
        ("indices", "game_indices", "How stratified games became: indices with intervals, compared with chance."),
        ("meta", "validity", "Meta-analysis over tests and models: mean effect, variation, prediction intervals."),
        ("permute", "permute", "Permutation test: the observed effect compared with that of random labels."),
        ("power", "power", "Power: how many words, wordings, repetitions or games a study needs, and their cost."),
        ("reconstruct", "tables", "Construct answers with a paper's printed counts, if its data are not public."),
        ("replay", "replay", "Check and recompute a sealed study: what agrees, what differs."),
        ("report", "figures", "One HTML page: tables, figures, warnings, where the data come from."),
        ("retest", "occasions", "Retest reliability: repeated trials compared with their first answers."),
        ("seal", "replay", "A study as one file: journals, data, tables, figures, hashes, a README."),
        ("sensitivity", "permute", "The study's question, analysed in the other ways that its file names."),
        ("successor", "occasions", "Does it carry over? Two models' answers to the same prompts, and what differs."),
        ("tables", "tables", "Descriptives, refusals, costs, stored results. Needs no R."),
        ("topics", "topics", "Choose the number of topics of a topic model."),
        (
            "validity",
            "validity",
            "Do several measures of the same models agree? Correlations corrected for measurement error.",
        ),
        ("watch", "occasions", "Has it moved? The same prompts every month; exit code 4 on an alarm."),
    )
}

EXAMPLES = """\b
Examples:
  analyze --fit lme4                                   mixed models, for every study in slant.duckdb that defines them
  analyze --fit effect_size --db other.duckdb --format csv > effect_sizes.csv
  analyze --fit lme4 --study rmiat --show diagnostics
  analyze --fit crossed --study rmiat --show effects   do effects generalise to other words and wordings?
  analyze --fit stm --study rmiat --show contrasts --adjust holm
  analyze --fit brms --study interference --show contrasts
  analyze --fit brms --study rmiat --show effects --family gaussian
  analyze --fit dsl --study reasons                    codes of a model, corrected by those of people
  analyze permute --study interference --permutations 1000
  analyze calibrate --study interference --fit interference --data-sets 200
  analyze indices --study hiring
  analyze compare --study rmiat --summary
  analyze figures --out figures
  analyze report --out report.html
"""

_STARTS_R = ("compare", "report")  # commands that fit mixed models and effect sizes


class AnalyzeGroup(LazyGroup):
    def invoke(self, ctx: click.Context) -> Any:
        """Say of every command what it could not keep: otherwise the next one has to compute it again."""
        try:
            return super().invoke(ctx)
        finally:
            if (results := sys.modules.get("slant.analysis.calls.results")) is not None:
                for reason in results.take_reasons_not_kept():
                    say(f"The result could not be stored. {reason}")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Start R before Python's own imports, for it takes its time to load."""
        if args[0] in _STARTS_R and "--help" not in args and not ctx.resilient_parsing:
            from slant.analysis.bridge.worker_start import begin_early

            begin_early(("lme4", "lmerTest"))
        return super().resolve_command(ctx, args)


_mixed_option = of_collect.section("Mixed models (lme4, brms)")
_brms_option = of_collect.section("Bayesian models (brms)")
_stm_option = of_collect.section("Topic models (stm)")


@click.group(cls=AnalyzeGroup, lazy_commands=_COMMANDS, invoke_without_command=True, epilog=EXAMPLES)
@click.option(
    "--fit", "engine", metavar="FIT", help=f"A fit that the study names, or an engine: {', '.join(engine_names())}."
)
@of_collect.study_option("Default: every study in the database.")
@of_collect.source_option()
@options.measure_option
@of_collect.rows_option(
    "--refusals",
    type=click.Choice(["removed", "kept"]),
    default="removed",
    show_default=True,
    help="Whether to analyse refused trials; the paper removed them.",
)
@options.option(
    "--show",
    of=[*dict.fromkeys((*options.FIT_TABLES, *chain(*options.ENGINE_TABLES.values()), *options.TOPIC_TABLES))],
    metavar="TABLE",
    help=f"The table to print. For every fit: {', '.join(options.FIT_TABLES)}; "
    + "".join(f"of {engine} {', '.join(tables)}; " for engine, tables in options.ENGINE_TABLES.items())
    + f"of stm {', '.join(options.TOPIC_TABLES)}. Default: table, of stm topics.",
)
@of_collect.seed_option()
@options.workers_options
@options.refit_option
@of_collect.version_option
@_mixed_option(
    "--random",
    type=click.Choice(["repetition", "run_id"]),
    multiple=True,
    help="Add a random intercept for each repetition or run. Repeatable.",
)
@_brms_option(
    "--family",
    type=click.Choice(options.COUNT_FAMILIES),
    help="Distribution of token counts; lognormal is the default.",
)
@_brms_option("--chains", type=of_collect.AT_LEAST_1, help="Chains. Default: the study's.")
@_brms_option("--iterations", type=of_collect.WholeNumber(2), help="Iterations of a chain. Default: the study's.")
@_brms_option(
    "--warmup",
    type=of_collect.AT_LEAST_1,
    help="Warm-up iterations among them. Default: three eighths of --iterations.",
)
@_brms_option("--force", is_flag=True, help="Fit even if this may take more than an hour.")
@_stm_option("--topics", type=of_collect.AT_LEAST_1, help="Topics of the model. Default: the study's.")
@_stm_option(
    "--preprocessing",
    type=click.Choice(["fast", "tm"]),
    help="How texts are split into words: both give the same words, fast is faster.",
)
@_stm_option(
    "--adjust",
    type=click.Choice(["holm", "BH", "none"]),
    help="Print adjusted p values, with --show contrasts or correlations.",
)
@of_collect.section("Coded texts (dsl)")(
    "--estimator",
    type=click.Choice(["dsl", "ppi", "amce", "marginal_means", "impact_ratio"]),
    help="Corrected for coders' errors: coefficients (dsl, ppi), AMCEs, means of levels or impact ratios.",
)
@of_collect.db_option
@of_collect.output_options
@click.pass_context
@of_collect.row_options
def analyze(
    ctx: click.Context,
    engine: str | None,
    study: str | None,
    source: str | None,
    measure: str | None,
    refusals: str,
    show: str | None,
    adjust: str | None,
    random: tuple[str, ...],
    workers: Workers,
    refit: bool,
    db: Path,
    output_format: str,
    **settings: Any,
) -> None:
    """Fit statistical models in R, and print tables, comparisons with the paper, figures and reports.

    With --fit: fit that model in every cell (model and test) and print one row for each estimate. Fits are stored
    in the database, and recomputed only if rows, settings or code have changed; a fit with your own settings is
    stored next to the study's. Rows go to stdout, everything else to stderr.
    """
    if ctx.invoked_subcommand is not None:
        return
    if engine is None:
        click.echo(ctx.get_help())
        return
    from slant.analysis.cli.fits import print_fit

    fit_settings = {name: value for name, value in settings.items() if value not in (None, False)}
    if (estimator := fit_settings.pop("estimator", "dsl")) == "ppi" and engine == "dsl":
        engine = estimator
    elif estimator not in ("dsl", "ppi"):
        fit_settings["estimator"] = estimator
    if random:
        fit_settings["random"] = list(random)
    if "iterations" in fit_settings:
        fit_settings.setdefault("warmup", max(1, fit_settings["iterations"] * 3 // 8))  # as in the interference paper
    how = {"source": source, "refusals_removed": refusals == "removed", "measure": measure, "settings": fit_settings}
    if print_fit(engine, db, study, show, adjust, output_format, workers=workers, refit=refit, **how):
        ctx.exit(1)


class _SlantGroup(SlantGroup):
    """Run `slant collect …` and `slant analyze …`: the same commands under the distribution's own name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["collect", "analyze"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "collect":
            from slant.collector.cli import collect

            return collect
        return analyze if cmd_name == "analyze" else None


@click.group(cls=_SlantGroup, epilog="\b\nExamples:\n  slant collect --study rmiat --simulated\n  slant analyze report")
@of_collect.version_option
def slant() -> None:
    """Measure how language models lean: collect behavioural experiments, analyse them with R."""
