"""Say of a report's fits what its methods paragraph needs: their clusters in words and their degrees of freedom."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from slant.analysis.fitting.fits import FitResult
from slant.collector.provenance.estimand_sentences import MadeFit


def made_fits(results: Mapping[str, FitResult]) -> dict[str, MadeFit]:
    """Return the fits that have estimates, by name."""
    return {name: _made(result) for name, result in results.items() if result.table.height}


def _made(result: FitResult) -> MadeFit:
    df = result.table["df"].cast(pl.Float64).drop_nulls()
    span = (float(df.min()), float(df.max())) if df.len() else None  # type: ignore[arg-type]
    return MadeFit(result.engine, result.diagnostics["optimiser"].drop_nulls().unique().to_list(), span)
