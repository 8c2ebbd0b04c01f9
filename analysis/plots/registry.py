"""Which figures there are, and the rows that each is drawn from: for every source, version, variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.fits import Progress
from slant.analysis.plots import choice_models, choices, games, pairings, profiles, specification_curve, trials
from slant.analysis.plots.figure_data import FigureData, FigureKind
from slant.collector.errors import UnknownNameError
from slant.collector.studies.catalogue import Study

# By the name that people type, in the order of a report.
FIGURES: dict[str, FigureKind] = {
    **trials.KINDS, **choices.KINDS, **pairings.KINDS, **profiles.KINDS,
    **specification_curve.KINDS, **games.KINDS, **choice_models.KINDS,
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
