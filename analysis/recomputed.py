"""The numbers of the paper, computed from the database: one row a number, for all models that are there."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from analysis.fits import Progress
from analysis.paper import FAMILIES
from analysis.paper.family import GRAIN, VALUE, Family
from analysis.paper.results import Results
from collector.study import Study

__all__ = ["GRAIN", "VALUE", "recomputed"]


def recomputed(
    db: str | Path,
    study: Study,
    workers: int | None = None,
    progress: Progress | None = None,
    families: tuple[Family, ...] = FAMILIES,
) -> pl.DataFrame:
    """Every number that the paper has, of each model and variant in the database: GRAIN, KEY, `recomputed`, `missing`.

    Fits that are missing or out of date are made first.
    """
    results = Results(db, study, workers, progress)
    needs = [family.needs(results) for family in families]
    results.will_need(
        dict.fromkeys(name for names, _ in needs for name in names), [one for _, asked in needs for one in asked]
    )
    return pl.concat([family.recomputed(results).select(VALUE) for family in families])
