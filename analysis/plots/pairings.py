"""Figures of pairings: how far words go to the groups of the usual association."""

from __future__ import annotations

import polars as pl

from slant.analysis.plots.figure_data import LABELS, FigureData, FigureKind
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import read_view
from slant.collector.keep.database import reading

_DESIGNS_OF_BIAS = ("pairing",)


def _bias(data: FigureData) -> pl.DataFrame | None:
    if data.study.design not in _DESIGNS_OF_BIAS:
        return None
    labels = data.trials.select(*GRAIN, *LABELS).unique([*GRAIN, "model", "test"], maintain_order=True)
    with reading(data.db) as connection:
        rows = read_view(connection, "pairing_bias").filter(pl.col("study") == data.study.name)
    return rows.join(labels, on=[*GRAIN, "model", "test"], how="inner", maintain_order="left")


KINDS = {"bias": FigureKind("D of lists of words with its interval, by model and test.", _bias)}
