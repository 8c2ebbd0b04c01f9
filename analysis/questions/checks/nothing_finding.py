"""The finding about what an analysis finds where there is nothing: words whose labels were permuted (`analyze permute`
has kept that; a check permutes nothing), and the variant null, whose words were dealt to groups before models were
asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from slant.analysis.questions.checks.sentences import CheckRows, Context, Verdict, count_of, percent, spread
from slant.analysis.questions.permutation.sentences import last_permutations, null_sentences
from slant.analysis.rows.views import read_view, stored_views
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import BASE
from slant.collector.study.records import NULL

NOTHING = "nothing"
_ASKED = "variant null"
"""In the column engine: effects of the variant null, which nothing was permuted for."""
_EFFECTS, _CHOICES, _LEVELS = {"crossed"}, {"order_effect", "missing_bounds"}, {"level_contrasts"}
"""The checks whose rows have the effects of the variant null: of words that are paired, of forced choices, of levels of
factors."""
_OFTEN = 1.5
"""How many times as often as alpha says p may be small where there is nothing."""


def nothing_rows(
    db: str | Path, study: str, source: str | None, checks: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Return by the name of the check the last permutations of conditions of each kind, and the effects of the variant
    null (of `checks`, rows by the name of their check: crossed, those of forced choices, or of levels) as rows of the
    study of today; nothing if there are neither."""
    makers = [(_EFFECTS, _of_variant_null), (_CHOICES, _choices_of_variant_null), (_LEVELS, _levels_of_variant_null)]
    parts = [_kept_permutations(db, study, source), *(make(checks) for needs, make in makers if needs <= set(checks))]
    rows = pl.concat([part for part in parts if part.height] or parts[:1], how="diagonal_relaxed")
    return {} if rows.is_empty() else {NOTHING: rows}


def _kept_permutations(db: str | Path, study: str, source: str | None) -> pl.DataFrame:
    with reading(db) as connection:
        if "permutation_tests" not in stored_views(connection):
            return pl.DataFrame()
        rows = read_view(connection, "permutation_tests", study=study, scale="difference", source=source)
    rows = last_permutations(rows)
    first = ("source", "study_version", "variant", "model", "test")
    return rows.select(*first, pl.exclude(*first))


def _of_variant_null(checks: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    return (
        checks["crossed"]
        .filter(variant=NULL)
        .drop_nulls("verdict")
        .select(
            "source",
            "study_version",
            pl.lit(BASE).alias("variant"),
            "model",
            "test",
            pl.lit(_ASKED).alias("engine"),
            pl.col("estimate").alias("observed"),
            pl.col("reference_p").alias("p_engine"),
            pl.col("p_value").alias("p_over_words"),
            (pl.col("estimate") / pl.col("sd")).alias("observed_d"),
        )
    )


def _choices_of_variant_null(checks: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the difference of conditions, and its p in a logistic regression of all answers, which knows no words."""
    key = ["source", "study_version", "variant", "model", "test", "condition"]
    observed = checks["missing_bounds"].select(*key, observed="delta_p")
    tested = checks["order_effect"].filter(variant=NULL).drop_nulls("p_value")
    rows = tested.select(*key, engine=pl.lit(_ASKED), p_engine="p_value")
    return rows.join(observed, on=key, how="left", maintain_order="left").with_columns(variant=pl.lit(BASE))


def _levels_of_variant_null(checks: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    rows = checks["level_contrasts"].filter(variant=NULL).drop_nulls("p_value")
    return rows.select(
        "source",
        "study_version",
        pl.lit(BASE).alias("variant"),
        "model",
        "test",
        "attribute",
        "first",
        "second",
        pl.lit(_ASKED).alias("engine"),
        pl.col("estimate").alias("observed"),
        pl.col("p_value").alias("p_engine"),
        (pl.col("estimate") / pl.col("sd")).alias("observed_d"),
    )


def found_by_chance(rows: CheckRows, context: Context) -> Verdict:
    """Return how often p is small where there is nothing, and how large effects are there, next to the real ones."""
    permuted = rows[NOTHING].filter(pl.col("engine") != _ASKED)
    dealt = rows[NOTHING].filter(pl.col("engine") == _ASKED)
    if set(rows) >= _LEVELS:
        dealt_sentences = _dealt_levels(dealt, rows["level_contrasts"], context)
    elif set(rows) >= _EFFECTS:
        dealt_sentences = _dealt_sentences(dealt, rows["crossed"], context)
    else:
        dealt_sentences = _dealt_choices(dealt, rows["missing_bounds"], context)
    said = [*null_sentences(permuted), *dealt_sentences]
    rates = permuted["false_positives"].drop_nulls().to_list() if permuted.height else []
    is_often = bool(rates) and sum(rates) / len(rates) > _OFTEN * context.alpha
    is_unfounded = (
        rates and permuted.filter(pl.col("p_engine") < context.alpha, pl.col("p_two_sided") >= context.alpha).height
    )
    return Verdict("caution" if is_often or is_unfounded else "not found", said[0], tuple(said[1:]))


def _dealt_sentences(dealt: pl.DataFrame, real: pl.DataFrame, context: Context) -> Iterator[str]:
    """Yield what the study's own model and the one over words and wordings find in the variant null."""
    if dealt.is_empty():
        return
    own, over_words = (
        count_of(dealt.filter(pl.col(name) < context.alpha).height, dealt.height, "cell")
        for name in ("p_engine", "p_over_words")
    )
    yield (
        f"Models that were asked with words dealt at random (variant {NULL}): p is below {context.alpha:g} in {own} by "
        f"the study's own model and in {over_words} over words and wordings; {percent(context.alpha, 0)} are to be "
        "expected."
    )
    sizes = real.select((pl.col("estimate") / pl.col("sd")).abs().alias("d"))["d"].drop_nulls()
    of_words = f"; of the words as they are {spread(sizes)}" if sizes.len() else ""
    yield f"Their effects without sign, in standard deviations: {spread(dealt['observed_d'].abs())}{of_words}."


def _dealt_choices(dealt: pl.DataFrame, real: pl.DataFrame, context: Context) -> Iterator[str]:
    """Yield what is found in the variant null of a forced choice."""
    if dealt.is_empty():
        return
    small = count_of(dealt.filter(pl.col("p_engine") < context.alpha).height, dealt.height, "cell")
    yield (
        f"Models that were asked with words dealt at random (variant {NULL}): p of the difference of conditions "
        f"(logistic regression of all answers) is below {context.alpha:g} in {small}; {percent(context.alpha, 0)} at "
        "most are to be expected, for words are dealt in balance."
    )
    sizes = real["delta_p"].drop_nulls().abs()
    of_words = f"; of the words as they are {spread(sizes, 3)}" if sizes.len() else ""
    yield f"Their differences ΔP, without sign: {spread(dealt['observed'].drop_nulls().abs(), 3)}{of_words}."


def _dealt_levels(dealt: pl.DataFrame, real: pl.DataFrame, context: Context) -> Iterator[str]:
    """Yield how often levels that say nothing differ, and by how much, next to the levels as they were shown."""
    if dealt.is_empty():
        return
    small, of_real = (
        count_of(rows.filter(pl.col(name) < context.alpha).height, rows.height, "pair")
        for rows, name in ((dealt, "p_engine"), (real.drop_nulls("p_value"), "p_value"))
    )
    yield (
        f"Models that were asked with levels dealt to prompts at random (variant {NULL}): p of the difference between "
        f"two levels, uncorrected, is below {context.alpha:g} in {small}; {percent(context.alpha, 0)} are to be "
        f"expected, but pairs of one attribute go together. Of the levels as they were shown: {of_real}."
    )
    sizes = real.select((pl.col("estimate") / pl.col("sd")).abs().alias("d"))["d"].drop_nulls()
    of_levels = f"; of the levels as they were shown {spread(sizes)}" if sizes.len() else ""
    yield f"Their differences without sign, in standard deviations: {spread(dealt['observed_d'].abs())}{of_levels}."
