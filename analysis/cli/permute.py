"""Compare observed differences between conditions with those of arbitrary labels (`analyze permute`)."""

from __future__ import annotations

from typing import Any

import click
import polars as pl

from slant.analysis.cli.options import option, short_chains_options
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands.options import AT_LEAST_1, seed_option

EXAMPLES = """\b
Examples:
  analyze permute --study rmiat
  analyze permute --study interference --permutations 1000
  analyze permute --engine lme4 --permutations 200 --format csv > check.csv
  analyze permute --permutations 1000 --show refits --format json
  analyze figures permutations --study interference
"""
# A terminal has room for these; CSV and JSON have all columns.
_SHOWN = (
    "source", "model", "test", "kind", "scale", "observed", "null_mean", "null_sd", "n", "n_as_large", "p_one_sided",
    "p_low", "p_high", "p_two_sided",
)  # fmt: skip

_SHOWN_OF_CONDITIONS = (
    "source", "variant", "model", "test", "engine", "null", "observed", "null_low", "null_high", "n", "p_two_sided",
    "p_engine", "false_positives",
)  # fmt: skip
_OPTIONS = (
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


@result_command("permute", epilog=EXAMPLES, options=_OPTIONS)
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
    rows = pl.concat([_named(getattr(result, show), is_of_words, n) for n, result in enumerate(results)])
    says = [
        f"{_NULLS[number].capitalize()}: {sentence}" if is_of_words else sentence
        for number, result in enumerate(results)
        for sentence in result_sentences(result)
    ]
    return Answer(rows, (_SHOWN_OF_CONDITIONS if is_of_words else _SHOWN) if show == "tests" else None, says)


_NULLS = ("whole words", "sharp null, within wordings")


def _named(rows: pl.DataFrame, is_of_words: bool, number: int) -> pl.DataFrame:
    """Name the null that was permuted under, if there are two."""
    if not is_of_words:
        return rows
    place = rows.columns.index("engine") + 1
    return rows.insert_column(place, pl.lit(_NULLS[number], pl.String).alias("null"))
