"""Show a paper's print next to recomputed numbers, for a study whose variants are compared: counts by status, the
numbers with a counterpart, and the slips.
"""

from __future__ import annotations

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData
from slant.analysis.pages.report_tables import text_table
from slant.analysis.paper.numbers import PRINT

COMPARED = "compared"
"""Name the rows of `analyze compare` in a material."""
_OF_PRINT = (
    "These need no answers: numbers of the paper are compared with its other numbers, and the design "
    "that it states with the study as it runs here."
)
_OF_ANSWERS = (
    "Every printed number is listed by: analyze compare --study {study}. A number without answers of "
    "its model can't be compared: no raw data, not comparable."
)


def print_comparison(section: SectionData) -> Group | None:
    rows = section.own(COMPARED)
    if rows.is_empty() or not section.study.design.analyses.compares_variants:
        return None
    recomputed = rows.filter(pl.col("recomputed").is_not_null())
    tables = [CaptionedTable("Printed numbers by status", text_table(_status_counts(rows)), is_open=True)]
    if recomputed.height:
        tables.append(
            CaptionedTable("Printed numbers that have a counterpart", text_table(_comparison_rows(section, recomputed)))
        )
    slips = rows.filter(pl.col("status") == "slip")
    if slips.height:
        tables.append(
            CaptionedTable(f"Known slips of print ({slips.height})", text_table(_slips(section, slips)), is_open=True)
        )
    text = _OF_PRINT if section.grain["source"] == PRINT else _OF_ANSWERS.format(study=section.study.name)
    return Group("print", "next to the print", (text,), tuple(tables))


def _status_counts(rows: pl.DataFrame) -> pl.DataFrame:
    counts = rows.with_columns(n=pl.lit(1)).pivot(
        "status", index="table", values="n", aggregate_function="sum", maintain_order=True
    )
    return counts.fill_null(0)


def _comparison_rows(section: SectionData, rows: pl.DataFrame) -> pl.DataFrame:
    note = pl.col("note").fill_null("")
    return rows.select(*_key(section), "printed", pl.col("recomputed").alias("here"), "status", note)


def _slips(section: SectionData, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(*_key(section), "printed", pl.col("recomputed").alias("here"), pl.col("slip").alias("why"))


def _key(section: SectionData) -> list[pl.Expr]:
    """Show `variant` and `format of answers` for `test` and `condition` of games. Most models of a paper were not
    asked."""
    labels = {**{model.model: model.label for model in section.study.models}, **section.labels}
    return [
        pl.col("table"),
        pl.col("model").replace(labels).fill_null(""),
        pl.col("test").alias("variant").fill_null(""),
        pl.col("condition").alias("format").fill_null(""),
        pl.col("quantity").str.replace_all("_", " "),
    ]
