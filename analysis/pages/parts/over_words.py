"""Show effects over other words and wordings in a report: sentences, one folded table, and their pooled effect."""

from __future__ import annotations

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData
from slant.analysis.pages.report_tables import text_table
from slant.analysis.questions.checks.sentences import Context
from slant.analysis.questions.checks.study_checks import ALPHA, BOUND
from slant.analysis.questions.checks.trials import SIGN_KEPT
from slant.analysis.questions.checks.word_findings import (
    over_words_details,
    over_words_verdict,
    pooled_effects,
    same_words,
)

CROSSED_ROWS, POOLED_ROWS, SAME_WORDS = "crossed", "meta", "same_words"
"""Name the checks whose rows a report puts among the tables."""


def held(section: SectionData) -> Group | None:
    """Return the group; None if the study has no such effects, or R could not fit them."""
    rows = section.own(CROSSED_ROWS)
    rows = rows.drop_nulls("verdict") if rows.height else rows
    if rows.is_empty():
        return None
    context = _context(section)
    table = CaptionedTable(
        "Effects over words and wordings, and smallest detectable effects", text_table(_shown(rows, context))
    )
    texts = (over_words_verdict(rows), *over_words_details(rows, context))
    return Group("over-words", "other words and wordings", texts, (table,))


def pooled(section: SectionData) -> Group | None:
    """Return the pooled effect over tests and models; None if there are too few to pool."""
    rows = section.own(POOLED_ROWS)
    if rows.is_empty():
        return None
    checks = {CROSSED_ROWS: section.own(CROSSED_ROWS), POOLED_ROWS: rows}
    finding = pooled_effects(checks, _context(section))
    return Group("pooled", "one number over tests and models", (finding.sentence, *finding.details))


def at_same_words(section: SectionData) -> Group | None:
    """Return whether models share the biased words; None if no two were asked the same test."""
    rows = section.own(SAME_WORDS)
    if rows.is_empty():
        return None
    finding = same_words({SAME_WORDS: rows.fill_nan(None)}, _context(section))
    return Group("same-words", "the same words in every model", (finding.sentence, *finding.details))


def _context(section: SectionData) -> Context:
    return Context(section.labels, section.labels, {}, ALPHA, BOUND, False)


def _shown(rows: pl.DataFrame, context: Context) -> pl.DataFrame:
    named = {"model": context.models, "test": context.tests}
    labels = [pl.col(name).replace(dict(texts)).alias(name) for name, texts in named.items()]
    return rows.select(
        *labels,
        pl.col("reference_estimate").round(1).alias("own model"),
        pl.col("reference_std_error").round(2).alias("its SE"),
        pl.col("estimate").round(1).alias("over words"),
        pl.col("std_error").round(2).alias("SE"),
        pl.col("df").round(1),
        pl.col("p_value").round_sig_figs(3).alias("p"),
        pl.col("std_error_ratio").round(2).alias("SE ratio"),
        pl.col("mde").round(1).alias("MDE"),
        pl.col("mde_d").round(2).alias("MDE (d)"),
        pl.col("slope_words").round(1).alias("variance of the effect by word"),
        pl.col("slope_wordings").round(1).alias("by wording"),
        *((100 * pl.col(f"share_{name}")).round(1).alias(f"{name} (% of SE²)") for name in ("words", "wordings")),
        pl.col("verdict").str.replace_all("_", " "),
        pl.col(SIGN_KEPT)
        .replace_strict({True: "yes", False: "no"}, default=None)
        .alias("sign kept by missing answers"),
        pl.col("left_out").alias("variances that are 0"),
    )
