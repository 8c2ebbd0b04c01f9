"""Show how many words, wordings, repetitions or games it takes, and what they cost (`analyze power`)."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
import polars as pl

from slant.analysis.cli.options import workers_options
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands import options
from slant.collector.errors import UsageError

EXAMPLES = """\b
Examples:
  analyze power --study mine.toml --from pilot.duckdb
  analyze power --study mine.toml --from pilot.duckdb --words 16,32,64 --wordings 10,20 --effect 10 --figure power.svg
  analyze power --study rmiat --word 250 --wording 30 --residual 3200 --sd 60 --effect 10
  analyze power --study hiring --game 0.04 --games 10,30,100 --effect 0.2
  analyze power --study audit.toml --repetitions 1,2,4 --figure power.svg
  analyze power --from reasons.duckdb --labels 100,200,500
  analyze power --study audit.toml --from pilot.duckdb --repetitions 1,2,4
"""
_SHOWN = (
    "model", "test", "attribute", "first", "second", "n_words", "n_wordings", "n_repetitions", "n_games", "n_calls",
    "estimate", "std_error", "df", "std_error_most", "mde", "mde_most", "mde_d", "power", "power_uncorrected",
    "power_error", "power_least", "raise", "cost_usd", "time",
)  # fmt: skip
_numbers_option = options.section("What is planned")
_variance_option = options.section("Variances, without a pilot")
_VARIANCES = ("word", "wording", "residual", "combination", "sd", "game")


def _numbers(ctx: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...]:
    words = [word.strip() for word in (text or "").split(",")] if text is not None else []
    if any(not word.isascii() or not word.isdigit() or int(word) < 1 or len(word) > 7 for word in words):
        option = parameter.opts[0]
        raise UsageError(f'{option} takes whole numbers separated by commas, not "{text}".', f"As in: {option} 16,32")
    return tuple(int(word) for word in words)


_counts_option = partial(_numbers_option, callback=_numbers, metavar="NUMBERS")
_OPTIONS = (
    click.option(
        "--from", "--db", "pilot", type=options.FILE, metavar="FILE", help="A pilot's database, to take variances from."
    ),
    _counts_option("--words", "n_words", help="Words of a test, of both groups: 16,32,64."),
    _counts_option("--wordings", "n_wordings", help="Wordings: 10,20."),
    _counts_option(
        "--repetitions", "n_repetitions", help="Repetitions of each trial. [default: 1,2,5; of a factorial study 1,2]"
    ),
    _counts_option("--games", "n_games", help="Number of games in each of two conditions. [default: 10,30,100,300]"),
    _counts_option("--labels", help="Standard errors for these numbers of texts that people code: 100,200,500."),
    _numbers_option(
        "--effect", type=options.ABOVE_0, help="Effect size to compute power for, in units of the outcome."
    ),
    _numbers_option(
        "--power", type=options.BETWEEN_0_AND_1, help="Power for the smallest detectable effect. [default: 0.8]"
    ),
    _variance_option("--word", type=options.ABOVE_0, help="Variance of the effect between words."),
    _variance_option("--wording", type=options.ABOVE_0, help="Variance of the effect between wordings. Default: none."),
    _variance_option("--residual", type=options.ABOVE_0, help="Variance of trials."),
    _variance_option(
        "--combination",
        type=options.ABOVE_0,
        help="Variance that repetitions of a word in a wording and condition share; if not given, part of --residual.",
    ),
    _variance_option("--sd", type=options.ABOVE_0, help="Standard deviation within conditions, for effects as d."),
    _variance_option("--game", type=options.ABOVE_0, help="Variance of the index over games of one condition."),
    _numbers_option(
        "--data-sets",
        "n_data_sets",
        type=options.WholeNumber(2, 10_000),
        help="Of a factorial study: number of simulated data sets. [default: 100]",
    ),
    options.source_option(),
    options.rows_option("--model", "models", multiple=True, help="Only this model. Repeatable."),
    options.rows_option("--test", "tests", multiple=True, help="Only this test of the pilot. Repeatable."),
    options.setting_option("prices"),
)


@result_command(
    "power",
    epilog=EXAMPLES,
    study="With --from: the one that the pilot holds.",
    options=_OPTIONS,
    figure="smallest detectable effects",
    usual_options=[workers_options, options.output_options],
)
def power_command(asked: Asked, **settings: Any) -> Answer:
    """Show what a design would find: words, wordings and repetitions (or games) next to standard error, smallest
    effect, power, calls, cost and time.

    mde is the smallest effect that is found with a power of 80 % (--power) in a two-sided test at 5 %, over other words
    and wordings than those that were asked. `raise` names the number whose doubling leaves the smallest one.
    If a pilot has no repetitions, it is unknown how alike they are: std_error and mde hold if each is a new answer,
    std_error_most and mde_most if they are the same answer every time.
    Repetitions never replace words: std_error_endless (in CSV and JSON) is what endless ones would leave.

    A study of factors is planned by simulation, each model of its own: `power` is the share of data sets in which two
    levels differ (p < .05, corrected as the study's own fit corrects it; power_uncorrected without that). Data sets are
    those of its [simulation], or with --from of models that answer as the pilot's did.
    """
    from slant.analysis.fitting.fits import fit
    from slant.analysis.questions.power import plan_power

    if labels := settings.pop("labels"):
        pilot = settings.pop("pilot")
        if pilot is None or any(settings.values()):
            raise UsageError(
                "--labels needs texts that people have coded (--from FILE), and takes only --source besides."
            )
        result = asked.compute(fit, fit="dsl", db=pilot, settings={"labels": [*labels]})
        return Answer(result.tables["dsl"]["labels"])
    typed = {name: settings.pop(name) for name in _VARIANCES}
    variances = {name: value for name, value in typed.items() if value is not None}
    plan = asked.compute(plan_power, variances=variances or None, **settings)
    says = (*plan.advice, *plan.cost_rests_on)
    return Answer(plan.table, _short(plan.table), says, figure=("plot_power", plan.table), exact=True)


def _short(table: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that fit a terminal: costs and times in the middle of their range."""
    from slant.collector.ask.rate_limits import spoken
    from slant.collector.cost.estimate import dollars

    costs = pl.Series("cost_usd", [dollars(value) for value in table["cost_usd_about"]], pl.String)
    times = pl.Series("time", ["?" if s is None else spoken(s) for s in table["time_s_about"]], pl.String)
    rows = table.with_columns(costs, times, pl.col(pl.Float64).round_sig_figs(3))
    shown = [name for name in _SHOWN if name in rows.columns and rows[name].null_count() < rows.height]
    return rows.select(shown)
