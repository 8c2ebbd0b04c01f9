"""Measure how stratified games became, and whether conditions differ in it (`analyze indices`, `analyze
differences`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from slant.analysis.cli.options import option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.analysis.questions.games.differences import ADJUST, ATTRIBUTES, PAPER_INDICES
from slant.analysis.questions.games.indices import INDICES, SEED, has_games
from slant.analysis.rows.result_warnings import mixture_warnings
from slant.collector.commands.options import AT_LEAST_1, seed_option
from slant.collector.terminal import count_text

if TYPE_CHECKING:
    import polars as pl

# A terminal has room for these; CSV and JSON have all columns.
_INTERVALS = (
    "source", "variant", "model", "answer_format", "index", "n_games", "estimate", "random_level", "conf_low",
    "conf_high", "boot_low", "boot_high", "mde", "random_low", "random_high",
)  # fmt: skip
_DIFFERENCES = (
    "source", "model", "variant", "answer_format", "condition", "reference", "index", "n_games", "difference",
    "std_error", "mde", "boot_low", "boot_high", "p_value", "n_comparisons", "p_adjusted",
)  # fmt: skip
_OF_INDICES = (
    click.option(
        "--variant", "variants", multiple=True, help='Only this variant; "main" is "main.cot", too. Repeatable.'
    ),
    option("--n-boot", of=AT_LEAST_1, default=2000, help="Number of bootstrap draws."),
    option("--n-random", of=AT_LEAST_1, default=200, help="Random cells that estimate the level of chance."),
    seed_option(default=SEED),
)
_OF_DIFFERENCES = (
    option(
        "--between",
        of=("variant", "model", "answer_format"),
        default="variant",
        help="The column that distinguishes the conditions.",
    ),
    click.option("--reference", help="The reference condition. Default, for variants: the study's base."),
    click.option(
        "--condition", "conditions", multiple=True, metavar="NAME", help="Compare only this condition. Repeatable."
    ),
    option(
        "--by",
        of=ATTRIBUTES,
        multiple=True,
        help="Compare within each of these, and pool the others. Default: within each that is not compared.",
    ),
    option(
        "--index",
        "indices",
        of=INDICES,
        multiple=True,
        help=f"The index to compare. Repeatable. Default: {', '.join(PAPER_INDICES)}.",
    ),
    option("--adjust", of=ADJUST, default="holm", help="Correction of p for multiple comparisons."),
    option("--n-draws", of=AT_LEAST_1, default=2000, help="Number of bootstrap draws and permutations."),
    seed_option(default=SEED),
)


def _mixtures(asked: Asked) -> Iterator[str]:
    assert asked.chosen is not None
    yield from mixture_warnings(asked.db, asked.chosen.name, asked.source)


@result_command(
    "indices",
    epilog="\b\nExamples:\n  analyze indices --study hiring\n"
    "  analyze indices --study hiring --variant main --format csv > indices.csv\n"
    "  analyze tables game_index_intervals",
    options=_OF_INDICES,
    refit=True,
)
def indices_command(asked: Asked, **settings: Any) -> Answer:
    """Measure SI, BGD, GASI and mutual information of each model and variant, with intervals and the level of chance.

    These are over complete games: the t interval over games (GASI, which is between games, has none) and a bootstrap of
    whole games. Chance alone gives more than 0: its level, from random cells of as many games, rounds, groups and jobs
    in each class, is next to each index. Results are kept in the database: the same command computes only what is new.
    """
    from slant.analysis.questions.games.indices import game_indices

    asked.choose(has_games, "has games")
    result = asked.compute(game_indices, work="Measuring games in R", **settings)
    cells, n_kept = count_text(result.n_cells, "cell"), result.n_cells - result.n_made
    counted = f"{cells}: {result.n_made} computed now, {n_kept} stored earlier."
    return Answer(result.table, _INTERVALS, [counted, *_without_classes(result.table), *_mixtures(asked)])


def _without_classes(table: pl.DataFrame) -> list[str]:
    """Return a sentence if a cell has no SI though it has games: all its jobs are of one class."""
    n = table.filter(index="si")["estimate"].null_count()
    if n == 0:
        return []
    return [
        f"{count_text(n, 'cell')} with one class of jobs: nothing can be stratified, so they have no index. How "
        "unevenly groups are chosen: one_minus_herfindahl of game_replays, after analyze --fit policies."
    ]


@result_command(
    "differences",
    epilog="\b\nExamples:\n  analyze differences --study hiring --reference main --condition temperature_1_5\n"
    "  analyze differences --study hiring --between answer_format --reference direct --index si\n"
    "  analyze differences --study hiring --between model --reference random --adjust BH --format csv > models.csv",
    options=_OF_DIFFERENCES,
    refit=True,
)
def differences_command(asked: Asked, indices: tuple[str, ...], **settings: Any) -> Answer:
    """Compare the stratification of two conditions of a game: condition minus reference, with permutation tests.

    The interval is from a bootstrap of whole games, each side separately; p is from permuting games between the two
    sides, corrected for the number of comparisons of an index. The permuted statistic is the difference in standard
    errors (of the jackknife), so that p also holds if one side's games vary more than the other's; p_unstudentised
    (CSV, JSON), of the difference itself, does not. Each comparison is kept as it ends: Ctrl-C loses no more than the
    last. The paper's question about temperature is the first example. Results are kept: the same command computes only
    what is new, and corrects for the comparisons that it prints.
    """
    from slant.analysis.questions.games.differences import game_differences

    asked.choose(has_games, "has games")
    asked_for = {"indices": indices or PAPER_INDICES, **settings}
    result = asked.compute(game_differences, work="Measuring games in R", **asked_for)
    n_kept = result.n_comparisons - result.n_made
    says = [
        *result.left_out,
        f"{result.n_comparisons} comparisons: {result.n_made} computed now, {n_kept} stored earlier.",
        f"p is corrected ({settings['adjust']}) within each index, source and study version.",
        *_mixtures(asked),
    ]
    return Answer(result.table, _DIFFERENCES, says)
