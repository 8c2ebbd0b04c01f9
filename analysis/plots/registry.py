"""Which figures there are, and the rows that each is drawn from: for every source, version, variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.fits import Progress
from slant.analysis.fitting.kept_choices import newest_fits
from slant.analysis.plots import choices, game_rows, games, profiles, specification_curve, trials
from slant.analysis.plots.figure_data import LABELS, FigureData, FigureKind
from slant.analysis.questions.games.cells import CELL
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import read_view
from slant.collector.errors import UnknownNameError
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import Study

_PEOPLE = "human"


def _of_variants(data: FigureData, view: str) -> pl.DataFrame | None:
    """Return the rows of the newest fits, of the variants that are drawn."""
    rows = data.games(view)
    if rows is None:
        return None
    shown = newest_fits(rows).filter(pl.col("game_variant").is_in(game_rows.variants_to_draw(data)))
    return None if shown.is_empty() else shown


def _parameters(data: FigureData) -> pl.DataFrame | None:
    """Return a part for each variant."""
    rows = _of_variants(data, "learner_parameters")
    if rows is None:
        return None
    return game_rows.labelled(with_people(rows), data).with_columns(part=pl.col("variant"))


def with_people(rows: pl.DataFrame) -> pl.DataFrame:
    """Add people's rows to those of each source of models that has their variant, where they are `is_people`."""
    people = rows.filter(source=_PEOPLE).drop("source", "study_version")
    grains = rows.filter(pl.col("source") != _PEOPLE).select("source", "study_version", "game_variant").unique()
    people_rows = grains.sort(grains.columns).join(people, on="game_variant").with_columns(is_people=True)
    return pl.concat([rows, people_rows], how="diagonal").with_columns(pl.col("is_people").fill_null(False))


def _replays(data: FigureData) -> pl.DataFrame | None:
    """Return a part for each variant and model."""
    rows, games = _of_variants(data, "replayed_curves"), data.games("allocation_games")
    if rows is None or games is None:
        return None
    sizes = games.unique(CELL).select(*CELL, "n_groups")
    named = game_rows.labelled(rows.join(sizes, on=CELL, how="left", maintain_order="left"), data)
    return named.with_columns(part=pl.concat_str("variant", "model", separator=" "))


CHOICE_MODELS = {
    "learned_parameters": FigureKind(
        "What choices in games follow, in models and people: parameters of learners (after analyze --fit learning).",
        _parameters, "analyze --fit learning --study {study}",
    ),
    "replayed_curves": FigureKind(
        "How choices settle by round, next to replays of each policy (after analyze --fit policies, learning).",
        _replays, "analyze --fit policies --study {study}",
    ),
}  # fmt: skip


_N = ("n_conversations", "n_trials")


def _pairing_rows(data: FigureData, figure: str) -> pl.DataFrame | None:
    """Return the rows of the view that the design names for this figure, but those of no conversation or trial."""
    labels = data.trials.select(*GRAIN, *LABELS).unique([*GRAIN, "model", "test"], maintain_order=True)
    with reading(data.db) as connection:
        rows = read_view(connection, data.study.design.figures[figure], study=data.study.name)
    rows = rows.filter(pl.col(next(name for name in _N if name in rows.columns)) > 0)
    rows = rows.join(labels, on=[*GRAIN, "model", "test"], how="inner", maintain_order="left")
    return None if rows.is_empty() else rows


_DESCRIPTIONS = {
    "bias": "D of lists of words with its interval, by model and test.",
    "bias_heatmap": "The same (of a study of decisions: shares) as a heat map of models and tests.",
    "decisions": "Share of decisions that go with the usual association, with its interval, by model and test.",
}
PAIRINGS = {
    name: FigureKind(description, partial(_pairing_rows, figure=name), is_declared=True)
    for name, description in _DESCRIPTIONS.items()
}


# By the name that people type, in the order of a report.
FIGURES: dict[str, FigureKind] = {
    **trials.KINDS, **choices.KINDS, **PAIRINGS, **profiles.KINDS,
    **specification_curve.KINDS, **games.KINDS, **CHOICE_MODELS,
}  # fmt: skip


def figure_kinds(study: Study) -> dict[str, FigureKind]:
    """Return FIGURES with those that the study itself names in [figures]."""
    return {**FIGURES, **games.study_figure_kinds(study)}


@dataclass(frozen=True)
class FigureRows:
    """Hold what one figure is drawn from: the rows of one source, study version and variant (of all variants, where
    `grain` has none), and the R `function` that draws it. `note`: what to say with it.

    `part`: which one it is, where a kind has several (a fit, say).
    """

    grain: dict[str, str]
    figure: str
    rows: pl.DataFrame
    note: str | None = None
    part: str | None = None
    function: str = ""


def figure_rows(
    db: str | Path,
    study: Study,
    names: Sequence[str] = (),
    source: str | None = None,
    workers: Workers = None,
    progress: Progress | None = None,
    variants: Sequence[str] = (),
) -> Iterator[FigureRows]:
    """Yield the rows of the named figures (default: of all) that the data of `study` have something for. `variants`:
    those that figures of one variant are drawn for (default: all; if variants are compared, the unchanged study).

    Raises UnknownNameError for an unknown figure or variant, RError if effect sizes must be computed without R.
    """
    kinds = figure_kinds(study)
    for name in names:
        if name not in kinds:
            raise UnknownNameError("figure", name, kinds)
    data = FigureData(Path(db), study, source, workers, progress, tuple(variants))
    grains = data.grains
    if shown := {grain["variant"] for grain in grains if "variant" in grain}:
        for variant in variants:
            if variant not in shown:
                raise UnknownNameError("variant in this database", variant, shown)
        grains = [grain for grain in grains if not variants or grain["variant"] in variants]
    own = [name for name in names or kinds if not kinds[name].is_declared or name in study.design.figures]
    rows_by_name = {name: rows for name in own if (rows := kinds[name].rows(data)) is not None}
    data_rows = {name: rows for name, rows in rows_by_name.items() if kinds[name].is_of_data}
    for grain in grains:
        for name, rows in data_rows.items():
            yield from _figures(name, kinds[name], rows.filter(**grain), grain)
    for name in rows_by_name.keys() - data_rows.keys():
        yield from _figures(name, kinds[name], rows_by_name[name], {"source": rows_by_name[name]["source"][0]})


def _figures(name: str, kind: FigureKind, rows: pl.DataFrame, grain: dict[str, str]) -> Iterator[FigureRows]:
    parts = rows["part"].unique(maintain_order=True).to_list() if "part" in rows.columns else [None]
    function = kind.function or f"plot_{name}"
    for part in parts:
        part_rows = rows if part is None else rows.filter(pl.col("part") == part)
        if part_rows.height:
            note = part_rows["note"][0] if "note" in part_rows.columns else None
            yield FigureRows(grain, name, part_rows.drop("note", "part", strict=False), note, part, function)
