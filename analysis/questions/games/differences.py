"""Compare the stratification of two conditions of a game by bootstrap and permutation over games
(`game_differences()`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from slant.analysis.calls.call import Call
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID
from slant.analysis.calls.results import Progress, Results, results
from slant.analysis.questions.games.cells import INDICES, GameCell, game_cells, has_games
from slant.analysis.questions.games.comparisons import ATTRIBUTES, KIND, Comparison, Question, list_comparisons
from slant.analysis.questions.games.indices import SEED
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import view_columns
from slant.collector.arguments import checked_arguments
from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.keep.database import opens_once
from slant.collector.studies.catalogue import Study

ADJUST = ("holm", "BH", "bonferroni", "none")
PAPER_INDICES = ("si", "bgd", "gasi")


@dataclass(frozen=True)
class GameDifferences:
    """Hold `table`: one row per comparison and index, as the view game_comparisons has them. `n_made` of the
    `n_comparisons` were computed now. `left_out` and `warnings` say in words what could not be compared, and what makes
    a comparison doubtful (chance gives the two sides different levels, permutations are too few); `not_kept` is why the
    new ones are not in the database.
    """

    table: pl.DataFrame
    n_comparisons: int
    n_made: int
    left_out: tuple[str, ...]
    warnings: tuple[str, ...]
    not_kept: str | None


@checked_arguments(n_draws=1, seed=0)
@opens_once
def game_differences(
    db: str | Path,
    study: str | Study | None = None,
    between: str = "variant",
    reference: str | None = None,
    by: Sequence[str] = (),
    conditions: Sequence[str] = (),
    indices: Sequence[str] = PAPER_INDICES,
    adjust: str = "holm",
    source: str | None = None,
    n_draws: int = 2000,
    seed: int = SEED,
    workers: Workers = None,
    refit: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> GameDifferences:
    """Run R's compare_games() of each condition with the reference: values of `between` (variant, model or
    answer_format).

    Without `by`, conditions are compared within the same model, variant and answer format, except for what `between`
    names; with it, only within those, and games of the rest are pooled. `conditions` are those to compare. p is from a
    studentised permutation test (standard errors by the jackknife; `p_unstudentised` is the plain one's), corrected by
    `adjust` for all comparisons of one index that are requested here, within one source and study version. `reference`
    of variants is the study's own name for itself (main) by default. `n_draws` of the bootstrap and of the permutations
    start from `seed` in each comparison, as in plain R. `workers` and `executor` are as for `fit()`.

    Raise UsageError and UnknownNameError for what can't be asked, DatabaseError if there are no games, RError if R
    can't.
    """
    _check(indices, adjust)
    study = study_in(db, study, has_games, "has games")
    cells = game_cells(db, study, (), source)
    question = _question(study, between, reference, by, conditions)
    all_pairs = list_comparisons(cells, question)
    pairs = [pair for pair in all_pairs if pair.problem is None]
    left_out = _left_out_sentences(all_pairs)
    if not pairs:
        raise UsageError("Nothing of this can be compared.", *left_out)
    calls = [_call(pair, n_draws, seed) for pair in pairs]
    differences = results(db, calls, refit=refit, workers=executor or workers, progress=progress)
    differences.check_none_failed()
    rows = differences.frames["game_differences"].filter(pl.col("index").is_in(indices))
    adjusted = results(db, list(_adjusting(rows, question, adjust)), workers=executor or workers)
    adjusted.check_none_failed()
    whole = _table(rows, differences, adjusted.frames["game_adjusted"], cells)
    table = whole.select(view_columns(db, "game_comparisons"))
    draws_warning = too_few_draws(table["n_comparisons"].max(), n_draws, adjust)  # type: ignore[arg-type]
    return GameDifferences(
        table,
        len(pairs),
        len(differences.computed),
        left_out,
        (*_comparison_warnings(pairs), *([draws_warning] if draws_warning else [])),
        differences.not_kept or adjusted.not_kept,
    )


def _question(
    study: Study, between: str, reference: str | None, by: Sequence[str], conditions: Sequence[str]
) -> Question:
    for name in (between, *by):
        if name not in ATTRIBUTES:
            raise UnknownNameError("column to compare games by", name, ATTRIBUTES)
    if between in by:
        raise UsageError(f"Can't compare {between} within each {between}.", "Remove that --by.")
    if reference is None and between == "variant":
        reference = study.variant
    if reference is None:
        raise UsageError(f"Which {between} is the reference?", f"Name it: --reference {between.upper()}")
    rest = tuple(name for name in ATTRIBUTES if name != between)
    return Question(between, reference, tuple(by) or rest, tuple(conditions))


def _check(indices: Sequence[str], adjust: str) -> None:
    for name in indices:
        if name not in INDICES:
            raise UnknownNameError("index", name, INDICES)
    if adjust not in ADJUST:
        raise UnknownNameError("way to adjust p", adjust, ADJUST)


def _left_out_sentences(pairs: Sequence[Comparison]) -> tuple[str, ...]:
    counts = Counter((pair.condition, pair.problem) for pair in pairs if pair.problem)
    return tuple(f"Not compared: {name} ({n} times): {reason}." for (name, reason), n in counts.items())


def _comparison_warnings(pairs: Sequence[Comparison]) -> tuple[str, ...]:
    jobs = dict.fromkeys(f"{pair.condition} and {pair.reference}" for pair in pairs if pair.has_unequal_chance)
    pools = dict.fromkeys(str(pair) for pair in pairs if pair.has_other_shares)
    return (
        *(f"Jobs in each class differ between {name}: their levels of chance differ." for name in jobs),
        *(
            f"What is pooled has other shares in {name}: they differ in that, too; compare within each instead."
            for name in pools
        ),
    )


def too_few_draws(n_comparisons: int, n_draws: int, adjust: str) -> str | None:
    """Say in words if no corrected p could be small, however different the games; else None."""
    n = n_comparisons if adjust in ("holm", "bonferroni") else 1
    if n <= 0.05 * (1 + n_draws):
        return None
    return (
        f"{n_draws} permutations are too few for {n_comparisons} comparisons: no corrected p can be below "
        f"{min(n / (1 + n_draws), 1):.2g}. Type --n-draws {20 * n - 1} or more, or compare fewer (--condition)."
    )


def _call(pair: Comparison, n_draws: int, seed: int) -> Call:
    """Return the call for all indices, which costs no more than one. It is not corrected yet: that depends on the
    others."""
    draws = {"n_draws": n_draws, "seed": seed}
    return Call(
        "compare_games",
        pair.rounds,
        {
            "between": pair.between,
            "reference": pair.reference,
            "indices": list(INDICES),
            "n_classes": pair.n_classes,
            "adjust": "none",
            "strata": KIND,
            **draws,
        },
        about=pair.key,
        tables={"": "game_differences"},
        columns=draws,
    )


def _adjusting(rows: pl.DataFrame, question: Question, adjust: str) -> Iterator[Call]:
    """Let R correct p within each study version."""
    for family in rows.partition_by("source", "study", "study_version", maintain_order=True):
        family_key = {name: family[name][0] for name in ("source", "study", "study_version")}
        question_columns = {
            "between": question.between,
            "reference": question.reference,
            "by": question.by,
            "conditions": question.conditions,
        }
        yield Call(
            "with_adjusted_p",
            family.select(pl.col(ID).alias("difference_id"), "index", "p_value"),
            {"adjust": adjust},
            about={**family_key, **question_columns},
            tables={"": "game_adjusted"},
            columns={"adjust": adjust},
        )


def _table(rows: pl.DataFrame, differences: Results, adjusted: pl.DataFrame, cells: Sequence[GameCell]) -> pl.DataFrame:
    """Return the table, with the columns of the view game_comparisons among others."""
    kinds = {"study_version": pl.String, "model": pl.String, "model_label": pl.String, "model_no": pl.Int64}
    label_rows = [(cell.key["study_version"], cell.key["model"], cell.label, cell.model_no) for cell in cells]
    labels = pl.DataFrame(label_rows, schema=kinds, orient="row").unique(("study_version", "model"), keep="last")
    corrected = adjusted.select(pl.col("difference_id").alias(ID), "index", "n_comparisons", "p_adjusted", "adjust")
    call_rows = differences.calls.select(ID, "data_hash", "versions", made_at="ended_at")
    return (
        rows.join(labels, on=["study_version", "model"], how="left", maintain_order="left")
        .join(corrected, on=[ID, "index"], how="left", maintain_order="left")
        .join(call_rows, on=ID, how="left", maintain_order="left")
        .with_columns(is_current=pl.lit(True))
    )
