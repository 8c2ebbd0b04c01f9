"""Choose which rows of a database are shown: those of the study as its file is now, or of the newest version that the
database has, unless a filter says otherwise. Other versions are mentioned, and never combined with these.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from slant.collector.errors import DatabaseBusyError, DatabaseError, SlantError, UnknownNameError, UsageError
from slant.collector.keep.database import fetched, reading
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import sql_query

_ANSWERS = "SELECT study_version, content, n_answers FROM version_answers WHERE study = ? AND study_version <> ?"
_CONTENTS = "SELECT content FROM study_contents WHERE study = ? AND study_version = ?"
_RUN_MODELS = "SELECT run_id, model, settings FROM run_models ORDER BY run_id, place"


@dataclass(frozen=True)
class ChosenRows:
    """Hold versions and runs as `showing` takes them (None: all), and what to say about the rest."""

    versions: list[str] | None
    runs: list[str] | None
    notes: tuple[str, ...] = ()


def chosen_rows(
    db: Path,
    study: str | None,
    *,
    study_version: str | None = None,
    run: str | None = None,
    settings: Sequence[str] = (),
    all_versions: bool = False,
) -> ChosenRows:
    """Return the rows to show. Versions and runs are given by their beginning, settings as KEY=VALUE. Raise UsageError
    if no such version, run or setting exists; without a database nothing is chosen."""
    if study_version and all_versions:
        raise UsageError("--study-version and --all-versions exclude each other: leave out one of them.")
    try:
        stored: dict[str, list[str]] = {}  # the newest last
        for known, known_version in fetched(db, sql_query("known_versions")):
            stored.setdefault(known, []).append(known_version)
    except DatabaseBusyError:
        raise
    except (DatabaseError, duckdb.CatalogException):  # the command itself reports the error
        return ChosenRows(None, None)
    runs = _matching_runs(db, run or "", settings) if run or settings else None
    if study_version:
        known = [version for versions in stored.values() for version in versions]
        matching = [version for version in known if version.startswith(study_version)]
        if not matching:
            raise UnknownNameError(f"version in {db}", study_version, known)
        return ChosenRows(matching, runs)
    if all_versions or all(len(versions) == 1 for versions in stored.values()):
        return ChosenRows(None, runs)
    of_file, notes = _version_of_file(db, study, stored)
    chosen = {name: of_file.get(name, versions[-1]) for name, versions in stored.items()}
    for name, version in chosen.items():
        if len(stored[name]) > 1 and (not of_file or name in of_file):
            notes += _other_versions(db, name, version)
    return ChosenRows(list(chosen.values()), runs, tuple(notes))


def _version_of_file(
    db: Path, name_or_path: str | None, stored: Mapping[str, list[str]]
) -> tuple[dict[str, str], list[str]]:
    """Return the version of the named file by study, if the database knows it; and a note if it does not."""
    if name_or_path is None:
        return {}, []
    try:
        study = load_study(name_or_path, db=db)
    except SlantError:
        return {}, []
    if study.name not in stored:
        return {}, []
    if study.version in stored[study.name]:
        return {study.name: study.version}, []
    newest = stored[study.name][-1]
    note = f"No model was asked version {study.version} of {study.name}, which is its file now; {newest} is shown."
    return {study.name: newest}, [note]


def _other_versions(db: Path, study: str, version: str) -> list[str]:
    with reading(db) as connection:
        contents = {content for (content,) in connection.execute(_CONTENTS, [study, version]).fetchall()}
        rows = connection.execute(_ANSWERS, [study, version]).fetchall()
    n_answers: Counter[str] = Counter()
    for other, content, count in rows:
        n_answers[other] += count if content not in contents else 0
    return [
        f"Not shown: {count:,} answers of version {other} of {study}. "
        f"To see them: --study-version {other}, or --all-versions"
        for other, count in sorted(n_answers.items())
        if count
    ]


def _matching_runs(db: Path, run: str, settings: Sequence[str]) -> list[str]:
    """Return run and model, as "RUN MODEL", of all that were asked with these settings."""
    rows = fetched(db, _RUN_MODELS)
    wanted = dict(map(_key_and_value, settings))
    matching = [
        f"{run_id} {model}"
        for run_id, model, sent in rows
        if run_id.startswith(run)
        and all(value in _values(json.loads(sent or "{}"), key) for key, value in wanted.items())
    ]
    run_ids = sorted({run_id for run_id, _, _ in rows})
    if not matching and run and not any(run_id.startswith(run) for run_id in run_ids):
        raise UnknownNameError(f"run in {db}", run, run_ids)
    if not matching:
        stored = sorted({sent for _, _, sent in rows if sent})
        raise UsageError(
            f"No answer in {db} was asked for with {' '.join(settings)}.",
            f"The settings there are: {'; '.join(stored)}.",
        )
    return matching


def _key_and_value(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise UsageError(f"--settings must be KEY=VALUE, as in temperature=0.2, but is {text}.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _values(settings: Any, key: str) -> Iterator[Any]:
    """Yield a key's values at any depth: some providers put temperature into a table."""
    for name, value in settings.items() if isinstance(settings, Mapping) else ():
        if name == key:
            yield value
        yield from _values(value, key)
