"""The rows that a specification curve is drawn from."""

from __future__ import annotations

import json

import polars as pl

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
    """The columns that the figure is drawn from; each dimension of the choices is a column `choice_…`.

    `labels` are those of models and tests, by study version.
    """
    chosen = [json.loads(text or "{}") for text in table["choices"]]
    dimensions = dict.fromkeys(dimension for choices in chosen for dimension in choices)
    columns = [
        pl.Series(f"choice_{dimension}", [choices.get(dimension) for choices in chosen], pl.String)
        for dimension in dimensions
    ]
    rows = table.select(_COLUMNS).with_columns(columns)
    return rows.join(labels, on=["study_version", "model", "test"], how="left", maintain_order="left")
