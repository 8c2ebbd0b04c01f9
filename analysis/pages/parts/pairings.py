"""Show pairings and decisions in a report: by test, and by wording and first-named group."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData

_EXPLANATION = (
    "D of an answer is 1 if all words go to the group of the usual association, 0 if they are divided "
    "evenly, -1 if all are crossed. It is missing, not zero, if one group gets no word or there is no answer; "
    "such answers are counted here. t treats answers as independent; those to the same pair of names are not."
)
_COUNTED = ("n_one_sided", "n_partial", "n_refused", "n_truncated", "n_filtered", "n_malformed", "n_rejected")


def bias(section: SectionData) -> Group | None:
    rows = section.own("pairing_bias")
    if rows.is_empty():
        return None
    columns = "model | test | answers = n_trials | with D = n_d | mean D = mean_d:.3 | SD = sd_d:.3 | t:.2"
    by_test = CaptionedTable.of("D by model and test", rows, columns + _counts(rows, _COUNTED), is_open=True)
    tables = (by_test, *section.captioned_tables("pairing_bias_by_condition"))
    return Group("bias", "which group gets which words", (_EXPLANATION,), tables)


def _counts(rows: pl.DataFrame, names: Sequence[str]) -> str:
    """Declare the columns of these that count anything, under their names in words."""
    return "".join(f" | {name[2:].replace('_', ' ')} = {name}" for name in names if rows[name].sum())


_ON_DECISIONS = (
    "A decision follows the usual association if group b gets attribute b, or group a attribute a; a "
    "proportion of .5 is no bias. Decisions that are undecided, refused, cut off or never reached are counted "
    "here, and no proportion includes them. t compares the proportion with .5, and treats conversations as "
    "independent; those about the same people are not."
)
_UNDECIDED = ("n_undecided", *_COUNTED[2:], "n_ended_early", "n_open")


_DECISIONS = (
    "model | test | conversations = n_conversations | decided = n_decided"
    "| proportion with the association = share_expected:.3 | SE = se:.3 | t:.2"
)
_OVER_CLUSTERS = """
model = model_label | fit | term | log odds = estimate:.3 | SE = std_error:.3 | from = conf_low:.3 | to = conf_high:.3
p = p_value:3s | SE over clusters = std_error_clustered:.3 | from over clusters = conf_low_clustered:.3
to over clusters = conf_high_clustered:.3 | p over clusters = p_value_clustered:3s | df = df_clustered:.1
clusters | number of them = n_clusters | decisions = n
"""
_ON_CHAINED = (
    "Do associations predict decisions? Log odds of a decision that follows the association, for D higher by 1. "
    "The standard error and p of the logistic regression treat conversations as independent, as papers "
    "print them; those over clusters generalise beyond the"
    " {clusters} of this study (sandwich estimators, t with as many degrees of freedom as clusters, minus 1)."
)


def decisions(section: SectionData) -> Group | None:
    rows = section.own("decision_bias")
    asked = section.captioned_tables("decision_questions")
    if rows.is_empty() and not asked:
        return None
    chained = section.own("estimates_over_clusters").filter(pl.col("engine") == "logistic")
    of_chained = () if chained.is_empty() else (_ON_CHAINED.format(clusters=_clusters(chained)), *_claims(chained))
    tables = []
    if rows.height:
        caption = "Decisions with the usual association, by model and test"
        tables.append(CaptionedTable.of(caption, rows, _DECISIONS + _counts(rows, _UNDECIDED), is_open=True))
    if chained.height:
        caption = "D and the decision after it, over other clusters"
        tables.append(CaptionedTable.of(caption, chained, _OVER_CLUSTERS, is_open=True))
    tables += section.captioned_tables("decision_bias_by_condition")
    return Group("decisions", "who gets what", (_ON_DECISIONS, *of_chained), (*tables, *asked))


def _clusters(chained: pl.DataFrame) -> str:
    """Return the number of clusters and their column: "21 clusters (test)"."""
    counts = sorted({int(n) for n in chained["n_clusters"].drop_nulls()})
    numbers = " to ".join(map(str, counts[:1] + counts[1:][-1:]))
    return f"{numbers} clusters ({', '.join(chained['clusters'].unique(maintain_order=True))})"


def _claims(chained: pl.DataFrame) -> list[str]:
    """Yield a sentence for each slope: the odds ratio, its interval clustered and that of independent conversations."""
    slopes = chained.filter(pl.col("term") != "intercept")
    return [
        f"{row['model_label'] or 'All models'}, {row['formula']}: odds ratio {math.exp(row['estimate']):.2f} for "
        f"{row['term']}, b = {row['estimate']:z.3f}; over other clusters SE {row['std_error_clustered']:.3f}, "
        f"95 % [{row['conf_low_clustered']:z.3f}, {row['conf_high_clustered']:z.3f}]; of independent conversations SE "
        f"{row['std_error']:.3f}, [{row['conf_low']:z.3f}, {row['conf_high']:z.3f}]."
        for row in slopes.drop_nulls(("std_error_clustered", "std_error")).to_dicts()
    ]
