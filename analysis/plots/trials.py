"""Figures of trials and their tokens: what the reasoning IAT and studies of its design have."""

from __future__ import annotations

import polars as pl

from slant.analysis.fitting.fits import FitResult, fit
from slant.analysis.plots.figure_data import LABELS, FigureData, FigureKind
from slant.analysis.questions.checks.study_checks import same_words_rows
from slant.analysis.questions.checks.trials import has_mixed_fit
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import read_view, stored_views
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import fits_of
from slant.collector.study.crossed_fits import CROSSED

_ENDS = ("estimate", "conf_low", "conf_high")


def _effect_sizes(data: FigureData) -> pl.DataFrame | None:
    if not any(definition.engine == "effect_size" for definition in data.study.fits.values()):
        return None
    sizes = fit(data.db, data.study, "effect_size", workers=data.workers, progress=data.progress)
    effects = _labelled(sizes, data)
    is_papers_own = data.study.published is not None  # its figure is as the paper drew it
    outcome = effects["outcome"].first()
    crossed = fits_of(data.study).get(CROSSED)
    if is_papers_own or crossed is None or (crossed.formula or "").partition("~")[0].strip() != outcome:
        return effects
    return _of_mixed_model(effects, data)


def _labelled(sizes: FitResult, data: FigureData) -> pl.DataFrame:
    """Return the first fit of the study (with refusals removed, say), in the order of the trials."""
    first = sizes.diagnostics["fit"].first()
    labels = data.trials.select(*GRAIN, *LABELS).unique([*GRAIN, "model", "test"], maintain_order=True)
    measures = sizes.diagnostics.filter(pl.col("fit") == first).select(*GRAIN, "model", "test", "token_source")
    effects = sizes.table.filter(pl.col("fit") == first).drop_nulls(["model", "test"])
    for columns in (labels, measures):
        effects = effects.join(columns, on=[*GRAIN, "model", "test"], how="inner", maintain_order="left")
    definition = data.study.fits[str(first)]
    sides = definition.levels[definition.contrast or ""]
    reference, other = (data.study.condition_label(str(side)) for side in sides)
    return effects.with_columns(reference=pl.lit(reference), compared=pl.lit(other), outcome=pl.lit(definition.outcome))


def _of_mixed_model(effects: pl.DataFrame, data: FigureData) -> pl.DataFrame:
    """Return the same cells by the mixed model over words and wordings, where one can be fitted: trials of one word are
    not independent, and intervals that take them for it are too narrow. In standard deviations within conditions.
    """
    crossed = fit(data.db, data.study, CROSSED, workers=data.workers, progress=data.progress)
    key = [*GRAIN, "model", "test", "refusals_removed"]
    own = crossed.tables[CROSSED]["effects"].filter(pl.col("sd") > 0)
    scaled = own.select(*key, *((pl.col(name) / pl.col("sd")).alias(f"{name}_of_model") for name in _ENDS))
    joined = effects.join(scaled, on=key, how="left", nulls_equal=True, maintain_order="left")
    is_fitted = pl.all_horizontal(pl.col(f"{name}_of_model").is_not_null() for name in _ENDS)
    chosen = [pl.when(is_fitted).then(f"{name}_of_model").otherwise(name).alias(name) for name in _ENDS]
    kind = pl.when(is_fitted).then(pl.lit("mixed_model")).otherwise(pl.lit("independent_trials"))
    return joined.with_columns(*chosen, interval=kind).drop(f"{name}_of_model" for name in _ENDS)


def _tokens(data: FigureData) -> pl.DataFrame:
    return data.trials.filter(pl.col("tokens").is_not_null() & pl.col("is_valid"))


def _token_steps(data: FigureData) -> pl.DataFrame:
    return data.trials.drop_nulls("tokens").drop("test_label", "condition", "condition_label", "condition_no")


def _refusals(data: FigureData) -> pl.DataFrame:
    counts = [pl.len().alias("n_trials"), pl.col("is_refusal").sum().alias("n_refusals")]
    keys = [*GRAIN, *LABELS, "condition", "condition_label", "condition_no"]
    return data.trials.drop_nulls("condition").group_by(keys, maintain_order=True).agg(*counts)


def _family_differences(data: FigureData) -> pl.DataFrame | None:
    """Return the last fit of each family, of the study's own measure."""
    with reading(data.db) as connection:
        if "bayes_ratios" not in stored_views(connection):
            return None
        rows = read_view(connection, "bayes_ratios", study=data.study.name, source=data.source)
    last = rows.unique([*GRAIN, "model", "test", "family"], keep="last", maintain_order=True)
    others = last.filter(pl.col("family") != "lognormal", pl.col("elpd_difference").is_not_null())
    return None if others.is_empty() else others


def _same_words(data: FigureData) -> pl.DataFrame | None:
    """Return correlations of effects at words between models, if two were asked the same test."""
    if not has_mixed_fit(data.study):
        return None
    rows = same_words_rows(data.db, data.study, data.source, data.workers)
    if rows is None:
        return None
    other_labels = data.model_labels.rename({name: name.replace("model", "other_model") for name in LABELS[:3]})
    keys = (["study_version", "model", "test"], ["study_version", "other_model"])
    for labels, on in zip((data.labels, other_labels), keys, strict=True):
        rows = rows.join(labels, on=on, how="left", maintain_order="left")
    return rows


KINDS = {
    "effect_sizes": FigureKind(
        "Cohen's d with its interval, by model and test (the paper's main figure).", _effect_sizes
    ),
    "tokens": FigureKind("The distribution of tokens, by model, test and condition.", _tokens, is_declared=True),
    "refusals": FigureKind("The share of refused trials, by model, test and condition.", _refusals, is_declared=True),
    "token_steps": FigureKind(
        "A histogram of token counts, fine enough to show the steps in which a provider counts.",
        _token_steps, is_declared=True,
    ),
    "same_words": FigureKind(
        "Whether models have the bias at the same words: effects at words correlated between models.",
        _same_words, is_declared=True,
    ),
    "family_differences": FigureKind(
        "How well other families predict token counts than the lognormal (after analyze --fit brms --family …).",
        _family_differences, "analyze --fit brms --study {study} --family gaussian",
    ),
    "topic_prevalence": FigureKind(
        "How large each topic is, by model, condition and test (after analyze --fit stm).",
        lambda data: data.topics.get("topic_prevalence"), "analyze --fit stm",
    ),
    "search_k": FigureKind(
        "What speaks for which number of topics (after analyze topics search).",
        lambda data: data.topics.get("search_k"), "analyze topics search",
    ),
}  # fmt: skip
