"""The finding about what an analysis finds where there is nothing: words whose labels were permuted (`analyze permute`
has kept that; a check permutes nothing), and the variant null, whose words were dealt to groups before models were
asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from slant.analysis.questions.checks.sentences import CheckRows, Context, Verdict, count_of, percent, spread
from slant.analysis.questions.checks.trials import CELL
from slant.analysis.questions.permutation.sentences import last_permutations, null_sentences
from slant.analysis.rows.views import rows_if_kept
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
    """Return the last permutations of conditions of each kind, by the name of the check, and the effects of the variant
    null (of `checks`, rows by the name of their check: crossed, those of forced choices, or of levels) as rows of the
    study of today; nothing if there are neither."""
    makers = [(_EFFECTS, _of_variant_null), (_CHOICES, _choices_of_variant_null), (_LEVELS, _levels_of_variant_null)]
    kept = rows_if_kept(db, "permutation_tests", study=study, scale="difference", source=source)
    kept = last_permutations(kept).select(*CELL, pl.exclude(*CELL)) if kept.height else kept
    parts = [kept, *(make(checks) for needs, make in makers if needs <= set(checks))]
    rows = pl.concat([part for part in parts if part.height] or parts[:1], how="diagonal_relaxed")
    return {} if rows.is_empty() else {NOTHING: rows}


def _of_variant_null(checks: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    rows = checks["crossed"].filter(variant=NULL).drop_nulls("verdict")
    p_values = (pl.col("reference_p").alias("p_engine"), pl.col("p_value").alias("p_over_words"))
    return rows.select(*_dealt(*CELL), *p_values, _OBSERVED_D)


_OBSERVED_D = (pl.col("estimate") / pl.col("sd")).alias("observed_d")


def _dealt(*key: str) -> Iterator[pl.Expr]:
    """Yield the key, as of the study's own words, then which engine it is of and the effect."""
    yield from (pl.lit(BASE).alias(name) if name == "variant" else pl.col(name) for name in key)
    yield from (pl.lit(_ASKED).alias("engine"), pl.col("estimate").alias("observed"))


def _choices_of_variant_null(checks: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the difference of conditions, and its p in a logistic regression of all answers, which knows no words."""
    key = [*CELL, "condition"]
    observed = checks["missing_bounds"].select(*key, observed="delta_p")
    tested = checks["order_effect"].filter(variant=NULL).drop_nulls("p_value")
    rows = tested.select(*key, engine=pl.lit(_ASKED), p_engine="p_value")
    return rows.join(observed, on=key, how="left", maintain_order="left").with_columns(variant=pl.lit(BASE))


def _levels_of_variant_null(checks: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    rows = checks["level_contrasts"].filter(variant=NULL).drop_nulls("p_value")
    return rows.select(*_dealt(*CELL, "attribute", "first", "second"), pl.col("p_value").alias("p_engine"), _OBSERVED_D)


def found_by_chance(rows: CheckRows, context: Context) -> Verdict:
    """Return the frequency of small p-values and the size of effects without a true effect, compared with the real
    ones."""
    permuted = rows[NOTHING].filter(pl.col("engine") != _ASKED)
    dealt = rows[NOTHING].filter(pl.col("engine") == _ASKED)
    say_dealt = _dealt_levels if set(rows) >= _LEVELS else _dealt_sentences if set(rows) >= _EFFECTS else _dealt_choices
    said = [*null_sentences(permuted), *(say_dealt(dealt, rows, context) if dealt.height else ())]
    rates = permuted["false_positives"].drop_nulls().to_list() if permuted.height else []
    is_often = bool(rates) and sum(rates) / len(rates) > _OFTEN * context.alpha
    is_unfounded = (
        rates and permuted.filter(pl.col("p_engine") < context.alpha, pl.col("p_two_sided") >= context.alpha).height
    )
    return Verdict("caution" if is_often or is_unfounded else "not found", said[0], tuple(said[1:]))


def _small(rows: pl.DataFrame, p_value: str, context: Context, noun: str = "cell") -> str:
    return count_of(rows.filter(pl.col(p_value) < context.alpha).height, rows.height, noun)


def _sizes(what: str, of_dealt: pl.Series, of_real: pl.Series, real: str, digits: int = 2) -> str:
    """Say how large effects are where there is nothing, next to the real ones."""
    known = of_real.drop_nulls().abs()
    of_words = f"; of the {real} {spread(known, digits)}" if known.len() else ""
    return f"Their {what}: {spread(of_dealt.abs(), digits)}{of_words}."


def _dealt_sentences(dealt: pl.DataFrame, rows: CheckRows, context: Context) -> Iterator[str]:
    """Yield the results of the study's own model, and of the one over words and wordings, in the variant null."""
    yield (
        f"Models with words assigned at random (variant {NULL}): p is below {context.alpha:g} in "
        f"{_small(dealt, 'p_engine', context)} by the study's own model and in "
        f"{_small(dealt, 'p_over_words', context)} over words and wordings; {percent(context.alpha, 0)} are expected."
    )
    real = rows["crossed"].select(_OBSERVED_D)["observed_d"]
    yield _sizes("effects without sign, in standard deviations", dealt["observed_d"], real, "words as they are")


def _dealt_choices(dealt: pl.DataFrame, rows: CheckRows, context: Context) -> Iterator[str]:
    """Yield the results of a forced choice in the variant null."""
    yield (
        f"Models with words assigned at random (variant {NULL}): p of the difference of conditions "
        f"(logistic regression of all answers) is below {context.alpha:g} in {_small(dealt, 'p_engine', context)}; "
        f"{percent(context.alpha, 0)} at most are expected, because words are assigned in balance."
    )
    real = rows["missing_bounds"]["delta_p"]
    yield _sizes("differences ΔP, without sign", dealt["observed"].drop_nulls(), real, "words as they are", 3)


def _dealt_levels(dealt: pl.DataFrame, rows: CheckRows, context: Context) -> Iterator[str]:
    """Yield the frequency and size of differences between levels that say nothing, then of the levels as shown."""
    real = rows["level_contrasts"]
    yield (
        f"Models with levels assigned to prompts at random (variant {NULL}): p of the difference between "
        f"two levels, uncorrected, is below {context.alpha:g} in {_small(dealt, 'p_engine', context, 'pair')}; "
        f"{percent(context.alpha, 0)} are expected, but pairs of one attribute are correlated. Of the levels as "
        f"they were shown: {_small(real.drop_nulls('p_value'), 'p_value', context, 'pair')}."
    )
    sizes = real.select(_OBSERVED_D)["observed_d"]
    what = "differences without sign, in standard deviations"
    yield _sizes(what, dealt["observed_d"], sizes, "levels as they were shown")
