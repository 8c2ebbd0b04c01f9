"""Which kept topic model is shown and set beside print. Print is about one definition and one set of texts, so only a
fit of the study's own definition to the texts that are here today is compared with it.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slant.analysis.calls.results import unchanged_ids
from slant.analysis.fitting.work import fit_work
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.open import read_view, stored_views
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import Study

STALE = "The kept topic model was fitted to other texts (or with other settings or R code); run: analyze --fit stm."


def shown_models(db: str | Path, study: Study) -> pl.DataFrame:
    """Rows of topic_models, one for each source, version and variant, and `is_own`: whether it may be compared.

    The study's own fit of today's texts where there is one, else the model that was fitted last. No rows where none
    was fitted, or an older slant made the database.
    """
    with reading(db) as connection:
        if "topic_models" not in stored_views(connection):
            return pl.DataFrame(schema={**dict.fromkeys((*GRAIN, "call_id"), pl.String), "is_own": pl.Boolean})
        models = read_view(connection, "topic_models").filter(pl.col("study") == study.name)
    own = _own(db, study, models) if models.height else []
    ordered = models.with_columns(is_own=pl.col("call_id").is_in(own)).sort("is_own", "fitted_at", maintain_order=True)
    return ordered.unique(GRAIN, keep="last", maintain_order=True)


def stale_models(db: str | Path, study: Study) -> list[str]:
    """A sentence for each source whose topics are not those of its texts and the study's settings."""
    shown = shown_models(db, study)
    return [f"Topics ({source}): {STALE}" for source in shown.filter(~pl.col("is_own"))["source"].unique().sort()]


def _own(db: str | Path, study: Study, models: pl.DataFrame) -> list[str]:
    """The ids of those that `fit()` would take as they are, whatever the versions of packages (which are told)."""
    definitions = [fit for fit in study.fits.values() if fit.engine == "stm"]
    return unchanged_ids([work.call for fit in definitions for work in fit_work(db, study, fit)], models, None)
