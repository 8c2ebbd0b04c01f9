"""The specification curve, drawn from what `analyze sensitivity` kept, never from new fits."""

from __future__ import annotations

import json

import polars as pl

from slant.analysis.plots.figure_data import FigureData, FigureKind
from slant.analysis.questions.sensitivity import kept_specifications
from slant.analysis.rows.cells import GRAIN

_COLUMNS = (
    *GRAIN,
    "model",
    "test",
    "spec",
    "spec_no",
    "label",
    "unit",
    "estimate",
    "conf_low",
    "conf_high",
    "d",
    "d_low",
    "d_high",
    "status",
)


def rows_to_draw(table: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that the figure is drawn from; each dimension of the choices is a column `choice_…`.

    `labels` are those of models and tests, by study version.
    """
    row_choices = [json.loads(text or "{}") for text in table["choices"]]
    dimensions = dict.fromkeys(dimension for choices in row_choices for dimension in choices)
    columns = [
        pl.Series(f"choice_{dimension}", [choices.get(dimension) for choices in row_choices], pl.String)
        for dimension in dimensions
    ]
    rows = table.select(_COLUMNS).with_columns(columns)
    return rows.join(labels, on=["study_version", "model", "test"], how="left", maintain_order="left")


def _specifications(data: FigureData) -> pl.DataFrame | None:
    """Return the kept rows; those of a specification that the study no longer has are no part of its curve."""
    has_it = pl.col("spec").str.split(":").list.first().is_in(list(data.study.sensitivity))
    kept = kept_specifications(data.db).filter(has_it, study=data.study.name)
    rows = kept.sort("row_no", "spec_no", maintain_order=True)
    return None if rows.is_empty() else rows_to_draw(rows, data.labels)


KINDS = {
    "specifications": FigureKind(
        "The specification curve: estimates of each way to analyse (after analyze sensitivity).",
        _specifications, "analyze sensitivity --study {study}",
    ),
}  # fmt: skip
