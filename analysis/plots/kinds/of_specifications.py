"""The specification curve, drawn from what `analyze sensitivity` kept, never from new fits."""

from __future__ import annotations

import polars as pl

from slant.analysis.plots.kinds.records import FigureData, FigureKind
from slant.analysis.questions.sensitivity.curve_rows import rows_to_draw
from slant.analysis.questions.sensitivity.specifications import kept_specifications


def _specifications(data: FigureData) -> pl.DataFrame | None:
    """Rows of a specification that the study no longer has are no part of its curve."""
    kept = (
        kept_specifications(data.db)
        .filter(pl.col("study") == data.study.name)
        .sort("row_no", "spec_no", maintain_order=True)
    )
    has_it = pl.col("spec").str.split(":").list.first().is_in(list(data.study.sensitivity))
    rows = kept.filter(has_it).sort("row_no", "spec_no", maintain_order=True)
    return None if rows.is_empty() else rows_to_draw(rows, data.labels)


KINDS = {
    "specifications": FigureKind(
        "The specification curve: each way to analyse, with its estimates (after analyze sensitivity).",
        _specifications, "analyze sensitivity --study {study}",
    ),
}  # fmt: skip
