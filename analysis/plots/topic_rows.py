"""The rows that figures of topics are drawn from: what `analyze --fit stm` and `analyze topics search` have kept."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slant.analysis.questions.topics.topic_models import STALE, models_to_show
from slant.analysis.rows.views import read_view, stored_views
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import Study

_VIEWS = ("topic_models", "topic_proportions", "topic_prevalence", "topic_searches")
_N_WORDS = 5  # as many as the paper prints


def kept_topic_rows(db: str | Path, study: Study) -> dict[str, pl.DataFrame]:
    """Return the rows by the name of the figure, empty if nothing was fitted.

    Of several fits the study's own of today's texts; where there is none, the last one, and a column `note` says so.
    """
    with reading(db) as connection:
        if not set(_VIEWS) <= set(stored_views(connection)):
            return {}
        views = {name: read_view(connection, name, study=study.name) for name in _VIEWS}
    models = models_to_show(db, study).select("call_id", note=pl.when(~pl.col("is_own")).then(pl.lit(STALE)))
    words = views["topic_proportions"].select("call_id", "topic", words=_first(pl.col("frex_words")))
    prevalence = (
        views["topic_prevalence"]
        .join(models, on="call_id", how="inner", maintain_order="left")
        .join(words, on=["call_id", "topic"], how="left", maintain_order="left")
    )
    labels = {condition.condition: condition.label for condition in study.conditions}
    numbers = {condition.label: condition.condition_no for condition in study.conditions}
    prevalence = prevalence.with_columns(pl.col("condition").replace(labels)).with_columns(
        condition_no=pl.col("condition").replace_strict(numbers, default=None, return_dtype=pl.Int64)
    )
    searches = views["topic_searches"].drop("searched_at", "versions", strict=False)
    return {"topic_prevalence": prevalence, "search_k": searches}


def _first(words: pl.Expr) -> pl.Expr:
    return words.str.split(", ").list.head(_N_WORDS).list.join(", ")
