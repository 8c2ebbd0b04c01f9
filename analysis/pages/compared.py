"""The numbers of a report: those of every model in the paper's tables, then what else the paper prints (its text, its
topics, its earlier version), as far as they can be had here.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slant.analysis.fitting.fits import Progress
from slant.analysis.pages.parts.affordable import affordable_families
from slant.analysis.paper import families_of
from slant.analysis.paper.claims import claims, key
from slant.analysis.paper.compare import compare, whole_comparison
from slant.collector.designs import design_named
from slant.collector.errors import DatabaseError, RError
from slant.collector.studies.catalogue import Study


def compared(
    db: str | Path, study: Study, workers: int | None = None, progress: Progress | None = None
) -> pl.DataFrame:
    """The columns of `compare`, for all models and variants there are. Raises RError where R is needed and missing.

    Fits of seconds are made where they are missing; numbers of longer ones are left out where none is kept.
    """
    if design_named(study.design).compares_variants:
        return compare(db, study, workers=workers, progress=progress)
    families = affordable_families(db, study)
    of_models = tuple(family for family in families if family.is_table_of_models)
    whole = whole_comparison(db, study, workers=workers, progress=progress, families=of_models)
    others = tuple(family for family in families if not family.is_table_of_models)
    tables = {str(row[0]) for family in others for row in family.printed(study)} - set(whole["table"])
    if not tables or whole.filter(pl.col("variant") == study.variants[0]).is_empty():
        return whole
    try:
        more = compare(db, study, workers=workers, progress=progress, tables=tables, families=others)
    except DatabaseError:  # none of these models is in the paper
        return whole
    return pl.concat([whole, more.join(_empty(more), on=["source", "study_version", "table"], how="anti")])


def compared_without_r(db: str | Path, study: Study) -> pl.DataFrame | None:
    """Only the tables that need no fits, or whose fits the database holds; None where there is none."""
    parts = []
    for family in (one for one in families_of(study) if one.is_table_of_models):
        try:
            parts.append(whole_comparison(db, study, families=(family,)))
        except RError:
            continue
    return pl.concat(parts) if parts else None


def claim_texts(study: Study) -> dict[str, str]:
    """What a claim says, by its name in the column `quantity`."""
    return {key(claim)[-1]: f"{claim['claim']}: {claim['text']}" for claim in claims(study) if claim["text"]}


def _empty(rows: pl.DataFrame) -> pl.DataFrame:
    """Tables of which nothing could be recomputed: topics before they are fitted, another model's earlier version."""
    grain = ["source", "study_version", "table"]
    return rows.group_by(grain).agg(pl.col("recomputed").count()).filter(pl.col("recomputed") == 0)
