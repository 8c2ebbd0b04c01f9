"""Test the analysis itself: against arbitrary labels (`analyze permute`), by data drawn from the priors (`analyze
calibrate`), analysed in other ways (`analyze sensitivity`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import click
import polars as pl

from slant.analysis.cli.options import option, short_chains_options
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.analysis.plots.figure_data import FigureData, rows_to_draw
from slant.analysis.questions.sensitivity import specifications
from slant.collector.commands.options import AT_LEAST_1, WholeNumber, list_option, seed_option
from slant.collector.terminal import count_text

# A terminal has room for these; CSV and JSON have all columns.
_SHOWN = {
    "permute": (
        "source", "model", "test", "kind", "scale", "observed", "null_mean", "null_sd", "n", "n_as_large",
        "p_one_sided", "p_low", "p_high", "p_two_sided",
    ),
    "conditions": (
        "source", "variant", "model", "test", "engine", "null", "observed", "null_low", "null_high", "n", "p_two_sided",
        "p_engine", "false_positives",
    ),
    "calibrate": (
        "fit", "quantity", "n", "n_failed", "n_doubtful", "p_value", "p_adjusted", "is_in_band", "coverage", "mean_z",
        "sd_z", "shrinkage",
    ),
    "sensitivity": (
        "source", "variant", "model", "test", "spec", "estimand", "unit", "estimate", "conf_low", "conf_high", "d", "n",
        "status",
    ),
}  # fmt: skip
_EXAMPLES_OF_PERMUTE = """\b
Examples:
  analyze permute --study rmiat
  analyze permute --study interference --permutations 1000
  analyze permute --engine lme4 --permutations 200 --format csv > check.csv
  analyze permute --permutations 1000 --show refits --format json
  analyze figures permutations --study interference
"""
_OPTIONS_OF_PERMUTE = (
    option("--permutations", of=AT_LEAST_1, default=1000, help="Number of permutations."),
    option(
        "--engine",
        of=("difference", "lme4", "brms"),
        help="What to recompute. Of conditions: difference (of means; the default) or the study's mixed model, "
        "lme4. Of choices: the study's Bayesian model, brms (the default), or, much faster, its glmer, lme4.",
    ),
    seed_option(default=1),
    click.option(
        "--whole-words",
        is_flag=True,
        help="Of conditions: only swap words with all their wordings (default: both kinds).",
    ),
    short_chains_options,
    option(
        "--show",
        of=("tests", "values", "refits"),
        default="tests",
        help="The table to print: one row per cell, per refit and cell, or per refit with R's messages.",
    ),
)


@result_command("permute", epilog=_EXAMPLES_OF_PERMUTE, options=_OPTIONS_OF_PERMUTE)
def permute_command(
    asked: Asked,
    permutations: int,
    engine: str | None,
    seed: int,
    whole_words: bool,
    sampling: dict[str, Any],
    show: str,
) -> Answer:
    """Compare the observed effect with that of arbitrary labels.

    For an association study: deal the words of each model and test to their groups at random and print the observed
    difference next to its null distribution, p, and how often the study's own test gives p < .05 there. This is done
    twice: "whole words" swaps a word's two conditions with all its wordings, and asks whether there is a mean effect if
    words differ; the sharp null swaps them within each wording, and asks whether any word has an effect in any wording,
    which it also finds if words differ in theirs and the mean is 0.

    For a forced choice: swap each item's two labels with probability 1/2 within model and test, refit, and print one
    row per cell: the observed difference between the conditions, its null distribution, p = (1 + k) / (1 + n) with
    its Monte Carlo interval. Each refit is kept as soon as it is made: the same command goes on where it was stopped,
    and one with more permutations adds to them. Results do not depend on the number of workers, nor on interruptions.
    """
    from slant.analysis.questions.permutation.conditions import has_conditions
    from slant.analysis.questions.permutation.permutations import can_permute, permute
    from slant.analysis.questions.permutation.sentences import result_sentences

    is_of_words = has_conditions(asked.choose(can_permute, "has conditions to permute")) and engine != "brms"
    results = []
    for is_whole in [True] if whole_words or not is_of_words else [True, False]:
        settings = {**({"whole_words": True} if is_whole and (is_of_words or whole_words) else {}), **sampling}
        how = {"permutations": permutations, "engine": engine, "seed": seed, "settings": settings}
        results.append(asked.compute(permute, work="Refitting in R", **how))
    rows = pl.concat([_named_of_permute(getattr(result, show), is_of_words, n) for n, result in enumerate(results)])
    says = [
        f"{_NULLS[number].capitalize()}: {sentence}" if is_of_words else sentence
        for number, result in enumerate(results)
        for sentence in result_sentences(result)
    ]
    return Answer(rows, (_SHOWN["conditions"] if is_of_words else _SHOWN["permute"]) if show == "tests" else None, says)


_NULLS = ("whole words", "sharp null, within wordings")


def _named_of_permute(rows: pl.DataFrame, is_of_words: bool, number: int) -> pl.DataFrame:
    """Name the null that was permuted under, if there are two."""
    if not is_of_words:
        return rows
    place = rows.columns.index("engine") + 1
    return rows.insert_column(place, pl.lit(_NULLS[number], pl.String).alias("null"))


_EXAMPLES_OF_CALIBRATE = """\b
Examples:
  analyze calibrate --study interference --fit interference --data-sets 200
  analyze calibrate --study interference --data-sets 20 --workers 2        a first look at both stages
  analyze calibrate --fit interference --show ranks --format csv > ranks.csv
  analyze figures calibration --study interference
"""
_OPTIONS_OF_CALIBRATE = (
    click.option("--fit", default="brms", metavar="NAME", help="A Bayesian fit of the study. Default: each of them."),
    option("--data-sets", of=WholeNumber(2), default=200, help="Number of data sets to draw and fit."),
    seed_option(default=1),
    short_chains_options,
    click.option("--max-rows", type=WholeNumber(10), help="Use at most this many rows. Default: 1000."),
    option(
        "--show",
        of=("summary", "ranks", "fits"),
        default="summary",
        help="The table to print: one row per quantity, per data set and quantity, or per data set with R's messages.",
    ),
)


@result_command("calibrate", epilog=_EXAMPLES_OF_CALIBRATE, options=_OPTIONS_OF_CALIBRATE)
def calibrate_command(
    asked: Asked, fit: str, data_sets: int, seed: int, sampling: dict[str, Any], max_rows: int | None, show: str
) -> Answer:
    """Check the sampler by simulation-based calibration of a study's Bayesian fits.

    This draws parameters from the priors of the fit, and outcomes from them for the rows in the database; fits these,
    and ranks each truth among the draws of its posterior. If model, priors, coding and sampler are as they should be,
    ranks are uniform: p_value is small if they are not, p_adjusted corrects it for the number of quantities. For the 95
    % intervals, coverage should be near .95; z-scores have mean 0 and standard deviation 1; shrinkage says how much the
    data tell, from 0 to 1.

    Each data set is kept as soon as it is fitted: the same command goes on where it was stopped, and one with more data
    sets adds to them. Results do not depend on the number of workers, nor on interruptions.
    """
    from slant.analysis.questions.calibration import calibrate, calibration_sentences, can_calibrate

    settings = sampling if max_rows is None else {**sampling, "max_rows": max_rows}
    asked.choose(can_calibrate, "has a Bayesian fit to calibrate")
    result = asked.compute(
        calibrate, work="Calibrating in R", fit=fit, data_sets=data_sets, seed=seed, settings=settings
    )
    shown = _SHOWN["calibrate"] if show == "summary" else None
    return Answer(getattr(result, show), shown, calibration_sentences(result.summary))


"""List the columns on a terminal; the other formats have every column."""
_OPTIONS_OF_SENSITIVITY = (
    click.option("--spec", "specs", multiple=True, metavar="NAME", help="Only this specification. Repeatable."),
    list_option,
)


@result_command(
    "sensitivity",
    epilog="\b\nExamples:\n  analyze sensitivity --study rmiat --figure curve.svg\n"
    "  analyze sensitivity --study interference --spec paper --spec sum_coding --format csv > curve.csv\n"
    "  analyze sensitivity --study interference --list",
    options=_OPTIONS_OF_SENSITIVITY,
    figure="the specification curve, of one source and variant",
    refit=True,
)
def sensitivity_command(asked: Asked, specs: tuple[str, ...], is_list: bool) -> Answer:
    """Fit the specifications of a study ([sensitivity.NAME] in its file); print one row per specification and cell.

    Each is kept as soon as it is made: the same command goes on where it was stopped, and fits nothing twice. Estimates
    in different units can't be compared; `d` is in standard deviations. Probabilities share one unit, and have no d.
    """
    chosen = asked.choose(lambda candidate: bool(candidate.sensitivity), "has specifications")
    if is_list:
        rows = [
            {"spec": spec.name, "label": spec.label, "fit": spec.fit, "choices": _in_one_line(spec.choices)}
            for spec in chosen.sensitivity.values()
        ]
        return Answer(pl.DataFrame(rows), exact=True)
    table = asked.compute(specifications, specs=specs).table
    return Answer(
        table.drop("call_id", "row_no"),
        table.select(_SHOWN["sensitivity"]),
        _counted(table),
        figure=("plot_specifications", lambda: rows_to_draw(table, FigureData(asked.db, chosen).labels)),
        exact=True,
        exit_code=int((table["status"] == "failed").all()),
    )


def _in_one_line(choices: Mapping[str, str]) -> str:
    return "; ".join(f"{dimension}: {choice}" for dimension, choice in choices.items())


def _counted(table: pl.DataFrame) -> Iterator[str]:
    fits = table.unique("call_id", maintain_order=True)
    counts = Counter(fits["status"].to_list())
    yield f"{count_text(fits.height, 'fit')}: " + ", ".join(f"{n} {status}" for status, n in counts.most_common()) + "."
    failed = fits.filter(pl.col("status") == "failed")
    for row in failed.head(3).to_dicts():
        cell = ", ".join(filter(None, [row["model"], row["test"]])) or "all rows"
        yield f"Failed: {row['spec']} ({cell}): {row['messages'].splitlines()[-1]}"
    if failed.height > 3:
        yield f"… and {failed.height - 3} more: --format json has the messages of each."
