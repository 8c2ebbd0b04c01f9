"""Tables S13 and S14 and what the text says of topics, from the topic models that the database keeps.

None is fitted here, for it takes a while: `analyze --fit stm` does that. Where texts of the paper's fit are not here,
`missing` says which: the fit can't be the paper's own then, and its numbers can only be near. A model of other texts or
settings than today's is not compared at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from slant.analysis.paper.claims import claims, key, scopes
from slant.analysis.paper.family import GRAIN, VALUE, Row, no_numbers, read_printed
from slant.analysis.paper.results import Results
from slant.analysis.paper.topic_match import (
    PRINTED_PREVALENCE,
    PRINTED_TOPICS,
    matched,
    missing_of_print,
    printed_topics,
)
from slant.analysis.questions.topics.choice import STALE, shown_models
from slant.analysis.rows.open import read_view, stored_views
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import Study

_VIEWS = ("topic_models", "topic_words", "topic_proportions", "topic_prevalence", "topic_effects")
_BIAS_TOPIC = 3  # the number of the paper's topic about bias
_PAPERS_EFFECTS = "~condition*model"
_OF_CONDITION = ("stm_topic3_condition_b", "stm_topic3_condition_se", "stm_topic3_condition_p")
_OF_TOPICS = (*_OF_CONDITION, "topic3_pct")
_OF_FEWER = "The kept topic model is of texts that are here. Not here: {}."
_NO_COEFFICIENT = (
    "It is a coefficient of ~ condition * model with {} as the reference, which the kept topic model has not."
)


def printed(study: Study) -> Iterator[Row]:
    """S13: the share of each topic. S14: the bias topic by model."""
    for row in read_printed(study, PRINTED_TOPICS):
        yield ("S13", None, None, True, None, f"topic {row['topic']} proportion_pct", str(row["proportion_pct"]))
    for row in read_printed(study, PRINTED_PREVALENCE):
        for quantity in ("proportion_pct", "ci_low", "ci_high"):
            yield ("S14", row["model"], None, True, None, quantity, str(row[quantity]))


def recomputed(results: Results) -> pl.DataFrame:
    """The same of the kept topic model of each source, version and variant, matched to the print by its words."""
    kept = _kept(results)
    topics = printed_topics(results.study)
    if kept is None or kept["topic_models"].is_empty() or not topics:
        return no_numbers()
    missing = {tuple(row[:-1]): row[-1] for row in missing_of_print(results.db, results.study).iter_rows()}
    rows: list[tuple[Any, ...]] = []
    for fit in shown_models(results.db, results.study).to_dicts():
        grain = tuple(fit[name] for name in GRAIN)
        if not fit["is_own"]:
            rows += [(*grain, *which, None, STALE) for which in _all_keys(results.study)]
            continue
        one = {name: frame.filter(pl.col("call_id") == fit["call_id"]) for name, frame in kept.items()}
        match = matched(one["topic_words"], topics)
        lacks = missing.get(grain)
        of_fit = [*_tables(one, match), *_claims(one, match, fit, results.study)]
        rows += [(*grain, *which, n, lacks if n is not None else why_not) for *which, n, why_not in of_fit]
        absent = [which for which in _all_keys(results.study) if which not in {tuple(row[:-2]) for row in of_fit}]
        rows += [(*grain, *which, None, lacks and _OF_FEWER.format(lacks)) for which in absent]
    found = pl.DataFrame(rows, schema=no_numbers().schema, orient="row")
    return found.filter(pl.col("recomputed").is_not_null() | pl.col("missing").is_not_null()).select(VALUE)


def _kept(results: Results) -> dict[str, pl.DataFrame] | None:
    """None where an older slant made the views of the database: it has fitted no topics then."""
    with reading(results.db) as connection:
        if not set(_VIEWS) <= set(stored_views(connection)):
            return None
        frames = {name: read_view(connection, name) for name in _VIEWS}
    return {name: frame.filter(pl.col("study") == results.study.name) for name, frame in frames.items()}


def _all_keys(study: Study) -> Iterator[tuple[Any, ...]]:
    yield from (row[:-1] for row in printed(study))
    yield from (key(claim) for claim in claims(study) if claim["quantity"] in _OF_TOPICS)


def _tables(one: dict[str, pl.DataFrame], match: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    """KEY, the number, and why there is none."""
    shares = dict(one["topic_proportions"].select("topic", "proportion").iter_rows())
    for row in match.to_dicts():
        name = f"topic {row['paper_topic']}"
        share = shares.get(row["topic"])
        yield ("S13", None, None, True, None, f"{name} proportion_pct", None if share is None else 100 * share, None)
    for row in _prevalence(one, match).to_dicts():
        for quantity, column in (("proportion_pct", "estimate"), ("ci_low", "conf_low"), ("ci_high", "conf_high")):
            yield ("S14", row["model"], None, True, None, quantity, 100 * row[column], None)


def _prevalence(one: dict[str, pl.DataFrame], match: pl.DataFrame) -> pl.DataFrame:
    """The bias topic by model."""
    is_it = (pl.col("scope") == "model") & (pl.col("topic") == _bias_topic(match))
    return one["topic_prevalence"].filter(is_it)


def _bias_topic(match: pl.DataFrame) -> int | None:
    found = match.filter(pl.col("paper_topic") == _BIAS_TOPIC)["topic"].to_list()
    return found[0] if found else None


def _claims(
    one: dict[str, pl.DataFrame], match: pl.DataFrame, fit: dict[str, Any], study: Study
) -> Iterator[tuple[Any, ...]]:
    """KEY, the number, and why there is none. A coefficient of the condition is that of the first model by name."""
    shares = dict(_prevalence(one, match).select("model", 100 * pl.col("estimate")).iter_rows())
    is_condition = pl.col("term").str.starts_with("condition") & ~pl.col("term").str.contains(":")
    found = one["topic_effects"].filter(is_condition & (pl.col("topic") == _bias_topic(match))).to_dicts()
    effect = found[0] if found else {}
    effects = str(study.fits[fit["fit"]].settings.get("effects")).replace(" ", "")
    for claim in claims(study):
        if claim["quantity"] not in _OF_TOPICS:
            continue
        is_papers = effects == _PAPERS_EFFECTS and min(shares, default=None) == claim["model"]
        if claim["quantity"] in _OF_CONDITION and not is_papers:
            yield (*key(claim), None, _NO_COEFFICIENT.format(claim["model"]))
            continue
        among = scopes(study).get(str(claim["model"]), (str(claim["model"]),))
        numbers = {
            "stm_topic3_condition_b": effect.get("estimate"),
            "stm_topic3_condition_se": effect.get("std_error"),
            "stm_topic3_condition_p": effect.get("p_value"),
            "topic3_pct": max((shares[model] for model in among if model in shares), default=None),
        }
        yield (*key(claim), numbers[str(claim["quantity"])], None)
