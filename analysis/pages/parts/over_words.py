"""Show effects over other words and wordings in a report: sentences, one folded table, and their pooled effect."""

from __future__ import annotations

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData, declared_columns
from slant.analysis.questions.checks import word_findings
from slant.analysis.questions.checks.sentences import Context
from slant.analysis.questions.checks.study_checks import ALPHA, BOUND
from slant.analysis.questions.checks.trials import SIGN_KEPT

CROSSED_ROWS, POOLED_ROWS, SAME_WORDS = "crossed", "meta", "same_words"
"""Name the checks whose rows a report puts among the tables."""


def held(section: SectionData) -> Group | None:
    """Return the group; None if the study has no such effects, or R could not fit them."""
    rows = section.own(CROSSED_ROWS)
    rows = rows.drop_nulls("verdict") if rows.height else rows
    if rows.is_empty():
        return None
    context = _context(section)
    table = CaptionedTable.of("Effects over words and wordings, and smallest detectable effects", _shown(rows, context))
    texts = (word_findings.over_words_verdict(rows), *word_findings.over_words_details(rows, context))
    return Group("over-words", "other words and wordings", texts, (table,))


def pooled(section: SectionData) -> Group | None:
    """Return the pooled effect over tests and models; None if there are too few to pool."""
    rows = section.own(POOLED_ROWS)
    if rows.is_empty():
        return None
    checks = {CROSSED_ROWS: section.own(CROSSED_ROWS), POOLED_ROWS: rows}
    finding = word_findings.pooled_effects(checks, _context(section))
    return Group("pooled", "one number over tests and models", (finding.sentence, *finding.details))


def at_same_words(section: SectionData) -> Group | None:
    """Return whether models share the biased words; None if no two were asked the same test."""
    rows = section.own(SAME_WORDS)
    if rows.is_empty():
        return None
    finding = word_findings.same_words({SAME_WORDS: rows.fill_nan(None)}, _context(section))
    return Group("same-words", "the same words in every model", (finding.sentence, *finding.details))


def _context(section: SectionData) -> Context:
    return Context(section.labels, section.labels, {}, ALPHA, BOUND, False)


def _shown(rows: pl.DataFrame, context: Context) -> pl.DataFrame:
    named = {"model": context.models, "test": context.tests}
    labelled = rows.with_columns(pl.col(name).replace(dict(texts)) for name, texts in named.items())
    kept = pl.col(SIGN_KEPT).replace_strict({True: "yes", False: "no"}, default=None)
    return declared_columns(labelled.with_columns(kept.alias("sign kept by missing answers")), _COLUMNS)


_COLUMNS = """
model | test | own model = reference_estimate:.1 | its SE = reference_std_error:.2 | over words = estimate:.1
SE = std_error:.2 | df:.1 | p = p_value:3s | SE ratio = std_error_ratio:.2 | MDE = mde:.1 | MDE (d) = mde_d:.2
variance of the effect by word = slope_words:.1 | by wording = slope_wordings:.1
words (% of SE²) = share_words:%1 | wordings (% of SE²) = share_wordings:%1 | verdict:words
sign kept by missing answers | variances that are 0 = left_out
"""
