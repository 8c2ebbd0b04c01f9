"""Find versions of R and its packages that made results, and which of them differ from those here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from slant.analysis.bridge.r_home import version_numbers
from slant.analysis.bridge.worker import versions_now
from slant.analysis.fitting.fits import FitResult
from slant.analysis.rows.views import stored_views
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.provenance.bibtex import NO_R_PACKAGE


def versions_of_results(*results: FitResult) -> dict[str, str]:
    """Return versions of R and its packages, by name; several of one if results were made with several."""
    versions_by_name: dict[str, set[str]] = {}
    texts = pl.concat([result.diagnostics["versions"].drop_nulls() for result in results])
    for text in texts.unique(maintain_order=True):
        for name, version in json.loads(text).items():
            versions_by_name.setdefault(name, set()).add(str(version))
    versions_by_name.pop("definition", None)
    return {name: " and ".join(sorted(versions)) for name, versions in versions_by_name.items()}


def version_sentence(*results: FitResult) -> str:
    """Return a sentence with the versions that made these results; "" if they are unknown (as if all failed)."""
    versions = versions_of_results(*results)
    return f"Made with {', '.join(f'{name} {version}' for name, version in versions.items())}." if versions else ""


def kept_version_sentences(db: str | Path, study: str) -> Iterator[str]:
    """Yield sentences on what made the kept fits of a study; then on those that other versions made."""
    fits_by_versions: dict[str, list[str]] = {}
    kept = _kept_versions(db, study).select("fit", "versions").unique(maintain_order=True).sort("fit")
    for fit, text in kept.iter_rows():
        named = [f"{name} {version}" for name, version in json.loads(text).items() if name != "definition"]
        fits_by_versions.setdefault(", ".join(named), []).append(fit)
    for version_text, fits in fits_by_versions.items():
        yield f"Made with {version_text}: {', '.join(dict.fromkeys(fits))}."
    yield from other_version_sentences(db, study)


def other_version_sentences(db: str | Path, study: str | None = None) -> Iterator[str]:
    """Yield a sentence for each group of kept fits that were made by other versions than those here, or by unknown
    ones.

    Fits that `fit()` returns are made again if a version has changed; topics and other things that are only read from
    the database are not. Without R, nothing is made again.
    """
    counts: dict[tuple[str, str], int] = {}
    for fit, text in _kept_versions(db, study).select("fit", "versions").iter_rows():
        kept_versions = {name: version for name, version in json.loads(text).items() if name not in NO_R_PACKAGE}
        if difference := _difference(kept_versions, versions_now(tuple(sorted(kept_versions.keys() - {"R"})))):
            counts[fit, difference] = counts.get((fit, difference), 0) + 1
    for (fit, difference), n in sorted(counts.items()):
        yield f"Other versions: {n} fit{'s' if n > 1 else ''} of {fit} kept from {difference}."


def _kept_versions(db: str | Path, study: str | None) -> pl.DataFrame:
    with reading(db) as connection:
        rows: pl.DataFrame = frame_of(connection.view("fits").select("study, fit, versions"))
        if "topic_searches" in stored_views(connection):
            searches = frame_of(connection.view("topic_searches").select("study, fit, versions"))
            rows = pl.concat([rows, searches.with_columns(pl.format("{} (topics search)", "fit").alias("fit"))])
    rows = rows.drop_nulls("versions")
    return rows if study is None else rows.filter(pl.col("study") == study)


def _difference(kept_versions: Mapping[str, str], current_versions: Mapping[str, str] | None) -> str:
    """Return the differences in words; "" if there are none."""
    if current_versions is None:
        version_text = ", ".join(f"{name} {version}" for name, version in kept_versions.items())
        return f"{version_text}; R or one of these packages is missing here"
    different = {  # R writes one version in two ways: 1.1-31 and 1.1.31
        name: version
        for name, version in kept_versions.items()
        if version_numbers(version) != version_numbers(current_versions.get(name, ""))
    }
    return ", ".join(
        f"{name} {version} (here {current_versions.get(name, 'none')})" for name, version in different.items()
    )
