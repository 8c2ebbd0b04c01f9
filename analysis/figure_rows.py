"""Which figures there are, and the rows that each is drawn from: for every source, version, variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from analysis.figure_kinds import of_blocks, of_permutations, of_specifications, of_trials
from analysis.figure_kinds.records import FigureData, FigureKind
from analysis.fits import Progress
from collector.errors import UnknownNameError
from collector.study import Study

# By the name that people type, in the order of a report.
FIGURES: dict[str, FigureKind] = {
    **of_trials.KINDS, **of_blocks.KINDS, **of_specifications.KINDS, **of_permutations.KINDS
}  # fmt: skip


@dataclass(frozen=True)
class FigureRows:
    """What one figure is drawn from: the rows of one source, study version and variant; `note`: what to say with it.

    `part`: which one it is, where a kind has several (a fit, say).
    """

    grain: dict[str, str]
    figure: str
    rows: pl.DataFrame
    note: str | None = None
    part: str | None = None


def figure_rows(
    db: str | Path,
    study: Study,
    names: Sequence[str] = (),
    source: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Iterator[FigureRows]:
    """The rows of the named figures (default: of all) that the data of `study` have something for.

    Raises UnknownNameError for an unknown figure, RError where effect sizes must be computed and R is missing.
    """
    for name in names:
        if name not in FIGURES:
            raise UnknownNameError("figure", name, FIGURES)
    data = FigureData(Path(db), study, source, workers, progress)
    found = {name: FIGURES[name].rows(data) for name in names or FIGURES}
    for grain in data.grains:
        for name, rows in found.items():
            if rows is not None:
                yield from _figures(name, rows.filter(is_of(grain)), grain)


def _figures(name: str, rows: pl.DataFrame, grain: dict[str, str]) -> Iterator[FigureRows]:
    parts = rows["part"].unique(maintain_order=True).to_list() if "part" in rows.columns else [None]
    for part in parts:
        own = rows if part is None else rows.filter(pl.col("part") == part)
        if own.height:
            note = own["note"][0] if "note" in own.columns else None
            yield FigureRows(grain, name, own.drop("note", "part", strict=False), note, part)


def is_of(grain: dict[str, str]) -> pl.Expr:
    """The rows of this source, study version and variant."""
    return pl.all_horizontal(pl.col(name) == value for name, value in grain.items())
