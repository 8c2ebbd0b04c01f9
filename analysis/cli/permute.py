"""`analyze permute`: the observed differences between blocks beside those that arbitrary block labels give."""

from __future__ import annotations

from pathlib import Path

import click

from slant.analysis.cli.results import FitProgress
from slant.analysis.cli.study import meant, study_option
from slant.collector.commands.shown import shown_options
from slant.collector.terminal import db_option, format_option, print_rows, say

EXAMPLES = """\b
Examples:
  analyze permute --study interference --permutations 1000
  analyze permute --engine lme4 --permutations 200 --format csv > check.csv
  analyze permute --permutations 1000 --show refits --format json
  analyze figures permutations --study interference
"""
# What a terminal has room for; CSV and JSON have all columns.
_SHOWN = (
    "source", "model", "domain", "kind", "scale", "observed", "null_mean", "null_sd", "n", "n_as_large", "p_one_sided",
    "p_low", "p_high", "p_two_sided",
)  # fmt: skip


@click.command(epilog=EXAMPLES)
@study_option
@click.option("--permutations", type=click.IntRange(min=1), default=1000, show_default=True, help="How many.")
@click.option(
    "--engine", type=click.Choice(["brms", "lme4"]), default="brms", show_default=True,
    help="Refit the study's Bayesian model, or, as a fast check, its glmer.",
)  # fmt: skip
@click.option("--seed", type=int, default=1, show_default=True, help="Each permutation's own seed is made of this one.")
@click.option("--source", type=click.Choice(["collected", "imported", "simulated"]), help="Only rows of this source.")
@click.option("--chains", type=click.IntRange(min=1), help="Chains of a refit (brms). Default: 2.")
@click.option("--iterations", type=click.IntRange(min=10), help="Iterations of a chain (brms). Default: 700.")
@click.option("--warmup", type=click.IntRange(min=1), help="How many of them are warm-up (brms). Default: 200.")
@click.option("--adapt-delta", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Default: .95 (brms).")
@click.option(
    "--show", type=click.Choice(["tests", "values", "refits"]), default="tests", show_default=True,
    help="A row a cell, a row a refit and cell, or a row a refit with what R said.",
)  # fmt: skip
@click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
@db_option
@format_option
@shown_options
def permute(
    study: str | None, permutations: int, engine: str, seed: int, source: str | None, chains: int | None,
    iterations: int | None, warmup: int | None, adapt_delta: float | None, show: str, workers: int | None, db: Path,
    output_format: str,
) -> None:  # fmt: skip
    """Is the interference that was found more than arbitrary block labels would give?

    Swaps each item's two block labels with probability 1/2 within model and domain, refits, and prints a row a cell:
    the observed difference between the blocks, its null distribution, p = (1 + k) / (1 + n) with its Monte Carlo
    interval. Each refit is kept as soon as it is there: the same command goes on where it was stopped, and one with
    more permutations adds to them. Neither the number of workers nor a stop changes a number.
    """
    from slant.analysis.questions.permutation.definition import has_blocks
    from slant.analysis.questions.permutation.permute import permute as permute_all
    from slant.analysis.questions.permutation.words import in_words

    given = {"chains": chains, "iterations": iterations, "warmup": warmup, "adapt_delta": adapt_delta}
    settings = {name: value for name, value in given.items() if value is not None}
    its = meant(db, study, lambda one: any(map(has_blocks, one.fits.values())), "has a fit with a factor `block`")
    with FitProgress("Refitting in R") as progress:
        found = permute_all(
            db, its, permutations, engine, seed, source=source, workers=workers, progress=progress, settings=settings
        )
    rows = getattr(found, show)
    print_rows(rows.select(_SHOWN) if show == "tests" and output_format == "table" else rows, output_format)
    for said in in_words(found):
        say(said)
    if found.not_kept:
        say(f"The result could not be kept. {found.not_kept}")
