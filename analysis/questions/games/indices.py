"""`game_indices()`: SI, BGD, GASI and more of each model and variant, with intervals, beside what chance gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.questions.games.cells import Chance, GameCell, game_cells, is_played, made_by
from slant.analysis.questions.games.jobs import Progress, RJob, run_r
from slant.analysis.questions.games.store import GAME_INDICES, Kept, Rows, is_unchanged, keep, kept, key_of, stamp
from slant.analysis.rows.studies import study_in
from slant.collector.errors import UsageError
from slant.collector.studies.catalogue import Study

Run = Callable[[Sequence[RJob]], list[pl.DataFrame]]
SEED = 20260101
_RANDOM = {"random_level": "level", "random_low": "level_low", "random_high": "level_high"}


@dataclass(frozen=True)
class GameIndices:
    """`table`: one row per cell and index, as the view game_index_intervals has them. `n_made` of the `n_cells` were
    computed now, the others kept from before; `not_kept` is why the new ones are not in the database.
    """

    table: pl.DataFrame
    n_cells: int
    n_made: int
    not_kept: str | None


def game_indices(
    db: str | Path,
    study: str | Study | None = None,
    variants: Sequence[str] = (),
    source: str | None = None,
    n_boot: int = 2000,
    n_random: int = 200,
    seed: int = SEED,
    workers: int | None = None,
    refit: bool = False,
    progress: Progress | None = None,
) -> GameIndices:
    """R's game_indices() for each model and variant with complete games, and random_level() for each kind of cell.

    Both are kept, and not computed again for the same games, settings and R code unless `refit`. Cells that are alike
    (rounds, groups, jobs in each class, games) share their level of chance. `n_boot` draws and `n_random` random cells
    start from `seed`, so that plain R gives the same numbers. `progress(done, all)` counts calls of R.

    Raises UsageError for fewer than one draw, DatabaseError where there are no games, UnknownNameError for a variant
    without any, RError where R can't.
    """
    if min(n_boot, n_random) < 1:
        raise UsageError("Can't draw fewer than one bootstrap or random cell.", "For example: --n-boot 2000")
    cells, now = game_cells(db, study_in(db, study, is_played, "has games"), variants, source), made_by()
    before: Mapping[str, Kept] = {name: {} if refit else kept(db, name) for name in ("random_levels", "game_indices")}

    def run(jobs: Sequence[RJob]) -> list[pl.DataFrame]:
        return run_r(jobs, workers, progress)

    drawn = {"n_cells": n_random, "seed": seed}
    levels, new_levels = _levels(cells, before["random_levels"], drawn, now, run)
    asked = {"n_boot": n_boot, "seed": seed}
    rows, new_rows = _indices(cells, before["game_indices"], levels, asked, now, run)
    not_kept = keep(db, {"random_levels": new_levels, "game_indices": new_rows})
    n_made = len({key_of("game_indices", row) for row in new_rows})
    return GameIndices(_table(cells, rows), len(cells), n_made, not_kept)


def _levels(
    cells: Sequence[GameCell], before: Kept, drawn: Mapping[str, int], now: Mapping[str, str], run: Run
) -> tuple[dict[Chance, Rows], Rows]:
    """What chance gives to each kind of cell; and those of the rows that are new."""
    levels = {cell.chance: before.get(key_of("random_levels", asdict(cell.chance)), []) for cell in cells}
    todo = [chance for chance, rows in levels.items() if not is_unchanged(rows, now, **drawn)]
    for chance, frame in zip(todo, run([_chance_job(chance, **drawn) for chance in todo]), strict=True):
        found = frame.select("index", "level", "level_low", "level_high").to_dicts()
        levels[chance] = [{**asdict(chance), **row, **drawn, **stamp(now)} for row in found]
    return levels, [row for chance in todo for row in levels[chance]]


def _indices(
    cells: Sequence[GameCell], before: Kept, levels: Mapping[Chance, Rows], asked: Mapping[str, int],
    now: Mapping[str, str], run: Run,
) -> tuple[list[Rows], Rows]:  # fmt: skip
    """The rows of each cell; and those that are new."""
    rows = [before.get(key_of("game_indices", cell.key), []) for cell in cells]
    wanted = [{"data_hash": cell.data_hash, "n_incomplete": cell.n_incomplete, **asked} for cell in cells]
    todo = [
        place for place, cell in enumerate(cells)
        if not is_unchanged(rows[place], now, **wanted[place]) or not _are_beside(rows[place], levels[cell.chance])
    ]  # fmt: skip
    frames = run([_cell_job(cells[place], **asked) for place in todo])
    for place, frame in zip(todo, frames, strict=True):
        cell = cells[place]
        last = {**wanted[place], **stamp(now), "answer_format": cell.answer_format}
        rows[place] = [{**row, **cell.key, **beside, **last} for row, beside in _beside(frame, levels[cell.chance])]
    return rows, [row for place in todo for row in rows[place]]


def _are_beside(rows: Rows, levels: Rows) -> bool:
    """Whether kept rows stand beside the level of chance that is kept now."""
    level = {row["index"]: row["level"] for row in levels}
    return all(row["random_level"] == level.get(row["index"]) for row in rows)


def _beside(frame: pl.DataFrame, levels: Rows) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    of_index = {row["index"]: row for row in levels}
    for row in frame.to_dicts():
        yield row, {name: of_index[row["index"]][level] for name, level in _RANDOM.items()}


def _chance_job(chance: Chance, n_cells: int, seed: int) -> RJob:
    arguments = (chance.n_rounds, chance.n_groups, chance.sizes, chance.is_balanced, chance.n_games, n_cells, seed)
    return RJob("random_level", arguments, f"{chance.n_games} games of {chance.n_rounds} rounds")


def _cell_job(cell: GameCell, n_boot: int, seed: int) -> RJob:
    return RJob("game_indices", (cell.rounds, None, cell.n_classes, n_boot, 0, seed), dict(cell.key))


def _table(cells: Sequence[GameCell], rows: Sequence[Rows]) -> pl.DataFrame:
    """As the view game_index_intervals has them."""
    labelled = [
        {**row, "game_variant": cell.game_variant, "model_label": cell.label, "model_no": cell.model_no,
         "is_current": True}
        for cell, its in zip(cells, rows, strict=True) for row in its
    ]  # fmt: skip
    more = {"game_variant": pl.String, "model_label": pl.String, "model_no": pl.Int64, "is_current": pl.Boolean}
    return pl.DataFrame(labelled, schema={**GAME_INDICES, **more}).select(*VIEW)


VIEW = (
    "source", "study", "study_version", "variant", "game_variant", "model", "model_label", "model_no", "answer_format",
    "index", "n_games", "n_incomplete", "estimate", "sd", "conf_low", "conf_high", "boot_low", "boot_high",
    "random_level", "random_low", "random_high", "is_current", "n_boot", "seed", "data_hash", "versions", "made_at",
)  # fmt: skip
