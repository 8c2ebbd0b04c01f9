"""Compute SI, BGD, GASI and more of each model and variant, with intervals, next to chance (`game_indices()`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID
from slant.analysis.calls.results import Progress, results
from slant.analysis.rows.study_choice import Look, new_looks, study_in
from slant.analysis.rows.views import read_view, view_columns, view_rows
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, UsageError, as_typed, check_known
from slant.collector.keep.database import opens_once, reading
from slant.collector.keep.frames import frame_of
from slant.collector.studies.catalogue import Study, list_studies, load_study

CELL = ["source", "study_version", "variant", "model"]
KEY = ("source", "study", "study_version", "variant", "model")
INDICES = ("si", "bgd", "gasi", "mutual_information_bits", "bgd_divergence_bits", "gasi_divergence_bits")
"""List them as R's game_indices() names and orders them."""
_ROUNDS = "SELECT source, study, study_version, variant, model, game, class, choice FROM allocation_round_rows"
_ROUND_COLUMNS = ("game", "class", "choice")
_CHOSEN = f"{_ROUNDS} WHERE study = ? AND choice IS NOT NULL"


def with_game_variant(rows: pl.DataFrame, variants: tuple[str, ...]) -> pl.DataFrame:
    """Add `game_variant`: the variant without the format of answers that `--answer` appended (main.cot: main)."""
    if "game_variant" in rows.columns:
        return rows
    variant = pl.col("variant")
    stripped = variant.str.replace(r"\.[^.]*$", "")
    return rows.with_columns(game_variant=pl.when(variant.is_in(variants)).then(variant).otherwise(stripped))


@dataclass(frozen=True)
class Chance:
    """Hold what the level of chance depends on: cells that agree in this share it. `class_sizes` is JSON, `n_rounds`
    those in which a group was chosen: pooled rounds may include refused ones.
    """

    n_rounds: int
    n_groups: int
    class_sizes: str
    is_balanced: bool
    n_games: int

    @property
    def sizes(self) -> list[int]:
        return sorted(json.loads(self.class_sizes))


@dataclass(frozen=True)
class GameCell:
    """Hold the complete games of one model and variant: `rounds` has a row per round (game, class, choice), in fixed
    order.

    `game_variant` is the variant without its answer format.
    """

    key: Mapping[str, str]
    answer_format: str
    n_incomplete: int
    n_classes: int
    chance: Chance
    rounds: pl.DataFrame
    label: str
    model_no: int | None

    @property
    def game_variant(self) -> str:
        return f"{self.key['variant']}.".replace(f".{self.answer_format}.", ".").rstrip(".")

    @property
    def attributes(self) -> dict[str, str]:
        """Return the attributes that distinguish it from the other cells of its study, by the names that `--between`
        and `--by` take."""
        return {"model": self.key["model"], "variant": self.game_variant, "answer_format": self.answer_format}


def game_cells(db: str | Path, study: Study, variants: Sequence[str] = (), source: str | None = None) -> list[GameCell]:
    """Return the cells with complete games, in the order of the view allocation_indices.

    `variants` are names with or without an answer format: "main" is "main.cot", too. Raise DatabaseError if there are
    no games (of this source), UsageError for a study that has none, UnknownNameError for a variant without any.
    """
    name = study.name
    with reading(db) as connection:
        games = read_view(connection, "allocation_games", study=name, source=source)
        models = read_view(connection, "models", study=name)
        rounds = frame_of(connection.sql(_CHOSEN, params=[name]))
    if games.is_empty():
        if not has_games(study):
            playable = [name for name in list_studies() if has_games(load_study(name))]
            raise UsageError(f'The study "{study.name}" has no games.', f"Studies that have: {', '.join(playable)}.")
        raise DatabaseError(
            f'The database "{db}" holds no {source + " " if source else ""}games of the study "{name}".',
            "To play some without a key: "
            f"collect --study {study.as_typed} --model simulated/greedy --db {as_typed(db)}",
        )
    labels = {(row["study_version"], row["model"]): row for row in models.to_dicts()}
    rounds = rounds.join(games.filter("is_complete").select(*KEY, "game"), on=[*KEY, "game"], how="semi")
    rounds_by_cell = rounds.partition_by(
        KEY, as_dict=True
    )  # a pooled game is complete once all was asked: it may have no choice
    if not rounds_by_cell:
        raise DatabaseError(
            f'The database "{db}" holds {games.height} games of the study "{name}", and none is complete.',
            f"How they ended: analyze tables allocation_game_ends --db {as_typed(db)}",
        )
    cells = [
        _cell(dict(zip(KEY, key, strict=True)), cell_games, rounds_by_cell[key], labels)
        for key, cell_games in games.group_by(KEY)
        if key in rounds_by_cell
    ]
    known_names = sorted({known for cell in cells for known in (cell.key["variant"], cell.game_variant)})
    for variant in variants:
        check_known(f'variant with complete games of "{name}"', variant, known_names)
    wanted = [cell for cell in cells if not variants or {cell.key["variant"], cell.game_variant} & set(variants)]
    return sorted(wanted, key=_place)


def _cell(key: dict[str, Any], games: pl.DataFrame, rounds: pl.DataFrame, labels: Mapping[Any, Any]) -> GameCell:
    complete = games.filter("is_complete")
    first = complete.sort("game").row(0, named=True)
    n_rounds, n_groups = (int(complete[name].min()) for name in ("n_answered", "n_groups"))  # type: ignore[arg-type]
    chance = Chance(n_rounds, n_groups, first["class_sizes"], all(complete["is_balanced"]), complete.height)
    label = labels.get((key["study_version"], key["model"]), {})
    shown_as, model_no = label.get("label") or key["model"], label.get("model_no")
    n_incomplete, n_classes = games.height - complete.height, int(first["n_classes"])
    own = rounds.select(_ROUND_COLUMNS).sort(_ROUND_COLUMNS)
    return GameCell(key, str(first["answer_format"]), n_incomplete, n_classes, chance, own, shown_as, model_no)


def _place(cell: GameCell) -> tuple[Any, ...]:
    key = cell.key
    no = (cell.model_no is None, cell.model_no or 0)
    return (key["source"], key["study"], key["study_version"], key["variant"], *no, key["model"])


def has_games(study: Study) -> bool:
    """Return whether groups are chosen for jobs in games of this study."""
    return study.design.analyses.compares_variants


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


def index_of_models(
    db: str | Path,
    study: Study,
    index: str,
    variant: str | None,
    source: str | None,
    workers: Workers = None,
    refit: bool = False,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Return an index of each model in one variant (the first): source, model, test, term, estimate, std_error.

    The error is that of the mean over games; GASI, which is none, has its bootstrap's interval (conf_low, conf_high).
    """
    variants = [variant or study.variants[0]]
    cells = pl.DataFrame([cell.key for cell in game_cells(db, study, variants, source)])
    games = view_rows(db, study.design.analyses.game_index[0], study=study.name, source=source)
    if index in games.columns:
        games = games.filter("is_complete").join(cells, on=KEY, how="semi", maintain_order="left")
        of_games = pl.col(index).drop_nulls()
        error = of_games.std() / of_games.len().sqrt()
        found = games.group_by(KEY, maintain_order=True).agg(estimate=of_games.mean(), std_error=error)
        found = found.with_columns(pl.lit(None, pl.Float64).alias(end) for end in ("conf_low", "conf_high"))
    else:
        found = game_indices(db, study, variants, source, workers=workers, refit=refit, progress=progress).table
        found = found.filter(index=index).with_columns(
            conf_low="boot_low", conf_high="boot_high", std_error=pl.lit(None, pl.Float64)
        )
    return found.with_columns(test=pl.lit("games"), term=pl.lit(index))


def _look(cell: GameCell) -> Look:
    key = cell.key
    return Look(key["study"], key["source"], key["variant"], "game_indices", key["model"], None, cell.rounds.height)


def _level_call(chance: Chance, n_cells: int, seed: int) -> Call:
    draws = {"n_cells": n_cells, "seed": seed}
    numbers = {name: getattr(chance, name) for name in ("n_rounds", "n_groups", "n_games")}
    return Call(
        "random_level",
        arguments={**numbers, "class_sizes": chance.sizes, "balanced": chance.is_balanced, **draws},
        about=asdict(chance),
        tables={"": "random_levels"},
        columns=draws,
    )


def _index_call(cell: GameCell, level: Call, n_boot: int, seed: int) -> Call:
    draws = {"n_boot": n_boot, "seed": seed}
    own = {"answer_format": cell.answer_format, "n_incomplete": cell.n_incomplete}
    return Call(
        "game_indices",
        cell.rounds,
        {"n_classes": cell.n_classes, "n_random": 0, "n_draws": n_boot, "seed": seed},
        about=cell.key,
        tables={"": "game_indices"},
        columns={**own, "level_call_id": level.id, **draws},
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
