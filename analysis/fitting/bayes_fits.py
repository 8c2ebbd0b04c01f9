"""Choose which kept Bayesian fits are shown: sampling takes minutes, so pages and figures never start it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from slant.analysis.calls.results import unchanged_ids
from slant.analysis.fitting.fit_plan import plan_fits
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import read_view
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import Fit, Study, fits_of

ENGINE = "brms"
KEY = (*GRAIN, "fit", "model", "test")
_TABLES = ("bayes_", "condition_contrasts", "predicted_compliance")
"""How the names of tables of Bayesian fits begin."""
_FAMILIES = "bayes_ratios"
_FIT = (*KEY, "call_id", "status", "messages", "versions", "data_hash", "fitted_at")


def fits_to_show(db: str | Path, study: Study, versions: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Return a row for each source, version, variant, fit (and model and test, if a fit is by cell) of `study`: those
    columns, call_id, status, messages, `is_own`.

    `is_own`: it is of the current rows, formula, priors, settings and R code, and, if they are given, these versions of
    R's packages. Of several it is the own one, else the last. There are no rows if none was fitted.
    """
    with reading(db) as connection:
        fits = read_view(connection, "fits", engine=ENGINE, study=study.name)
    names = [fit.name for fit in bayes_fits_of(study)]
    study_fits = fits.filter(pl.col("fit").is_in(names))
    own_ids = _own_ids(db, study, study_fits, versions) if study_fits.height else []
    ordered = study_fits.select(_FIT).with_columns(is_own=pl.col("call_id").is_in(own_ids)).sort("is_own", "fitted_at")
    place = {name: number for number, name in enumerate(names)}
    newest = ordered.unique(KEY, keep="last")
    return newest.sort(*GRAIN, pl.col("fit").replace_strict(place, return_dtype=pl.Int64), "model", "test")


def bayes_fits_of(study: Study) -> list[Fit]:
    """Return its Bayesian fits, including those that every study of its design has."""
    return [fit for fit in fits_of(study).values() if fit.engine == ENGINE]


def tables_of_fits(tables: Mapping[str, pl.DataFrame], fits: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return `tables` by name, those of Bayesian fits without the rows of fits that are not shown; families of counts
    are next to each other."""
    ids = fits["call_id"].to_list()
    of_fits = {name for name in tables if name.startswith(_TABLES)} - {_FAMILIES}
    return {
        name: frame.filter(pl.col("call_id").is_in(ids)) if name in of_fits else frame for name, frame in tables.items()
    }


def stale_fit_warnings(fits: pl.DataFrame, study: Study) -> list[str]:
    """Return a sentence for each kept fit that is not of the current rows, definition and code."""
    stale = fits.filter(~pl.col("is_own")).unique(["fit", "source"], maintain_order=True)
    return [f"{row['fit']} ({row['source']}): {stale_fit_warning(study.name)}" for row in stale.to_dicts()]


def stale_fit_warning(study: str) -> str:
    return f"The stored fit has other rows (or other settings or R code); run: analyze --fit {ENGINE} --study {study}."


def _own_ids(db: str | Path, study: Study, fits: pl.DataFrame, versions: Mapping[str, str] | None) -> list[str]:
    """Return the ids of those that `fit()` would reuse. Without `versions`, different packages do not rule one
    out.
    """
    calls = [work.call for fit in bayes_fits_of(study) for work in plan_fits(db, study, fit)]
    return unchanged_ids(calls, fits, versions)
