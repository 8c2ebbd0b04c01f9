"""The finding about the samplers of a study's Bayesian fits, from the calibrations that `analyze calibrate` has kept:
a check makes none, for that takes minutes.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slant.analysis.questions.calibration import LEVEL, calibration_sentences, last_calibrations
from slant.analysis.questions.checks.sentences import CheckRows, Context, Verdict
from slant.analysis.rows.views import read_view, stored_views
from slant.collector.keep.database import reading
from slant.collector.terminal import count_text

CALIBRATION = "calibration"


def kept_calibrations(db: str | Path, study: str, source: str | None) -> dict[str, pl.DataFrame]:
    """Return by the name of the check the rows of the last calibration of each fit; nothing if there is none."""
    with reading(db) as connection:
        if "calibration_summary" not in stored_views(connection):
            return {}
        rows = read_view(connection, "calibration_summary", study=study, source=source)
    return {} if rows.is_empty() else {CALIBRATION: last_calibrations(rows)}


def sampler_quality(checks: CheckRows, context: Context) -> Verdict:
    """Return whether simulated truths are found again as often as the posteriors say."""
    rows = checks[CALIBRATION]
    off = rows.filter(pl.col("p_adjusted") < LEVEL)
    n_fits = rows["calibration_id"].n_unique()
    named = f" ({', '.join(off['quantity'].unique(maintain_order=True))})" if off.height else ""
    doubtful = rows.filter(pl.col("n_failed") + pl.col("n_doubtful") > 0)
    standing = "caution" if off.height else "note" if doubtful.height else "not found"
    verdict = (
        f"In {count_text(n_fits, 'Bayesian fit')} of data drawn from the priors, {off.height or 'none'} of "
        f"{rows.height} quantities {'is' if off.height < 2 else 'are'} found less well than posteriors say{named}."
    )
    return Verdict(standing, verdict, tuple(calibration_sentences(rows)))
