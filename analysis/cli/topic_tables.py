"""Show the tables of `analyze --fit stm`, and say whether the fit can be the paper's own."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slant.analysis.fitting.fits import FitResult
from slant.analysis.paper.study_views import GRAIN, StudyViews
from slant.analysis.paper.topic_match import match_in_words, matched, missing_of_print, printed_topics
from slant.analysis.rows.study_choice import loadable_studies
from slant.collector.errors import UsageError
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.terminal import say

_ADJUSTED = ("contrasts", "correlations")
_KEY = [*GRAIN, "refusals_removed", "fit"]


def topic_table(result: FitResult, show: str, adjust: str | None, study: str | None, db: Path) -> pl.DataFrame:
    """Return one of TOPIC_TABLES, or of the tables that every fit has; with p adjusted as asked ("none": left out)."""
    if show == "topics":
        return _overview(result)
    if show == "match":
        return _matches(result, study, db)
    if show not in result.topics:
        table: pl.DataFrame = getattr(result, show)
        return table
    return _adjusted(result.topics[show], adjust) if show in _ADJUSTED else result.topics[show]


def check_adjust(show: str | None, adjust: str | None) -> None:
    """Raise UsageError before minutes are spent on a fit."""
    if adjust is not None and show not in _ADJUSTED:
        raise UsageError(
            f"The table {show or 'topics'} has no p values to adjust.",
            f"With --adjust, --show must be one of: {', '.join(_ADJUSTED)}",
        )


def say_about_topics(result: FitResult, db: Path, study: str | None) -> None:
    """Say whether the fit can be the paper's own, and how well its topics match the printed ones."""
    for row in result.topics["models"].filter(~pl.col("is_converged")).to_dicts():
        say(f"Not converged after {row['n_steps']} steps, the most that the study allows; the fit is kept as it is.")
    for name in result.diagnostics["study"].unique(maintain_order=True):
        definition = _study(name, study, db)
        if definition is None or not printed_topics(definition):
            continue
        for row in _joined(result, missing_of_print(StudyViews(db, definition))).to_dicts():
            if row["missing"] and row["source"] != "simulated":
                say(f"This can't be the paper's own fit ({row['source']}), for texts are missing: {row['missing']}.")
    for grain, match in _matches(result, study, db).group_by(GRAIN, maintain_order=True):
        if grain[0] == "simulated":
            say("Simulated answers reason in a few fixed sentences: their topics say nothing about models.")
            continue
        say(f"{match_in_words(match)} ({grain[0]})")


def _study(name: str, requested: str | None, db: Path) -> Study | None:
    """Return the study of this name, if its text is here."""
    if requested is not None and (study := load_study(requested, db=db)).name == name:
        return study
    return next(iter(loadable_studies([name], db)), None)


def _joined(result: FitResult, missing_texts: pl.DataFrame) -> pl.DataFrame:
    return result.topics["models"].select(GRAIN).unique(maintain_order=True).join(missing_texts, on=GRAIN, how="inner")


def _overview(result: FitResult) -> pl.DataFrame:
    """Return one row per topic: its share, its FREX words, and how good it is."""
    is_first = (pl.col("kind") == "frex") & (pl.col("place") <= 7)
    words = result.topics["words"].filter(is_first).sort("place", maintain_order=True)
    frex_words = words.group_by([*_KEY, "topic"], maintain_order=True).agg(
        pl.col("word").str.join(", ").alias("frex_words")
    )
    topics = result.topics["topics"].join(frex_words, on=[*_KEY, "topic"], how="left", maintain_order="left")
    return topics.select(pl.exclude("fit"), "fit")


def _matches(result: FitResult, study: str | None, db: Path) -> pl.DataFrame:
    """Return printed topics next to the fitted ones; no rows for a study that prints none."""
    parts = []
    for grain, words in result.topics["words"].group_by(["study", *_KEY], maintain_order=True):
        definition = _study(str(grain[0]), study, db)
        if definition is not None and (printed := printed_topics(definition)):
            key = [pl.lit(value).alias(name) for name, value in zip(["study", *_KEY], grain, strict=True)]
            match = matched(words, printed)
            parts.append(match.select(*key[1:4], key[0], *match.columns, key[-1]))
    return (
        pl.concat(parts) if parts else pl.DataFrame(schema=dict.fromkeys([*GRAIN, "study", "paper_topic"], pl.String))
    )


def _adjusted(rows: pl.DataFrame, adjust: str | None) -> pl.DataFrame:
    column = {"holm": "p_holm", "BH": "p_bh"}.get(adjust or "none")
    if column is None:
        return rows.drop("p_holm", "p_bh")
    adjusted = rows.with_columns(pl.col(column).alias("p_adjusted"), pl.lit(adjust).alias("adjusted_by"))
    at = rows.columns.index("p_value") + 1
    before, after = rows.columns[:at], [name for name in rows.columns[at:] if name not in ("p_holm", "p_bh")]
    return adjusted.select(*before, "p_adjusted", "adjusted_by", *after)
