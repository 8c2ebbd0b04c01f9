"""Where results come from: runs, a paragraph for the methods section, and the versions of R and its packages, with what
of them is another version here. Neither the machine nor its folders are named, for readers are elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from slant.analysis.bridge.r_home import version_numbers
from slant.analysis.bridge.worker import versions_now
from slant.analysis.fitting.fits import FitResult
from slant.analysis.rows.views import stored_views
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.provenance.bibtex import NO_R_PACKAGE
from slant.collector.provenance.methods import command_line, paragraph, references
from slant.collector.provenance.run_history import read_run_histories

_QUOTED_FOLDERS = re.compile(r"""(?<=["'])/(?:[^"'/\n]+/)+([^"'/\n]+)/?(?=["'])""")
_FOLDERS = re.compile(r"(?<![\w.:/~-])/(?:[^\s/\"']+/)+")
_RUN_COLUMNS = (
    "run_id", "source", "study_version", "variant", "seed", "repetitions", "code_version", "git_commit", "started_at",
    "finished_at", "end_reason", "command",
)  # fmt: skip


def described_runs(runs: pl.DataFrame) -> pl.DataFrame:
    """The runs in order: not their machine, and of files and folders only the last name. Empty columns are left out."""
    described = runs.select(_RUN_COLUMNS).with_columns(
        pl.col("command").map_elements(without_folders, return_dtype=pl.String),
        pl.col("git_commit").str.head(12),
        pl.col("started_at", "finished_at").dt.to_string("%Y-%m-%d %H:%M"),
    )
    return described.select(name for name in described.columns if described[name].null_count() < described.height)


@dataclass(frozen=True)
class MethodsText:
    """What is to be written about answers that were collected together, and the command that asks for them again."""

    paragraph: str
    references: tuple[str, ...]
    command: str


def describe_methods(db: str | Path, run_ids: Sequence[str]) -> list[MethodsText]:
    """One for each group of runs that together are one collection of answers.

    `run_ids` from the oldest to the latest; a run that a later one goes on from is told with that one.
    """
    texts: list[MethodsText] = []
    covered: set[tuple[str, str]] = set()
    for run_id, history in zip(run_ids[::-1], read_run_histories(Path(db), run_ids)[::-1], strict=True):
        anonymous = replace(history, run={**history.run, "machine": None})
        run_models = {(run_id, model["model"]) for model in anonymous.models}
        if run_models and run_models <= covered:
            continue
        covered |= {(row["run_id"], row["model"]) for row in anonymous.provenance}
        command = without_folders(command_line(anonymous) or "")
        texts.append(MethodsText(paragraph(anonymous), tuple(references(anonymous)), command))
    return texts[::-1]


def result_versions(*results: FitResult) -> dict[str, str]:
    """Versions of R and its packages, by name; several of one where results were made with several."""
    versions_by_name: dict[str, set[str]] = {}
    for text in pl.concat([result.diagnostics["versions"].drop_nulls() for result in results]).unique(
        maintain_order=True
    ):
        for name, version in json.loads(text).items():
            versions_by_name.setdefault(name, set()).add(str(version))
    versions_by_name.pop("definition", None)
    return {name: " and ".join(sorted(versions)) for name, versions in versions_by_name.items()}


def without_folders(text: str) -> str:
    """Absolute paths cut to their last name. A folder's name may hold blanks, so what is quoted is one path."""
    return _FOLDERS.sub("", _QUOTED_FOLDERS.sub(r"\1", text))


def version_sentence(*results: FitResult) -> str:
    """What made these results, in a sentence; "" where nothing is known (all failed, say)."""
    versions = result_versions(*results)
    return f"Made with {', '.join(f'{name} {version}' for name, version in versions.items())}." if versions else ""


def kept_version_sentences(db: str | Path, study: str) -> Iterator[str]:
    """What made the fits that the database keeps of a study, in sentences; then those that other versions made."""
    fits_by_versions: dict[str, list[str]] = {}
    for fit, text in (
        _kept_versions(db, study).select("fit", "versions").unique(maintain_order=True).sort("fit").iter_rows()
    ):
        version_text = ", ".join(
            f"{name} {version}" for name, version in json.loads(text).items() if name != "definition"
        )
        fits_by_versions.setdefault(version_text, []).append(fit)
    for version_text, fits in fits_by_versions.items():
        yield f"Made with {version_text}: {', '.join(dict.fromkeys(fits))}."
    yield from other_version_sentences(db, study)


def other_version_sentences(db: str | Path, study: str | None = None) -> Iterator[str]:
    """A sentence for each lot of fits in the database that other versions made than those here, or that can't be told.

    Fits that `fit()` returns are made again where a version has changed; topics and whatever else is only read from the
    database are not. Without R, nothing is made again.
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
    """What differs, in words; "" where nothing does."""
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
