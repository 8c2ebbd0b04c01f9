"""Combine measures and models: do several measures agree (`analyze validity`), what is the effect over all tests and
models (`analyze meta`), and over studies and dates of release (`analyze atlas`)?
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import measure_option, option, workers_options
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands.options import BETWEEN_0_AND_1, FILE, output_options, source_option
from slant.collector.errors import UsageError
from slant.collector.terminal import say

if TYPE_CHECKING:
    from slant.analysis.questions.meta import Effects, Unit


_EXAMPLES_OF_VALIDITY = """\b
Examples:
  analyze validity --measures rmiat.d,word_association.d
  analyze validity --measures rmiat.d,word_association.d,decision.bias --figure validity.svg
  analyze validity --measures rmiat.d --with benchmark.csv
  analyze validity --measures hiring.si --with benchmark.csv --figure scores.svg
  analyze validity --measures decision@chained.bias,word_association.t_test --format csv > agreement.csv
"""
_OPTIONS_OF_VALIDITY = (
    click.option(
        "--measures",
        required=True,
        metavar="STUDY.FIT,…",
        help="Two or more (one for --with), of studies here: STUDY.FIT, STUDY.FIT:TERM, STUDY@VARIANT.FIT; STUDY.d is "
        "Cohen's d, or the mean of D; of games: STUDY.si, .bgd, .gasi and so on.",
    ),
    click.option(
        "--with",
        "scores",
        type=FILE,
        metavar="FILE",
        help="Compare each measure's mean over tests with other scores of the models: columns model, score, std_error.",
    ),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="Significance level: 1 minus the level of intervals."),
)


@result_command(
    "validity",
    epilog=_EXAMPLES_OF_VALIDITY,
    study=None,
    options=_OPTIONS_OF_VALIDITY,
    figure="the units of the first pair",
    refit=True,
)
def validity_command(asked: Asked, measures: str, scores: Path | None, alpha: float) -> Answer:
    """Correlate measures over models and tests: do several measures of the same models agree?

    These are Pearson's and Spearman's correlation, and that of the true values, which takes the standard errors of both
    measures into account (errors make the plain one too small): over all units, between models, between tests, within
    cells. With scores of a file it is one unit a model, and `slope` the regression of the true measure on the true
    score. Intervals know that units of one model or test depend on each other, and need five models; p is from
    permutations of models and tests. CSV and JSON also have estimates without each model in turn.
    """
    import polars as pl

    from slant.analysis.questions.meta import validity

    named = [measure.strip() for measure in measures.split(",") if measure.strip()]
    result = asked.compute(validity, measures=named, alpha=alpha, scores=scores)
    first = result.units.select("measure_x", "measure_y").row(0, named=True)
    return Answer(
        result.table,
        result.table.filter(pl.col("left_out").is_null()).drop("left_out", "status", "messages"),
        figure=("plot_validity", result.units.filter(**first)),
        warns_first=True,
    )


_EXAMPLES_OF_META = """\b
Examples:
  analyze meta --study rmiat
  analyze meta --study rmiat --figure forest.svg
  analyze meta --study rmiat --unit log_ratio
  analyze meta --study rmiat --effects paper --format csv > pooled.csv
"""
_OPTIONS_OF_META = (
    measure_option,
    option(
        "--effects",
        of=("crossed", "paper"),
        default="crossed",
        help="Effects of the fit over words and wordings, or of the study's own mixed model.",
    ),
    option(
        "--unit",
        of=("sd", "outcome", "log_ratio"),
        default="sd",
        help="Unit of effects: standard deviations within conditions, the outcome's own unit, or the logarithm "
        "of the ratio of means (for different tokenizers).",
    ),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="Significance level: 1 minus the level of intervals."),
)


@result_command("meta", epilog=_EXAMPLES_OF_META, options=_OPTIONS_OF_META, figure="a forest plot", refit=True)
def meta_command(asked: Asked, measure: str | None, effects: Effects, unit: Unit, alpha: float) -> Answer:
    """Pool tests and models into one number: a random-effects meta-analysis of a study's effects, by R's metafor.

    The mean effect with its interval; tau, the standard deviation of true effects between tests, between models and
    between cells beyond these; and prediction intervals for a new test, a new model, and a new test of a new model. CSV
    and JSON also have the effect of each test and model, and whether missing answers leave it its sign, whatever they
    would have been (otherwise the figure crosses it out). For forced choices: the differences between conditions in the
    share of consistent answers (--unit outcome).
    """
    import polars as pl

    from slant.analysis.questions.checks.trials import SIGN_KEPT
    from slant.analysis.questions.meta import meta_analysis

    rows = asked.compute(meta_analysis, measure=measure, effects=effects, unit=unit, alpha=alpha).table
    pooled = rows.filter(pl.col("row") != "cell").drop("model", "test", SIGN_KEPT, "status", "messages")
    return Answer(rows, pooled, figure=("plot_forest", rows), warns_first=True)


_EXAMPLES_OF_ATLAS = """\b
Examples:
  analyze atlas slant.duckdb
  analyze atlas 2024.duckdb 2025.duckdb paper.zip --models models.csv --figure atlas.svg
  analyze atlas *.duckdb --study callbacks --page atlas.html --out atlas.parquet

The columns of models.csv are model, and any of released (2024-05-13), maker, generation. Without it dates are those in
the names of snapshots.
"""
_OPTIONS_OF_ATLAS = (
    click.argument("files", nargs=-1, required=True, metavar="FILES…", type=FILE),
    click.option("--models", type=FILE, metavar="FILE", help="A CSV with the models' dates of release and makers."),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="Significance level: 1 minus the level of intervals."),
    click.option("--page", type=FILE, metavar="FILE", help="Also write an HTML page to browse: FILE.html."),
    click.option("--out", type=FILE, metavar="FILE", help="Also write all rows to share: FILE.parquet."),
)
_SHOWN_OF_ATLAS = (
    *("source", "study", "variant", "measure", "term", "row", "model", "test", "released", "maker"),
    *("estimate", "std_error", "conf_low", "conf_high", "n"),
)


@result_command(
    "atlas",
    epilog=_EXAMPLES_OF_ATLAS,
    study="all studies in the files",
    options=_OPTIONS_OF_ATLAS,
    figure="the effects by model, oldest first",
    usual_options=(source_option(), workers_options, output_options),
)
def atlas_command(
    asked: Asked, files: tuple[Path, ...], models: Path | None, alpha: float, page: Path | None,
    out: Path | None,
) -> Answer:  # fmt: skip
    """Compare the effects of many studies and models, by the models' dates of release: do newer models of a family lean
    more?

    FILES are databases or sealed archives; a trial that lies in several counts once. Each effect of a level is pooled
    by one mixed model over tests and models within generations and makers: row "of_model" is a model's effect,
    partially pooled, "mean" that of all, "trend" the change per year among models of one maker, with an interval from
    five makers on.
    """
    import polars as pl

    from slant.analysis.archive.study_copy import database_of
    from slant.analysis.questions.atlas import atlas

    for file, endings in ((page, (".html", ".htm")), (out, (".parquet",))):
        if file is not None and file.suffix.lower() not in endings:
            raise UsageError(f'Can\'t write to "{file}": its name must end in {" or ".join(endings)}.')
    with ExitStack() as stack:
        paths = [stack.enter_context(database_of(file)) for file in files]
        result = asked.compute(atlas, work="Pooling in R", files=paths, models=models, alpha=alpha)
    table = result.table
    once = f"{result.n_twice:,} trials are in several files, and count once." if result.n_twice else None
    says = [*result.summary, *([once] if once else [])]
    has_pooled = (pl.col("row") == "of_model").any().over("source", "study", "variant", "measure", "term")
    of_models = table.filter((pl.col("row") == "of_model") | (~has_pooled & (pl.col("row") == "cell")))
    if out is not None:
        table.write_parquet(out)
        say(f"The rows: {out.resolve()}")
    drawn = ("plot_atlas", table)
    if page is not None:
        from slant.analysis.pages.result_page import write_result_page

        tables = {"All rows": table.select(name for name in _SHOWN_OF_ATLAS if name in table.columns)}
        title = "Do newer models lean more?"
        say(f"The page: {write_result_page(page, title, [*says, *result.warnings], drawn, tables, asked.workers)}")
    shown = [name for name in _SHOWN_OF_ATLAS if name in table.columns and not of_models[name].is_null().all()]
    same = [name for name in ("source", "study", "variant", "row") if of_models[name].n_unique() == 1]
    return Answer(table, of_models.select(name for name in shown if name not in same), says, figure=drawn)
