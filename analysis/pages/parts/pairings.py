"""Show pairings and decisions in a report: by test, and by wording and first-named group."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData
from slant.analysis.pages.report_tables import text_table

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
    table = rows.select(
        "model",
        "test",
        pl.col("n_trials").alias("answers"),
        pl.col("n_d").alias("with D"),
        pl.col("mean_d").round(3).alias("mean D"),
        pl.col("sd_d").round(3).alias("SD"),
        pl.col("t").round(2),
        *_counts(rows, _COUNTED),
    )
    by_test = CaptionedTable("D by model and test", text_table(table), is_open=True)
    tables = (by_test, *section.captioned_tables("pairing_bias_by_condition"))
    return Group("bias", "which group gets which words", (_EXPLANATION,), tables)


def _counts(rows: pl.DataFrame, names: Sequence[str]) -> list[pl.Expr]:
    """Return the columns of these that count anything, under their names in words."""
    return [pl.col(name).alias(name.removeprefix("n_").replace("_", " ")) for name in names if rows[name].sum()]


_ON_DECISIONS = (
    "A decision follows the usual association if group b gets attribute b, or group a attribute a; a "
    "proportion of .5 is no bias. Decisions that are undecided, refused, cut off or never reached are counted "
    "here, and no proportion includes them. t compares the proportion with .5, and treats conversations as "
    "independent; those about the same people are not."
)
_UNDECIDED = (
    "n_undecided",
    "n_refused",
    "n_truncated",
    "n_filtered",
    "n_malformed",
    "n_rejected",
    "n_ended_early",
    "n_open",
)


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
    table = rows.select(
        "model",
        "test",
        pl.col("n_conversations").alias("conversations"),
        pl.col("n_decided").alias("decided"),
        pl.col("share_expected").round(3).alias("proportion with the association"),
        pl.col("se").round(3).alias("SE"),
        pl.col("t").round(2),
        *_counts(rows, _UNDECIDED),
    )
    caption = "Decisions with the usual association, by model and test"
    tables = [] if rows.is_empty() else [CaptionedTable(caption, text_table(table), is_open=True)]
    by_wording = section.captioned_tables("decision_bias_by_condition")
    over = () if chained.is_empty() else (_over_clusters(chained),)
    return Group("decisions", "who gets what", (_ON_DECISIONS, *of_chained), (*tables, *over, *by_wording, *asked))


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


def _over_clusters(chained: pl.DataFrame) -> CaptionedTable:
    table = chained.select(
        pl.col("model_label").alias("model"),
        "fit",
        "term",
        pl.col("estimate").round(3).alias("log odds"),
        *(
            pl.col(name).round(3).alias(label)
            for name, label in (("std_error", "SE"), ("conf_low", "from"), ("conf_high", "to"))
        ),
        pl.col("p_value").round_sig_figs(3).alias("p"),
        *(
            pl.col(f"{name}_clustered").round(3).alias(f"{label} over clusters")
            for name, label in (("std_error", "SE"), ("conf_low", "from"), ("conf_high", "to"))
        ),
        pl.col("p_value_clustered").round_sig_figs(3).alias("p over clusters"),
        pl.col("df_clustered").round(1).alias("df"),
        "clusters",
        pl.col("n_clusters").alias("number of them"),
        pl.col("n").alias("decisions"),
    )
    return CaptionedTable("D and the decision after it, over other clusters", text_table(table), is_open=True)
