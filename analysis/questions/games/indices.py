"""Compute SI, BGD, GASI and more of each model and variant, with intervals, next to chance (`game_indices()`)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID
from slant.analysis.calls.results import Progress, results
from slant.analysis.questions.games.cells import Chance, GameCell, game_cells, has_games
from slant.analysis.rows.study_choice import Look, new_looks, study_in
from slant.analysis.rows.views import view_columns
from slant.collector.arguments import checked_arguments
from slant.collector.errors import UsageError
from slant.collector.keep.database import opens_once
from slant.collector.studies.catalogue import Study

SEED = 20260101
_LEVEL = {"level": "random_level", "level_low": "random_low", "level_high": "random_high"}


@dataclass(frozen=True)
class GameIndices:
    """Hold `table`: one row per cell and index, as the view game_index_intervals has them. `n_made` of the `n_cells`
    were computed now, the others kept from before; `not_kept` is why the new ones are not in the database.
    """

    table: pl.DataFrame
    n_cells: int
    n_made: int
    not_kept: str | None


@checked_arguments(n_boot=1, n_random=1, seed=0)
@opens_once
def game_indices(
    db: str | Path,
    study: str | Study | None = None,
    variants: Sequence[str] = (),
    source: str | None = None,
    n_boot: int = 2000,
    n_random: int = 200,
    seed: int = SEED,
    workers: Workers = None,
    refit: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> GameIndices:
    """Run R's game_indices() for each model and variant with complete games, and random_level() for each kind of cell.

    Both are kept, and not computed again for the same games, settings and R code unless `refit`. Cells that agree
    (rounds, groups, jobs in each class, games) share their level of chance. `n_boot` draws and `n_random` random cells
    start from `seed`, so that plain R gives the same numbers. `progress(done, all)` counts calls of R. `workers` and
    `executor` are as for `fit()`.

    Raise UsageError for fewer than one draw, DatabaseError if there are no games, UnknownNameError for a variant
    without any, RError if R can't.
    """
    if min(n_boot, n_random) < 1:
        raise UsageError("The bootstrap and random cells need at least one draw.", "For example: --n-boot 2000")
    cells = game_cells(db, study_in(db, study, has_games, "has games"), variants, source)
    levels = {cell.chance: _level_call(cell.chance, n_random, seed) for cell in cells}
    calls = [_index_call(cell, levels[cell.chance], n_boot, seed) for cell in cells]
    every, beside = [*levels.values(), *calls], new_looks(db, map(_look, cells))
    computed = results(db, every, refit=refit, workers=executor or workers, progress=progress, beside=beside)
    computed.check_none_failed()
    n_made = sum(call.id in computed.computed for call in calls)
    whole = _table(cells, calls, computed.frames["game_indices"], computed.frames["random_levels"], computed.calls)
    table = whole.select(view_columns(db, "game_index_intervals"))
    return GameIndices(table, len(cells), n_made, computed.not_kept)


def _look(cell: GameCell) -> Look:
    key = cell.key
    return Look(key["study"], key["source"], key["variant"], "game_indices", key["model"], None, cell.rounds.height)


def _level_call(chance: Chance, n_cells: int, seed: int) -> Call:
    draws = {"n_cells": n_cells, "seed": seed}
    return Call(
        "random_level",
        arguments={
            "n_rounds": chance.n_rounds,
            "n_groups": chance.n_groups,
            "class_sizes": chance.sizes,
            "balanced": chance.is_balanced,
            "n_games": chance.n_games,
            **draws,
        },
        about=asdict(chance),
        tables={"": "random_levels"},
        columns=draws,
    )


def _index_call(cell: GameCell, level: Call, n_boot: int, seed: int) -> Call:
    draws = {"n_boot": n_boot, "seed": seed}
    return Call(
        "game_indices",
        cell.rounds,
        {"n_classes": cell.n_classes, "n_random": 0, "n_draws": n_boot, "seed": seed},
        about=cell.key,
        tables={"": "game_indices"},
        columns={
            "answer_format": cell.answer_format,
            "n_incomplete": cell.n_incomplete,
            "level_call_id": level.id,
            **draws,
        },
    )


def _table(
    cells: Sequence[GameCell],
    calls: Sequence[Call],
    indices: pl.DataFrame,
    levels: pl.DataFrame,
    call_rows: pl.DataFrame,
) -> pl.DataFrame:
    """Return the table, with the columns of the view game_index_intervals among others."""
    labels = pl.DataFrame(
        [
            {ID: call.id, "game_variant": cell.game_variant, "model_label": cell.label, "model_no": cell.model_no}
            for cell, call in zip(cells, calls, strict=True)
        ],
        schema={ID: pl.String, "game_variant": pl.String, "model_label": pl.String, "model_no": pl.Int64},
    )
    chance = levels.select(pl.col(ID).alias("level_call_id"), "index", *_LEVEL).rename(_LEVEL)
    return (
        indices.join(labels, on=ID, how="left", maintain_order="left")
        .join(chance, on=["level_call_id", "index"], how="left", maintain_order="left")
        .join(
            call_rows.select(ID, "data_hash", "versions", made_at="ended_at"), on=ID, how="left", maintain_order="left"
        )
        .with_columns(is_current=pl.lit(True))
    )


def controlled_rows(workers: Workers = None) -> pl.DataFrame:
    """Return the rows of R's controlled_indices(); it takes some seconds. RError if R is missing."""
    rows: pl.DataFrame = answered(Call("controlled_indices"), workers)
    return rows
