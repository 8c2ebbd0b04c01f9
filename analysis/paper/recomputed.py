"""The numbers of the paper, computed from the database: one row a number, for all models that are there."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slant.analysis.fitting.fits import Progress
from slant.analysis.paper import families_of
from slant.analysis.paper.family import GRAIN, VALUE, Family, beside_shortfalls, no_numbers
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

__all__ = ["GRAIN", "VALUE", "recomputed"]


def recomputed(
    db: str | Path,
    study: Study,
    workers: int | None = None,
    progress: Progress | None = None,
    families: tuple[Family, ...] | None = None,
) -> pl.DataFrame:
    """Every number that the paper has, of each model and variant in the database: GRAIN, KEY, `recomputed`, `missing`.

    Fits that are missing or out of date are made first.
    """
    results = Results(db, study, workers, progress)
    families = families_of(study) if families is None else families
    needs = [family.needs(results) for family in families]
    results.will_need(
        dict.fromkeys(name for names, _ in needs for name in names), [one for _, asked in needs for one in asked]
    )
    return pl.concat([no_numbers(), *(_of(family, results) for family in families)])


def _of(family: Family, results: Results) -> pl.DataFrame:
    """Families that are no table of models know best which cells each of their numbers is made of."""
    found = family.recomputed(results).select(VALUE)
    return beside_shortfalls(found, results.partial_cells) if family.is_table_of_models else found
