"""Which versions of R and its packages made results, and what of them is another version here: results say so."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from slant.analysis.bridge.r_home import version_numbers
from slant.analysis.bridge.worker import versions_now
from slant.analysis.fitting.fits import FitResult
from slant.analysis.pages.origin import versions_of
from slant.analysis.rows.open import stored_views
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of

_OURS = ("slant", "definition")  # kept beside the versions, but no R package


def made_with(*results: FitResult) -> str:
    """What made these results, in a sentence; "" where nothing is known (all failed, say)."""
    versions = versions_of(*results)
    return f"Made with {', '.join(f'{name} {version}' for name, version in versions.items())}." if versions else ""


def told_versions(db: str | Path, study: str) -> Iterator[str]:
    """What made the fits that the database keeps of a study, in sentences; then those that other versions made."""
    lots: dict[str, list[str]] = {}
    for fit, text in _kept(db, study).select("fit", "versions").unique(maintain_order=True).sort("fit").iter_rows():
        then = ", ".join(f"{name} {version}" for name, version in json.loads(text).items() if name != "definition")
        lots.setdefault(then, []).append(fit)
    for then, fits in lots.items():
        yield f"Made with {then}: {', '.join(dict.fromkeys(fits))}."
    yield from other_versions(db, study)


def other_versions(db: str | Path, study: str | None = None) -> Iterator[str]:
    """A sentence for each lot of fits in the database that other versions made than those here, or that can't be told.

    Fits that `fit()` returns are made again where a version has changed; topics and whatever else is only read from the
    database are not. Without R, nothing is made again.
    """
    lots: dict[tuple[str, str], int] = {}
    for fit, text in _kept(db, study).select("fit", "versions").iter_rows():
        then = {name: version for name, version in json.loads(text).items() if name not in _OURS}
        if said := _difference(then, versions_now(tuple(sorted(then.keys() - {"R"})))):
            lots[fit, said] = lots.get((fit, said), 0) + 1
    for (fit, said), n in sorted(lots.items()):
        yield f"Other versions: {n} fit{'s' if n > 1 else ''} of {fit} kept from {said}."


def _kept(db: str | Path, study: str | None) -> pl.DataFrame:
    with reading(db) as connection:
        rows: pl.DataFrame = frame_of(connection.view("fits").select("study, fit, versions"))
        if "topic_searches" in stored_views(connection):
            searches = frame_of(connection.view("topic_searches").select("study, fit, versions"))
            rows = pl.concat([rows, searches.with_columns(pl.format("{} (topics search)", "fit").alias("fit"))])
    rows = rows.drop_nulls("versions")
    return rows if study is None else rows.filter(pl.col("study") == study)


def _difference(then: Mapping[str, str], now: Mapping[str, str] | None) -> str:
    """What differs, in words; "" where nothing does."""
    if now is None:
        told = ", ".join(f"{name} {version}" for name, version in then.items())
        return f"{told}; R or one of these packages is missing here"
    unlike = {name: version for name, version in then.items() if _number(version) != _number(now.get(name, ""))}
    return ", ".join(f"{name} {version} (here {now.get(name, 'none')})" for name, version in unlike.items())


def _number(version: str) -> tuple[int, ...]:
    return version_numbers(version)  # R writes one version in two ways: 1.1-31 and 1.1.31
