"""The controlled experiments on the indices themselves: R makes the games up and measures them."""

from __future__ import annotations

from contextlib import closing

import polars as pl

from slant.analysis.bridge.worker import Died, run_jobs
from slant.collector.errors import RError


def controlled_rows() -> pl.DataFrame:
    """What R's controlled_indices() returns; it takes some seconds. RError where R is missing."""
    with closing(run_jobs(_job, [()], 1)) as results:
        for _, result in results:
            if isinstance(result, Died):
                raise RError(result.reason)
            rows: pl.DataFrame = result
    return rows


def _job(_: tuple[()]) -> pl.DataFrame:
    """Runs in a worker."""
    from slant.analysis.bridge import r

    value, _warnings = r.call("controlled_indices")
    frame: pl.DataFrame = value
    return frame
