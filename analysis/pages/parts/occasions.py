"""Show trials that were asked again in a report: agreement and shift on each later occasion."""

from __future__ import annotations

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, MissingResult, SectionData
from slant.analysis.pages.report_tables import text_table

_EXPLANATION = (
    "The same trials were asked again on another day, as answers of their own: no other table or fit counts them. "
    "Equal is an answer that chose the same, or failed to choose in the same way; kappa takes off what agrees by "
    "chance. The intraclass correlation is the share of the variance of the measure that lies between trials: of all "
    "of them, whose tests and conditions differ, and within cells, of trials of one test and condition. The shift is "
    "the later mean minus the first, with its 95 % interval."
)


def retests(section: SectionData) -> Group | None:
    """Show each later occasion; all tests together first, then each test, folded."""
    occasions = section.captioned("retest_occasions")
    if occasions is None:
        return None
    rows = section.own("retest_reliability")
    if rows.is_empty():
        to_make = MissingResult("Agreement with the first occasion", f"analyze retest --study {section.study.as_typed}")
        return Group("retests", "the same trials on another occasion", (), (occasions,), (to_make,))
    together, by_test = rows.filter(pl.col("test").is_null()), rows.filter(pl.col("test").is_not_null())
    tables = (
        CaptionedTable(
            "Later occasions next to the first, all tests together", text_table(_shown(together)), is_open=True
        ),
        CaptionedTable("The same by test", text_table(_shown(by_test, "test"))),
        occasions,
    )
    return Group("retests", "the same trials on another occasion", (_EXPLANATION,), tables)


def _shown(rows: pl.DataFrame, *more: str) -> pl.DataFrame:
    return rows.select(
        "model",
        "occasion",
        *more,
        "measure",
        pl.col("n_answers").alias("answers"),
        (100 * pl.col("share_equal")).round(1).alias("equal (%)"),
        pl.col("kappa").round(2),
        pl.col("n").alias("with the measure"),
        pl.col("icc").round(2).alias("ICC"),
        _interval("icc_low", "icc_high").alias("ICC, 95 %"),
        pl.col("icc_residual").round(2).alias("ICC within cells"),
        _interval("icc_residual_low", "icc_residual_high").alias("within cells, 95 %"),
        pl.col("shift").round_sig_figs(3),
        _interval("shift_low", "shift_high").alias("shift, 95 %"),
        pl.col("p_value").round_sig_figs(3).alias("p"),
    )


def _interval(low: str, high: str) -> pl.Expr:
    return pl.format("{} to {}", pl.col(low).round_sig_figs(3), pl.col(high).round_sig_figs(3))
