"""Compare the stratification of two conditions of a game by bootstrap and permutation over games
(`game_differences()`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID
from slant.analysis.calls.results import Progress, Results, results
from slant.analysis.questions.games.indices import INDICES, SEED, GameCell, game_cells, has_games
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import view_columns
from slant.collector.arguments import checked_arguments
from slant.collector.errors import UnknownNameError, UsageError, check_known
from slant.collector.keep.database import opens_once
from slant.collector.studies.catalogue import Study

ATTRIBUTES = ("model", "variant", "answer_format")
"""List what conditions may differ in; `variant` is without its answer format."""
KIND = "kind"
"""Name the column of pooled models, variants and answer formats: R deals games out only among those of one kind."""


@dataclass(frozen=True)
class Question:
    """Define what is compared: values of `between`, each but `reference` with it, within each value of the columns
    `by`.

    `conditions`: those to compare; all if none is named.
    """

    between: str
    reference: str
    by: tuple[str, ...]
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Hold two sides of one comparison: the cells of the condition, and those of the reference."""

    between: str
    within: Mapping[str, str | None]
    condition: str
    reference: str
    cells: tuple[GameCell, ...]
    reference_cells: tuple[GameCell, ...]

    @property
    def key(self) -> dict[str, Any]:
        """Return the columns that name it; those of ATTRIBUTES are None if they are compared or pooled."""
        first = {name: self.cells[0].key[name] for name in ("source", "study", "study_version")}
        sides = {"condition": self.condition, "reference": self.reference}
        return {**first, "between": self.between, **self.within, **sides}

    @property
    def rounds(self) -> pl.DataFrame:
        sides = ((self.condition, self.cells), (self.reference, self.reference_cells))
        return pl.concat(
            cell.rounds.with_columns(pl.lit(name).alias(self.between), pl.lit(self._kind(cell)).alias(KIND))
            for name, cells in sides
            for cell in cells
        )

    @property
    def n_classes(self) -> int:
        return self.cells[0].n_classes

    @property
    def problem(self) -> str | None:
        """Return the reason why these can't be compared; None if they can."""
        shapes = [{(c.chance.n_rounds, c.chance.n_groups, c.n_classes) for c in side} for side in self._sides]
        if shapes[0] != shapes[1] or len(shapes[0]) > 1:
            return "rounds, groups or classes of the games differ, and with them the level of chance"
        if alone := sorted(set.symmetric_difference(*(set(kinds) for kinds in self._kinds))):
            return f"in one of the two alone there is {', '.join(alone)}, and they would differ in that, too"
        if min(sum(cell.chance.n_games for cell in side) for side in self._sides) < 2:
            return "one game on a side can't be resampled"
        return None

    @property
    def has_unequal_chance(self) -> bool:
        """Return whether jobs in a class differ: chance alone then gives the two sides somewhat different levels."""
        return len({(tuple(c.chance.sizes), c.chance.is_balanced) for side in self._sides for c in side}) > 1

    @property
    def has_other_shares(self) -> bool:
        """Return whether what is pooled has other shares of the games on either side, so that the sides differ in that,
        too."""
        kinds, reference_kinds = self._kinds
        n, n_reference = sum(kinds.values()), sum(reference_kinds.values())
        return any(kinds[kind] * n_reference != reference_kinds[kind] * n for kind in kinds)

    @property
    def _kinds(self) -> tuple[Counter[str], Counter[str]]:
        """Return the kinds of games that are pooled on either side, and how many of each."""
        counts = [Counter[str](), Counter[str]()]
        for side, count in zip(self._sides, counts, strict=True):
            for cell in side:
                count[self._kind(cell)] += cell.chance.n_games
        return counts[0], counts[1]

    def _kind(self, cell: GameCell) -> str:
        pooled = (name for name in ATTRIBUTES if name != self.between and self.within.get(name) is None)
        return " ".join(cell.attributes[name] for name in pooled)

    @property
    def _sides(self) -> tuple[tuple[GameCell, ...], tuple[GameCell, ...]]:
        return self.cells, self.reference_cells

    def __str__(self) -> str:
        shared = ", ".join(str(value) for value in self.within.values() if value is not None)
        return f"{self.condition} and {self.reference}" + (f" ({shared})" if shared else "")


def list_comparisons(cells: Sequence[GameCell], question: Question) -> list[Comparison]:
    """Return the comparisons that the question asks for, in the order of the cells; no source or version is mixed.

    Raise UnknownNameError for a reference or condition that no cell has, UsageError if none meets the reference.
    """
    values = list(dict.fromkeys(cell.attributes[question.between] for cell in cells))
    for name in (question.reference, *question.conditions):
        if name not in values:
            raise UnknownNameError(f"{question.between} with complete games", name, sorted(values))
    groups: dict[tuple[str | None, ...], list[GameCell]] = {}
    for cell in cells:
        attributes = [cell.attributes[name] if name in question.by else None for name in ATTRIBUTES]
        groups.setdefault((cell.key["source"], cell.key["study_version"], *attributes), []).append(cell)
    pairs = [
        pair
        for group_key, group in groups.items()
        for pair in _within(group, dict(zip(ATTRIBUTES, group_key[2:], strict=True)), question)
    ]
    if not pairs:
        raise UsageError(
            f'Nothing can be compared with the {question.between} "{question.reference}".',
            f"Complete games exist of: {', '.join(sorted(values))}.",
            f"They must share {', '.join(('source', 'study version', *question.by))} with it.",
            *["Adding a variant makes another version of its study."]
            * (len({(cell.key["source"], cell.key["study_version"]) for cell in cells}) > 1),
        )
    return pairs


def _within(group: Sequence[GameCell], within: Mapping[str, str | None], question: Question) -> Iterator[Comparison]:
    sides: dict[str, list[GameCell]] = {}
    for cell in group:
        sides.setdefault(cell.attributes[question.between], []).append(cell)
    reference = tuple(sides.pop(question.reference, ()))
    for condition, cells in sides.items():
        if reference and (not question.conditions or condition in question.conditions):
            yield Comparison(question.between, within, condition, question.reference, tuple(cells), reference)


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
    for name in indices:
        check_known("index", name, INDICES)
    check_known("way to adjust p", adjust, ADJUST)
    study = study_in(db, study, has_games, "has games")
    cells = game_cells(db, study, (), source)
    question = _question(study, between, reference, by, conditions)
    all_pairs = list_comparisons(cells, question)
    pairs = [pair for pair in all_pairs if pair.problem is None]
    counts = Counter((pair.condition, pair.problem) for pair in all_pairs if pair.problem)
    left_out = tuple(f"Not compared: {name} ({n} times): {reason}." for (name, reason), n in counts.items())
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
    warnings = (*_comparison_warnings(pairs), *([draws_warning] if draws_warning else []))
    not_kept = differences.not_kept or adjusted.not_kept
    return GameDifferences(table, len(pairs), len(differences.computed), left_out, warnings, not_kept)


def _question(
    study: Study, between: str, reference: str | None, by: Sequence[str], conditions: Sequence[str]
) -> Question:
    for name in (between, *by):
        check_known("column to compare games by", name, ATTRIBUTES)
    if between in by:
        raise UsageError(f"Can't compare {between} within each {between}.", "Remove that --by.")
    if reference is None and between == "variant":
        reference = study.variant
    if reference is None:
        raise UsageError(f"Which {between} is the reference?", f"Name it: --reference {between.upper()}")
    rest = tuple(name for name in ATTRIBUTES if name != between)
    return Question(between, reference, tuple(by) or rest, tuple(conditions))


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
    of_pair = {"between": pair.between, "reference": pair.reference, "n_classes": pair.n_classes}
    return Call(
        "compare_games",
        pair.rounds,
        {**of_pair, "indices": list(INDICES), "adjust": "none", "strata": KIND, **draws},
        about=pair.key,
        tables={"": "game_differences"},
        columns=draws,
    )


def _adjusting(rows: pl.DataFrame, question: Question, adjust: str) -> Iterator[Call]:
    """Let R correct p within each study version."""
    for family in rows.partition_by("source", "study", "study_version", maintain_order=True):
        family_key = {name: family[name][0] for name in ("source", "study", "study_version")}
        question_columns = {name: getattr(question, name) for name in ("between", "reference", "by", "conditions")}
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
