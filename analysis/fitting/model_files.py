"""What a fit found, beside the cell it is of: the frames that callers see begin with source, study … and end with fit.

Where Bayesian models are among the fits, each frame says of each row what the chains behind it are worth.
"""

from __future__ import annotations

import polars as pl

from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.store import Fitted

CELL = ("source", "study", "study_version", "variant", "model", "test", "fit", "refusals_removed", "measure")


def beside_cells(found: Fitted, frame: pl.DataFrame) -> pl.DataFrame:
    """A frame of one engine or of all, with the columns of CELL in the place of `fit_id`."""
    cells = found.fits.select("fit_id", *CELL)
    return _last_is_fit(_with_verdict(found, _joined(cells, frame)))


def engine_frames(found: Fitted) -> dict[str, dict[str, pl.DataFrame]]:
    """By engine and name, the tables that only this engine has."""
    beside = {name: _of_cells if ENGINES[name].tables.are_of_cells else _of_all for name in found.tables}
    return {
        engine: {name: beside[engine](found, frame) for name, frame in its.items()}
        for engine, its in found.tables.items()
    }  # fmt: skip


def _of_all(found: Fitted, frame: pl.DataFrame) -> pl.DataFrame:
    cells = found.fits.select("fit_id", *(name for name in CELL if name not in ("model", "test")))
    return _last_is_fit(_joined(cells, frame))


def _of_cells(found: Fitted, frame: pl.DataFrame) -> pl.DataFrame:
    cells = found.fits.select("fit_id", *CELL)
    if "domain" in frame.columns:
        cells = cells.rename({"test": "domain"})
    joined = _with_verdict(found, _joined(cells, frame))
    own = [name for name in ("model", "domain") if f"{name}_right" in joined.columns]
    filled = joined.with_columns(pl.coalesce(f"{name}_right", name).alias(name) for name in own)
    return _last_is_fit(filled.drop(f"{name}_right" for name in own))


def _joined(cells: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    return cells.join(frame, on="fit_id", how="inner", maintain_order="left_right")


def _with_verdict(found: Fitted, joined: pl.DataFrame) -> pl.DataFrame:
    models = found.tables["brms"]["models"]
    if models.is_empty() or "verdict" in joined.columns:
        return joined
    verdicts = models.select("fit_id", "is_converged", "verdict")
    return joined.join(verdicts, on="fit_id", how="left", maintain_order="left")


def _last_is_fit(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.exclude("fit_id", "term_no", "fit"), "fit")
