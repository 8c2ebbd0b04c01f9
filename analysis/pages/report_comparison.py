"""Compare numbers for a report: those of every model in the paper's tables, then what else the paper prints (its text,
its topics, its earlier version), if they can be had here: a report makes fits of seconds itself; fits of minutes are
only shown if they are kept.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slant.analysis.bridge.worker import versions_now
from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fits import Progress
from slant.analysis.fitting.frames import ENGINE, fits_to_show
from slant.analysis.pages.report_tables import VERDICTS
from slant.analysis.paper.comparison import compare, whole_comparison
from slant.analysis.paper.numbers import Numbers
from slant.analysis.paper.published import TEXT, StudyViews, is_main_table, published_numbers, quantity_name
from slant.analysis.paper.sources import sources_of
from slant.collector.errors import DatabaseError, RError
from slant.collector.studies.catalogue import Fit, Study

_CELL = ["source", "study_version", "variant", "model", "test", "refusals_removed"]


def is_quick(fit: Fit) -> bool:
    """Return False for binomial mixed models: it takes minutes, unlike a linear one of a cell."""
    return ENGINES[fit.engine].is_quick and fit.settings.get("family") is None


def quick_sources(db: str | Path, study: Study) -> tuple[Numbers, ...]:
    """Return sources of printed numbers whose fits are quick, or kept with current rows, settings and versions."""
    sources = sources_of(study)
    if all(is_quick(fit) or fit.engine == "stm" for fit in study.fits.values()):
        return sources  # topics are never fitted for a comparison
    bayes_fits = fits_to_show(db, study, versions_now(ENGINES[ENGINE].packages))
    ready_fits = set(bayes_fits["fit"]) - set(bayes_fits.filter(~bayes_fits["is_own"])["fit"])
    views = StudyViews(db, study)
    return tuple(
        source
        for source in sources
        if all(request.fit in ready_fits or is_quick(study.fits[request.fit]) for request in source.fits(views))
    )


def comparison_rows(
    db: str | Path, study: Study, workers: Workers = None, progress: Progress | None = None
) -> pl.DataFrame:
    """Return the columns of `compare`, for all models and variants there are. Raise RError if R is needed and missing.

    Fits of seconds are made if they are missing; numbers of longer ones are left out if none is kept.
    """
    if study.design.analyses.compares_variants:
        return compare(db, study, workers=workers, progress=progress)
    sources = quick_sources(db, study)
    model_sources = tuple(source for source in sources if source.is_table_of_models)
    model_tables = whole_comparison(db, study, workers=workers, progress=progress, sources=model_sources)
    quantities = [name for source in sources for name in source.gives]
    left_out = {name for source in sources_of(study) for name in source.gives} - set(quantities)
    in_tables = is_main_table() & pl.col("quantity").is_in([name for source in model_sources for name in source.gives])
    other_numbers = published_numbers(study).filter(~in_tables, ~quantity_name().is_in(list(left_out)))
    tables = set(other_numbers["table"]) - set(model_tables["table"])
    if not tables or model_tables.filter(pl.col("variant") == study.variants[0]).is_empty():
        return model_tables
    try:
        other_tables = compare(db, study, workers=workers, progress=progress, tables=tables, sources=sources)
    except DatabaseError:  # none of these models is in the paper
        return model_tables
    return pl.concat(
        [model_tables, other_tables.join(_empty(other_tables), on=["source", "study_version", "table"], how="anti")]
    )


def comparison_without_r(db: str | Path, study: Study) -> pl.DataFrame | None:
    """Return the tables that need no fits, or whose fits are in the database; None if there are none."""
    parts, quantities = [], set[str]()
    for source in sources_of(study):
        if not source.is_table_of_models:
            continue
        try:
            parts.append(whole_comparison(db, study, sources=(source,)))
        except RError:
            continue
        quantities |= set(source.gives)
    if not parts:
        return None
    lacks = published_numbers(study).filter(~quantity_name().is_in(list(quantities)))["table"].unique()
    return pl.concat(parts).filter(~pl.col("table").is_in(lacks.to_list()))


def with_words(comparison: pl.DataFrame, effects: pl.DataFrame) -> pl.DataFrame:
    """Return `comparison` with what its mixed models say about other words and wordings, as numbers of the same rows:
    std_error_ratio, mde, mde_d, verdict (its place in VERDICTS). `effects`: as the view effects_over_words has them.
    """
    verdict = pl.col("verdict").replace_strict({word: place for place, word in enumerate(VERDICTS)}, default=None)
    numbers = effects.select(*_CELL, "std_error_ratio", "mde", "mde_d", verdict=verdict.cast(pl.Float64)).unpivot(
        index=_CELL, variable_name="quantity", value_name="recomputed"
    )
    of_effects = comparison.filter(pl.col("quantity") == "condition_std_error", pl.col("recomputed").is_not_null())
    rows = of_effects.drop("quantity", "recomputed").join(numbers, on=_CELL, how="inner", maintain_order="left")
    blank = [name for name in ("printed", "tolerance", "agrees", "slip", "note") if name in rows.columns]
    rows = rows.with_columns(pl.lit(None, comparison.schema[name]).alias(name) for name in blank)
    return pl.concat([comparison, rows.with_columns(status=pl.lit("not printed")).select(comparison.columns)])


def claim_texts(study: Study) -> dict[str, str]:
    """Return the paper's text about each number, by its name in the column `quantity`."""
    if study.published is None:
        return {}
    is_quoted = pl.col("quantity").str.contains(" ") & ~pl.col("source").str.starts_with("section ")
    claims = published_numbers(study).filter(is_quoted, table=TEXT)
    return {
        quantity: f"{quantity.partition(' ')[0]}: {words}"
        for quantity, words in claims.select("quantity", "source").iter_rows()
    }


def _empty(rows: pl.DataFrame) -> pl.DataFrame:
    """List tables without recomputed numbers: topics before they are fitted, another model's earlier version."""
    grain = ["source", "study_version", "table"]
    return rows.group_by(grain).agg(pl.col("recomputed").count()).filter(pl.col("recomputed") == 0)
