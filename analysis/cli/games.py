"""`analyze indices` and `analyze differences`: how stratified games became, and whether conditions differ in it."""

from __future__ import annotations

from pathlib import Path

import click

from slant.analysis.cli.results import FitProgress
from slant.analysis.cli.study import meant, study_option
from slant.analysis.questions.games.cells import INDICES, is_played
from slant.analysis.questions.games.comparisons import ATTRIBUTES
from slant.analysis.questions.games.differences import ADJUST, PAPER_INDICES
from slant.analysis.questions.games.indices import SEED
from slant.analysis.rows.doubts import mixtures
from slant.collector.commands.shown import shown_options
from slant.collector.studies.catalogue import Study
from slant.collector.terminal import db_option, format_option, print_rows, say

# What a terminal has room for; CSV and JSON have all columns.
_INTERVALS = (
    "source", "variant", "model", "answer_format", "index", "n_games", "estimate", "conf_low", "conf_high", "boot_low",
    "boot_high", "random_level", "random_low", "random_high",
)  # fmt: skip
_DIFFERENCES = (
    "source", "model", "variant", "answer_format", "condition", "reference", "index", "n_games", "difference",
    "boot_low", "boot_high", "p_value", "n_comparisons", "p_adjusted",
)  # fmt: skip
_SOURCE = click.option(
    "--source", type=click.Choice(["collected", "imported", "simulated"]), help="Only rows of this source."
)
_WORKERS = click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
_REFIT = click.option("--refit", is_flag=True, help="Compute again what is unchanged, too.")


@click.command(
    epilog="\b\nExamples:\n  analyze indices --study hiring\n"
    "  analyze indices --study hiring --variant main --format csv > indices.csv\n"
    "  analyze tables game_index_intervals"
)
@study_option
@click.option("--variant", "variants", multiple=True, help='Only this one; "main" is "main.cot", too. May be repeated.')
@_SOURCE
@click.option("--n-boot", type=click.IntRange(min=1), default=2000, show_default=True, help="Bootstrap draws.")
@click.option("--n-random", type=click.IntRange(min=1), default=200, show_default=True, help="Random cells.")
@click.option("--seed", type=int, default=SEED, show_default=True, help="Of all that is drawn; plain R's is the same.")
@_WORKERS
@_REFIT
@db_option
@format_option
@shown_options
def indices(
    study: str | None, variants: tuple[str, ...], source: str | None, n_boot: int, n_random: int, seed: int,
    workers: int | None, refit: bool, db: Path, output_format: str,
) -> None:  # fmt: skip
    """SI, BGD, GASI and mutual information of each model and variant, with intervals, beside what chance gives.

    Over complete games: the t interval over games (GASI, which is between games, has none) and a bootstrap of whole
    games. Chance alone gives more than 0: its level, from random cells of as many games, rounds, groups and jobs in
    each class, stands beside each index. All is kept in the database: the same command computes only what is new.
    """
    from slant.analysis.questions.games.indices import game_indices

    its = meant(db, study, is_played, "has games")
    with FitProgress("Measuring games in R") as progress:
        found = game_indices(db, its, variants, source, n_boot, n_random, seed, workers, refit, progress)
    print_rows(found.table.select(_INTERVALS) if output_format == "table" else found.table, output_format)
    say(f"{found.n_cells} cells: {found.n_made} computed now, {found.n_cells - found.n_made} kept from before.")
    _say_more(db, its, source, found.not_kept)


@click.command(
    epilog="\b\nExamples:\n  analyze differences --study hiring --reference main --only temperature_1_5\n"
    "  analyze differences --study hiring --between answer_format --reference direct --index si\n"
    "  analyze differences --study hiring --between model --reference random --adjust BH --format csv > models.csv"
)
@study_option
@click.option(
    "--between", type=click.Choice(["variant", "model", "answer_format"]), default="variant", show_default=True,
    help="What the conditions differ in.",
)  # fmt: skip
@click.option("--reference", help="What each other one is compared with. Default, of variants: the study as it stands.")
@click.option("--only", multiple=True, metavar="CONDITION", help="Compare no other than this. May be repeated.")
@click.option(
    "--by", type=click.Choice(ATTRIBUTES), multiple=True,
    help="Compare within each of these, and pool the rest. Default: within all that is not compared.",
)  # fmt: skip
@click.option(
    "--index", "asked", type=click.Choice(INDICES), multiple=True, help=f"Default: {', '.join(PAPER_INDICES)}."
)
@click.option("--adjust", type=click.Choice(ADJUST), default="holm", show_default=True, help="For all that is asked.")
@_SOURCE
@click.option("--n-draws", type=click.IntRange(min=1), default=2000, show_default=True, help="Draws and permutations.")
@click.option("--seed", type=int, default=SEED, show_default=True, help="Of all that is drawn; plain R's is the same.")
@_WORKERS
@_REFIT
@db_option
@format_option
@shown_options
def differences(
    study: str | None, between: str, reference: str | None, only: tuple[str, ...], by: tuple[str, ...],
    asked: tuple[str, ...], adjust: str, source: str | None, n_draws: int, seed: int, workers: int | None,
    refit: bool, db: Path, output_format: str,
) -> None:  # fmt: skip
    """Do two conditions of a game stratify differently? Condition minus reference, with permutation tests.

    The interval is from a bootstrap of whole games, each side on its own; p from dealing games out anew to the two
    sides, corrected for the number of comparisons of an index. It answers whether the two play alike in any respect:
    where one side's games vary much more than the other's, a small p need not mean another mean (see the interval).
    The paper's question about temperature is the first example. All is kept: the same command compares only what is
    new, and corrects for what is asked.
    """
    from slant.analysis.questions.games.differences import game_differences

    its = meant(db, study, is_played, "has games")
    with FitProgress("Measuring games in R") as progress:
        found = game_differences(
            db, its, between, reference, by, only, asked or PAPER_INDICES, adjust, source, n_draws, seed, workers,
            refit, progress,
        )  # fmt: skip
    print_rows(found.table.select(_DIFFERENCES) if output_format == "table" else found.table, output_format)
    for said in (*found.left_out, *found.unlike):
        say(said)
    kept = found.n_comparisons - found.n_made
    say(f"{found.n_comparisons} comparisons: {found.n_made} computed now, {kept} kept from before.")
    say(f"p is corrected ({adjust}) within each index, source and study version.")
    _say_more(db, its, source, found.not_kept)


def _say_more(db: Path, study: Study, source: str | None, not_kept: str | None) -> None:
    for said in mixtures(db, study.name, source):
        say(said)
    if not_kept:
        say(f"The result could not be kept. {not_kept}")
