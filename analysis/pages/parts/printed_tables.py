"""What a paper prints beside what is here, for a study whose variants are compared: how many numbers stand how, those
that something stands beside, and the slips.
"""

from __future__ import annotations

import polars as pl

from slant.analysis.pages.parts.records import Group, Material, Shown
from slant.analysis.pages.report_tables import plain
from slant.analysis.paper.numbers import PRINT
from slant.collector.designs import design_named

COMPARED = "compared"
"""The name under which a material holds the rows of `analyze compare`."""
_OF_PRINT = (
    "No answers are needed for these: numbers of the paper are held against its other numbers, and the design that it "
    "states against the study as it is played here."
)
_OF_ANSWERS = (
    "Every printed number is listed by: analyze compare --study {study}. A number without answers of its model has "
    "nothing to stand beside: no raw data, not comparable."
)


def printed_tables(material: Material) -> Group | None:
    rows = material.own(COMPARED)
    if rows.is_empty() or not design_named(material.study.design).compares_variants:
        return None
    known = rows.filter(pl.col("recomputed").is_not_null())
    tables = [Shown("How many printed numbers stand how", plain(_counted(rows)), is_open=True)]
    if known.height:
        tables.append(Shown("Printed numbers that something stands beside", plain(_beside(material, known))))
    slips = rows.filter(pl.col("status") == "slip")
    if slips.height:
        tables.append(Shown(f"Known slips of print ({slips.height})", plain(_slips(material, slips)), is_open=True))
    text = _OF_PRINT if material.grain["source"] == PRINT else _OF_ANSWERS.format(study=material.study.name)
    return Group("print", "beside the print", (text,), tuple(tables))


def _counted(rows: pl.DataFrame) -> pl.DataFrame:
    counts = rows.with_columns(n=pl.lit(1)).pivot(
        "status", index="table", values="n", aggregate_function="sum", maintain_order=True
    )
    return counts.fill_null(0)


def _beside(material: Material, rows: pl.DataFrame) -> pl.DataFrame:
    note = pl.col("note").fill_null("")
    return rows.select(*_key(material), "printed", pl.col("recomputed").alias("here"), "status", note)


def _slips(material: Material, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(*_key(material), "printed", pl.col("recomputed").alias("here"), pl.col("slip").alias("why"))


def _key(material: Material) -> list[pl.Expr]:
    """Of games, `test` is the variant and `condition` the format of answers. Most models of a paper were not asked."""
    labels = {**{model.model: model.label for model in material.study.models}, **material.labels}
    return [
        pl.col("table"),
        pl.col("model").replace(labels).fill_null(""),
        pl.col("test").alias("variant").fill_null(""),
        pl.col("condition").alias("format").fill_null(""),
        pl.col("quantity").str.replace_all("_", " "),
    ]
