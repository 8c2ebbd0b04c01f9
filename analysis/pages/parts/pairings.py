"""Pairing studies in a report: D by test, and by wording and the group that was named first."""

from __future__ import annotations

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData
from slant.analysis.pages.report_tables import text_table

_EXPLANATION = (
    "D of an answer is 1 where all words go to the group of the usual association, 0 where they are shared out evenly, "
    "-1 where all are crossed. It is not defined where one group gets no word, or where there is no answer: such "
    "answers are counted here, and are no zeros. t takes answers as independent; those to the same pair of names are "
    "not."
)
_COUNTED = ("n_one_sided", "n_partial", "n_refused", "n_truncated", "n_filtered", "n_malformed")


def bias(section: SectionData) -> Group | None:
    rows = section.own("pairing_bias")
    if rows.is_empty():
        return None
    shown = [name for name in _COUNTED if rows[name].sum()]
    table = rows.select(
        "model",
        "test",
        pl.col("n_trials").alias("answers"),
        pl.col("n_d").alias("with D"),
        pl.col("mean_d").round(3).alias("mean D"),
        pl.col("sd_d").round(3).alias("SD"),
        pl.col("t").round(2),
        *(pl.col(name).alias(name.removeprefix("n_").replace("_", " ")) for name in shown),
    )
    tables = [CaptionedTable("D by model and test", text_table(table), is_open=True)]
    by_wording = section.captioned("pairing_bias_by_condition")
    return Group("bias", "to which groups words go", (_EXPLANATION,), (*tables, *([by_wording] if by_wording else [])))
