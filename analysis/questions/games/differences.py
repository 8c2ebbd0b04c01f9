"""`game_differences()`: do two conditions of a game stratify differently? Bootstrap and permutation over games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from slant.analysis.questions.games.cells import INDICES, GameCell, game_cells, is_played, made_by
from slant.analysis.questions.games.comparisons import ATTRIBUTES, KIND, Comparison, Question, comparisons
from slant.analysis.questions.games.indices import SEED
from slant.analysis.questions.games.jobs import Progress, RJob, run_r
from slant.analysis.questions.games.store import DIFFERENCES, Kept, Rows, is_unchanged, keep, kept, key_of, stamp
from slant.analysis.rows.studies import study_in
from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.studies.catalogue import Study

ADJUST = ("holm", "BH", "bonferroni", "none")
PAPER_INDICES = ("si", "bgd", "gasi")


@dataclass(frozen=True)
class GameDifferences:
    """`table`: one row per comparison and index, as the view game_comparisons has them. `n_made` of the
    `n_comparisons` were computed now. `left_out` and `unlike` say in words what could not be compared, and what makes
    a comparison doubtful (chance gives the two sides different levels, permutations are too few); `not_kept` is why
    the new ones are not in the database.
    """

    table: pl.DataFrame
    n_comparisons: int
    n_made: int
    left_out: tuple[str, ...]
    unlike: tuple[str, ...]
    not_kept: str | None


def game_differences(
    db: str | Path,
    study: str | Study | None = None,
    between: str = "variant",
    reference: str | None = None,
    by: Sequence[str] = (),
    only: Sequence[str] = (),
    indices: Sequence[str] = PAPER_INDICES,
    adjust: str = "holm",
    source: str | None = None,
    n_draws: int = 2000,
    seed: int = SEED,
    workers: int | None = None,
    refit: bool = False,
    progress: Progress | None = None,
) -> GameDifferences:
    """R's compare_games() of each condition with the reference: values of `between` (variant, model or answer_format).

    Without `by`, conditions are compared within the same model, variant and answer format, but for what `between`
    names; with it, within those only, and games of the rest are pooled. `only` names conditions to compare. p is
    corrected by `adjust` for all comparisons of one index that are asked for here, within one source and study
    version. `reference` of variants is the study's own name for itself (main), if nothing else is said.
    `n_draws` of the bootstrap and of the permutations start from `seed` in each comparison, as in plain R.

    Raises UsageError and UnknownNameError for what can't be asked, DatabaseError where there are no games, RError
    where R can't.
    """
    _check(indices, adjust, n_draws)
    its = study_in(db, study, is_played, "has games")
    cells, now = game_cells(db, its, (), source), made_by()
    question = _question(its, between, reference, by, only)
    all_pairs = comparisons(cells, question)
    pairs = [one for one in all_pairs if one.why_not is None]
    left_out = _in_words(all_pairs)
    if not pairs:
        raise UsageError("Nothing of this can be compared.", *left_out)
    before: Kept = {} if refit else kept(db, "game_differences")
    settings = {"n_draws": n_draws, "seed": seed}
    rows, made = _compared(pairs, indices, before, settings, now, workers, progress)
    rows = _adjusted(rows, adjust, workers)
    few = too_few_draws(max(row["n_comparisons"] for row in rows), n_draws, adjust)
    not_kept = keep(db, {"game_differences": rows})
    return GameDifferences(
        _table(rows, cells), len(pairs), made, left_out, (*_unlike(pairs), *([few] if few else [])), not_kept
    )


def _question(study: Study, between: str, reference: str | None, by: Sequence[str], only: Sequence[str]) -> Question:
    for name in (between, *by):
        if name not in ATTRIBUTES:
            raise UnknownNameError("column to compare games by", name, ATTRIBUTES)
    if between in by:
        raise UsageError(f"Can't compare within each {between} what differs in {between}.", "Leave out that --by.")
    if reference is None and between == "variant":
        reference = study.variant
    if reference is None:
        raise UsageError(f"Which {between} are the others compared with?", f"Name it: --reference {between.upper()}")
    rest = tuple(name for name in ATTRIBUTES if name != between)
    return Question(between, reference, tuple(by) or rest, tuple(only))


def _check(indices: Sequence[str], adjust: str, n_draws: int) -> None:
    for name in indices:
        if name not in INDICES:
            raise UnknownNameError("index", name, INDICES)
    if adjust not in ADJUST:
        raise UnknownNameError("way to adjust p", adjust, ADJUST)
    if n_draws < 1:
        raise UsageError("Can't draw fewer than one permutation.", "For example: --n-draws 2000")


def _in_words(pairs: Sequence[Comparison]) -> tuple[str, ...]:
    counts = Counter((one.condition, one.why_not) for one in pairs if one.why_not)
    return tuple(f"Not compared: {name} ({n} times): {why}." for (name, why), n in counts.items())


def _unlike(pairs: Sequence[Comparison]) -> tuple[str, ...]:
    jobs = dict.fromkeys(f"{one.condition} and {one.reference}" for one in pairs if one.is_unlike_by_chance)
    pools = dict.fromkeys(str(one) for one in pairs if one.has_other_shares)
    return (
        *(f"Jobs in each class differ between {name}: chance gives them different levels." for name in jobs),
        *(
            f"What is pooled has other shares in {name}: they differ in that, too; better within each."
            for name in pools
        ),
    )


def too_few_draws(n_comparisons: int, n_draws: int, adjust: str) -> str | None:
    """In words, where no corrected p could be small, however different the games; None elsewhere."""
    n = n_comparisons if adjust in ("holm", "bonferroni") else 1
    if n <= 0.05 * (1 + n_draws):
        return None
    return (
        f"{n_draws} permutations are too few for {n_comparisons} comparisons: no corrected p can be below "
        f"{min(n / (1 + n_draws), 1):.2g}. Type --n-draws {20 * n - 1} or more, or ask for fewer (--condition)."
    )


def _compared(
    pairs: Sequence[Comparison], indices: Sequence[str], before: Kept, settings: Mapping[str, int],
    now: Mapping[str, str], workers: int | None, progress: Progress | None,
) -> tuple[Rows, int]:  # fmt: skip
    """One row per pair and index, kept or new, without the correction; and how many pairs were new."""
    kept_rows = [
        [row for index in indices for row in before.get(key_of("game_differences", {**one.key, "index": index}), [])]
        for one in pairs
    ]
    wanted = [{"data_hash": one.data_hash, **settings} for one in pairs]
    todo = [
        place for place, rows in enumerate(kept_rows)
        if len(rows) < len(indices) or not is_unchanged(rows, now, **wanted[place])
    ]  # fmt: skip
    jobs = [_job(pairs[place], indices, **settings) for place in todo]
    for place, frame in zip(todo, run_r(jobs, workers, progress), strict=True):
        last = {**wanted[place], **stamp(now)}
        kept_rows[place] = [{**row, **pairs[place].key, **last} for row in frame.to_dicts()]
    return [row for rows in kept_rows for row in rows], len(todo)


def _job(one: Comparison, indices: Sequence[str], n_draws: int, seed: int) -> RJob:
    asked = (one.between, one.reference, None, list(indices), one.n_classes, n_draws, "none", seed, KIND)
    return RJob("compare_games", (one.rounds, *asked), str(one))


def _adjusted(rows: Rows, adjust: str, workers: int | None) -> Rows:
    """Corrected by R within each source and study version."""
    frame = pl.DataFrame([{**row, "adjust": adjust} for row in rows], schema={"n_comparisons": pl.Int64, **DIFFERENCES})
    families = frame.partition_by("source", "study_version", maintain_order=True)
    jobs = [RJob("with_adjusted_p", (one.select("index", "p_value"), adjust), "p values") for one in families]
    found = run_r(jobs, workers)
    corrected = [
        family.with_columns(its["n_comparisons"].cast(pl.Int64), its["p_adjusted"].cast(pl.Float64))
        for family, its in zip(families, found, strict=True)
    ]
    return pl.concat(corrected).select(*DIFFERENCES).to_dicts()


def _table(rows: Rows, cells: Sequence[GameCell]) -> pl.DataFrame:
    """As the view game_comparisons has them."""
    labels = {(cell.key["study_version"], cell.key["model"]): cell for cell in cells}
    labelled = []
    for row in rows:
        cell = labels.get((row["study_version"], row["model"]))
        label, number = (cell.label, cell.model_no) if cell else (None, None)
        labelled.append({**row, "model_label": label, "model_no": number, "is_current": True})
    more = {"model_label": pl.String, "model_no": pl.Int64, "is_current": pl.Boolean}
    return pl.DataFrame(labelled, schema={**DIFFERENCES, **more}).select(*VIEW)


VIEW = (
    "source", "study", "study_version", "between", "model", "model_label", "model_no", "variant", "answer_format",
    "condition", "reference", "index", "n_games", "n_games_reference", "difference", "boot_low", "boot_high", "p_value",
    "n_comparisons", "p_adjusted", "adjust", "is_current", "n_draws", "seed", "data_hash", "versions", "made_at",
)  # fmt: skip
