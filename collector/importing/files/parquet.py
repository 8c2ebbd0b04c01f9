"""Reads Parquet; it has no lines, and a line is the number of a row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from slant.collector.errors import UsageError
from slant.collector.importing.files.records import Problem, Row, fault_in, tidy_name, unlike

_ROWS_AT_ONCE = 20_000


def scanned(path: Path) -> pl.LazyFrame:
    """Read this file's rows: no others that its name would match as a pattern, no columns that folders' names would
    give.
    """
    return pl.scan_parquet(path.absolute(), glob=False, hive_partitioning=False)


@contextmanager
def _parquet(path: Path) -> Iterator[pl.LazyFrame]:
    try:
        with path.open("rb"):
            yield scanned(path)
    except pl.exceptions.DuplicateError as error:
        raise UsageError(f"Can't import {path}.", f"Each column must have a name of its own, but: {error}.") from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise UsageError(f"Can't import {path}.", f"It must be a Parquet file, but: {error}") from error


def parquet_rows(path: Path, file: str) -> Iterator[Row | Problem]:
    with _parquet(path) as scan:
        names = [tidy_name(name) for name in scan.collect_schema()]
        for start in range(0, scan.select(pl.len()).collect().item(), _ROWS_AT_ONCE):
            for line, values in enumerate(scan.slice(start, _ROWS_AT_ONCE).collect().iter_rows(), start + 1):
                fault = fault_in(values)
                yield (Problem(file, line, fault) if fault else Row(file, line, dict(zip(names, values, strict=True))))


def parquet_columns(path: Path) -> list[str]:
    with _parquet(path) as scan:
        return unlike(str(path), [tidy_name(name) for name in scan.collect_schema()])
