"""Figures of pairings and decisions: how far words go to the groups of the usual association, and decisions with it."""

from __future__ import annotations

import polars as pl

from slant.analysis.plots.figure_data import LABELS, FigureData, FigureKind
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import read_view
from slant.collector.keep.database import reading

_BIAS, _DECISIONS = "pairing_bias", "decision_bias"
_VIEWS = {"pairing": (_BIAS,), "decision": (_BIAS, _DECISIONS)}
"""Of which designs they are drawn."""


def _rows(data: FigureData, view: str, n: str) -> pl.DataFrame | None:
    """Return the rows of a view, of a study of its design, in which `n` is not 0."""
    if view not in _VIEWS.get(data.study.design.name, ()):
        return None
    labels = data.trials.select(*GRAIN, *LABELS).unique([*GRAIN, "model", "test"], maintain_order=True)
    with reading(data.db) as connection:
        rows = read_view(connection, view, study=data.study.name).filter(pl.col(n) > 0)
    rows = rows.join(labels, on=[*GRAIN, "model", "test"], how="inner", maintain_order="left")
    return None if rows.is_empty() and view == _BIAS and len(_VIEWS[data.study.design.name]) > 1 else rows


def _tiles(data: FigureData) -> pl.DataFrame | None:
    """Of decisions where the study has them, else of D."""
    if _DECISIONS in _VIEWS.get(data.study.design.name, ()):
        return _rows(data, _DECISIONS, "n_conversations")
    return _rows(data, _BIAS, "n_trials")


KINDS = {
    "bias": FigureKind(
        "D of lists of words with its interval, by model and test.", lambda data: _rows(data, _BIAS, "n_trials")
    ),
    "bias_heatmap": FigureKind("The same (of a study of decisions: shares) as a heat map of models and tests.", _tiles),
    "decisions": FigureKind(
        "Share of decisions that go with the usual association, with its interval, by model and test.",
        lambda data: _rows(data, _DECISIONS, "n_conversations"),
    ),
}
