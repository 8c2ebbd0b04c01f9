"""Figures of pairings and decisions: how far words go to the groups of the usual association, and decisions with it."""

from __future__ import annotations

from functools import partial

import polars as pl

from slant.analysis.plots.figure_data import LABELS, FigureData, FigureKind
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import read_view
from slant.collector.keep.database import reading

_N = ("n_conversations", "n_trials")


def _rows(data: FigureData, figure: str) -> pl.DataFrame | None:
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
KINDS = {
    name: FigureKind(description, partial(_rows, figure=name), is_declared=True)
    for name, description in _DESCRIPTIONS.items()
}
