"""Show simulation-based calibration in a report, if `analyze calibrate` has kept it: for any study with Bayesian
fits."""

from __future__ import annotations

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData
from slant.analysis.pages.report_tables import text_table
from slant.analysis.questions.calibration import calibration_sentences, last_calibrations

_EXPLAINED = (
    "The fit was made again to outcomes drawn from its own priors. Where model, priors, coding and sampler are as they "
    "should be, ranks of truths among posterior draws are uniform, and of the 95 % intervals 95 in 100 hold the truth."
)


def calibration(section: SectionData) -> Group | None:
    rows = section.own("calibration_summary")
    if rows.is_empty():
        return None
    last = last_calibrations(rows)
    caption = "Ranks, intervals, z-scores and shrinkage of each quantity"
    table = CaptionedTable(caption, text_table(_shown(last)))
    texts = (_EXPLAINED, *calibration_sentences(last))
    return Group("calibration", "is the sampler right?", texts, (table,))


def _shown(rows: pl.DataFrame) -> pl.DataFrame:
    cell = [name for name in ("model", "test") if rows[name].null_count() < rows.height]
    return rows.select(
        "fit",
        *cell,
        "quantity",
        pl.col("n").alias("data sets"),
        pl.col("n_doubtful").alias("doubtful"),
        pl.col("n_failed").alias("failed"),
        pl.col("p_value").round(3).alias("p of the ranks"),
        pl.col("p_adjusted").round(3).alias("p (Holm)"),
        (100 * pl.col("coverage")).round(1).alias("truth in its 95 % interval (%)"),
        pl.col("mean_z").round(2).alias("mean z"),
        pl.col("sd_z").round(2).alias("sd of z"),
        pl.col("shrinkage").round(2),
    )
