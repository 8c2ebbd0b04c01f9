"""List the sources of numbers of each design: the views in sql/views/3_paper, and in Python what SQL can't give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import polars as pl

from slant.analysis.paper import print_checks
from slant.analysis.paper.numbers import CELL, SCHEMA, Numbers, fits_of_view, numbers_of_view
from slant.analysis.paper.published import (
    TEXT,
    is_of_print,
    not_checkable,
    notes,
    published_numbers,
    quantity_name,
    scopes,
)
from slant.analysis.paper.study_views import GRAIN, StudyViews
from slant.analysis.paper.topic_match import matched, missing_of_print, printed_models, printed_topics
from slant.analysis.questions.topics.topic_models import STALE, models_to_show
from slant.analysis.rows.descriptive_tables import views_of_papers
from slant.collector.errors import UnknownNameError
from slant.collector.studies.catalogue import Study

Tables = dict[str, pl.DataFrame]
Key = tuple[str | None, str | None, bool | None, str | None, str]
Number = tuple[Key, float | None, str | None]
"""List KEY without its place, the number, and why there is none."""
_VIEWS = ("topic_models", "topic_words", "topic_proportions", "topic_prevalence", "topic_effects")
_BIAS_TOPIC = 3  # the number of the paper's topic about bias
_PAPERS_EFFECTS = "~condition*model"
_OF_CONDITION = ("stm_topic3_condition_b", "stm_topic3_condition_se", "stm_topic3_condition_p")
_OF_TOPICS = (*_OF_CONDITION, "topic3_pct")
_PREVALENCE = {"proportion_pct": "estimate", "ci_low": "conf_low", "ci_high": "conf_high"}
_OF_FEWER = "The stored topic model covers only the texts here. Missing: {}."
_NO_COEFFICIENT = (
    "It is a coefficient of ~ condition * model with {} as the reference; the stored topic model "
    "has no such coefficient."
)


def _recomputed(views: StudyViews) -> pl.DataFrame:
    """Return the numbers of the stored topic model of each source, version and variant, matched to the print by its
    words."""
    topics, frames = printed_topics(views.study), {name: views.view(name) for name in _VIEWS}
    if frames["topic_models"].is_empty() or not topics:
        return pl.DataFrame(schema=SCHEMA)
    missing = {tuple(row[:-1]): row[-1] for row in missing_of_print(views).iter_rows()}
    rows: list[tuple[Any, ...]] = []
    for fit in models_to_show(views.db, views.study).to_dicts():
        grain = tuple(fit[name] for name in GRAIN)
        if not fit["is_own"]:
            rows += [(*grain, *key, None, STALE) for key in _all_keys(views.study)]
            continue
        tables = {name: frame.filter(pl.col("call_id") == fit["call_id"]) for name, frame in frames.items()}
        match = matched(tables["topic_words"], topics)
        lacks = missing.get(grain)
        of_fit = [*_tables(tables, match), *_claims(tables, match, fit, views.study)]
        rows += [(*grain, *key, n, lacks if n is not None else why_not) for key, n, why_not in of_fit]
        absent = [key for key in _all_keys(views.study) if key not in {key for key, *_ in of_fit}]
        rows += [(*grain, *key, None, lacks and _OF_FEWER.format(lacks)) for key in absent]
    numbers = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return numbers.filter(pl.col("recomputed").is_not_null() | pl.col("missing").is_not_null())


def _all_keys(study: Study) -> Iterator[Key]:
    for topic in printed_topics(study):
        yield (None, None, True, None, f"topic {topic} proportion_pct")
    for model in printed_models(study):
        yield from ((model, None, True, None, quantity) for quantity in _PREVALENCE)
    yield from (_key(claim) for claim in _printed_claims(study))


def _printed_claims(study: Study) -> list[dict[str, Any]]:
    """Return the text's numbers about topics, each with the `name` of its quantity."""
    name = pl.col("quantity").str.split(" ").list.last()
    text = published_numbers(study).filter(table=TEXT).with_columns(name=name)
    return text.filter(pl.col("name").is_in(_OF_TOPICS)).to_dicts()


def _key(claim: dict[str, Any]) -> Key:
    return (claim["model"], claim["test"], None, None, claim["quantity"])


def _tables(tables: Tables, match: pl.DataFrame) -> Iterator[Number]:
    shares = dict(tables["topic_proportions"].select("topic", "proportion").iter_rows())
    for row in match.to_dicts():
        share = shares.get(row["topic"])
        key = (None, None, True, None, f"topic {row['paper_topic']} proportion_pct")
        yield key, None if share is None else 100 * share, None
    for row in _prevalence(tables, match).to_dicts():
        for quantity, column in _PREVALENCE.items():
            yield (row["model"], None, True, None, quantity), 100 * row[column], None


def _prevalence(tables: Tables, match: pl.DataFrame) -> pl.DataFrame:
    """Return the bias topic by model."""
    return tables["topic_prevalence"].filter(pl.col("scope") == "model", pl.col("topic") == _bias_topic(match))


def _bias_topic(match: pl.DataFrame) -> int | None:
    return next(iter(match.filter(pl.col("paper_topic") == _BIAS_TOPIC)["topic"]), None)


def _claims(tables: Tables, match: pl.DataFrame, fit: dict[str, Any], study: Study) -> Iterator[Number]:
    """Yield the claims of the text; a coefficient of the condition is that of the first model by name."""
    shares = dict(_prevalence(tables, match).select("model", 100 * pl.col("estimate")).iter_rows())
    is_condition = pl.col("term").str.starts_with("condition") & ~pl.col("term").str.contains(":")
    terms = tables["topic_effects"].filter(is_condition & (pl.col("topic") == _bias_topic(match))).to_dicts()
    effect = terms[0] if terms else {}
    effects = str(study.fits[fit["fit"]].settings.get("effects")).replace(" ", "")
    for claim in _printed_claims(study):
        is_papers = effects == _PAPERS_EFFECTS and min(shares, default=None) == claim["model"]
        if claim["name"] in _OF_CONDITION and not is_papers:
            yield _key(claim), None, _NO_COEFFICIENT.format(claim["model"])
            continue
        models = [model for model, _ in scopes(study).get(claim["model"], [(claim["model"], None)])]
        numbers = {
            "stm_topic3_condition_b": effect.get("estimate"),
            "stm_topic3_condition_se": effect.get("std_error"),
            "stm_topic3_condition_p": effect.get("p_value"),
            "topic3_pct": max((shares[model] for model in models if model in shares), default=None),
        }
        yield _key(claim), numbers[claim["name"]], None


NUMBERS = Numbers("topics", (*_OF_TOPICS, *_PREVALENCE), _recomputed)


IN_PYTHON: Mapping[str, Numbers] = {"topics": NUMBERS, "print_checks": print_checks.NUMBERS}
"""Hold sources by the names that designs have in `number_sources`."""


def sources_of(study: Study) -> tuple[Numbers, ...]:
    """Return every source of the study's design, including those of its print's numbers."""
    printed = set(published_numbers(study).select(quantity_name()).to_series())
    has_own_arithmetic = notes(study, "of the print").height > 0
    return tuple(
        source for source in _all(study) if printed & set(source.gives) or (source.is_of_print and has_own_arithmetic)
    )


def _all(study: Study) -> tuple[Numbers, ...]:
    infos = views_of_papers(study.design.name)
    of_views = [
        Numbers(
            name,
            info.gives,
            partial(numbers_of_view, info=info),
            fits=partial(fits_of_view, info=info, infos=infos),
            is_table_of_models=info.lacks in ("cell", "game"),
        )
        for name, info in infos.items()
    ]
    return (*of_views, *(IN_PYTHON[name] for name in study.design.analyses.number_sources))


def check_quantities(study: Study) -> None:
    """Raise UnknownNameError for a printed quantity without a source or any other information."""
    known = list(dict.fromkeys(name for source in _all(study) for name in source.gives))
    numbers = published_numbers(study).filter(~is_of_print(study))
    open_numbers = numbers.join(not_checkable(study), on=CELL, how="anti", nulls_equal=True)
    for quantity in open_numbers.filter(~quantity_name().is_in(known))["quantity"]:
        name = study.published.name if study.published else ""
        raise UnknownNameError(f"quantity (in {name})", quantity, known)
