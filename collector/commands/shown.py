"""`--version`, `--run`, `--settings`, `--all-versions`: which rows of a database a command shows. Without them those of
the study as its file is now, or of the newest version that is here; others are mentioned, and never put together."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import duckdb

from slant.collector.errors import DatabaseBusyError, DatabaseError, SlantError, UnknownNameError, UsageError
from slant.collector.keep.database import reading, showing
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import say

_ANSWERS = "SELECT study_version, content, n_answers FROM version_answers WHERE study = ? AND study_version <> ?"
_CONTENTS = "SELECT content FROM study_contents WHERE study = ? AND study_version = ?"


@dataclass(frozen=True)
class Wanted:
    """What a person asks to be shown."""

    version: str | None = None
    run: str | None = None
    settings: tuple[str, ...] = ()
    all_versions: bool = False


@dataclass(frozen=True)
class Shown:
    """What is shown: versions and runs as `showing` takes them, and what to say about the rest."""

    versions: list[str] | None
    runs: list[str] | None
    notes: tuple[str, ...] = ()


def shown_options(command: Callable[..., Any]) -> Any:
    """A command with `db`, and perhaps `study`, that shows what these options say."""

    @functools.wraps(command)
    def chosen(
        *args: Any, version: str | None, run: str | None, settings: tuple[str, ...], all_versions: bool, **its: Any
    ) -> Any:
        wanted = Wanted(version, run, settings, all_versions)
        context = click.get_current_context()
        if context.invoked_subcommand is not None or context.resilient_parsing:
            return command(*args, **its)
        shown = what_is_shown(its["db"], its.get("study"), wanted)
        for note in shown.notes:
            say(note)
        with showing(shown.versions, shown.runs):
            return command(*args, **its)

    for option in (
        click.option("--all-versions", is_flag=True, help="Every version of the study, each in rows of its own."),
        click.option(
            "--settings", multiple=True, metavar="KEY=VALUE", help="Only what was asked so, as in temperature=0.2."
        ),
        click.option("--run", metavar="RUN", help="Only this run, by the beginning of its id."),
        click.option("--version", metavar="VERSION", help="Only this version of the study, by its beginning."),
    ):
        chosen = option(chosen)
    return chosen


def what_is_shown(db: Path, study: str | None, wanted: Wanted) -> Shown:
    """UsageError where there is no such version, run or setting; nothing is chosen where the database is not there."""
    if wanted.version and wanted.all_versions:
        raise UsageError("--version and --all-versions can't be had together.")
    try:
        here = _versions(db)
    except DatabaseBusyError:
        raise
    except (DatabaseError, duckdb.CatalogException):  # the command itself says what is wrong, or an older slant made it
        return Shown(None, None)
    runs = _runs(db, wanted) if wanted.run or wanted.settings else None
    if wanted.version:
        known = [version for versions in here.values() for version in versions]
        found = [version for version in known if version.startswith(wanted.version)]
        if not found:
            raise UnknownNameError(f"version in {db}", wanted.version, known)
        return Shown(found, runs)
    if wanted.all_versions or all(len(versions) == 1 for versions in here.values()):
        return Shown(None, runs)
    at_hand, notes = _at_hand(db, study, here)
    chosen = {name: at_hand.get(name, versions[-1]) for name, versions in here.items()}
    for name, version in chosen.items():
        if len(here[name]) > 1 and (not at_hand or name in at_hand):
            notes += _others(db, name, version)
    return Shown(list(chosen.values()), runs, tuple(notes))


def _versions(db: Path) -> dict[str, list[str]]:
    """By study, the versions that this database knows, the newest last."""
    found: dict[str, list[str]] = {}
    with reading(db) as connection:
        rows = connection.execute(sql_query("known_versions")).fetchall()
    for name, version in rows:
        found.setdefault(name, []).append(version)
    return found


def _at_hand(db: Path, study: str | None, here: Mapping[str, list[str]]) -> tuple[dict[str, str], list[str]]:
    """The version of the file that is meant, where the database knows it."""
    from slant.collector.studies.catalogue import load_study

    if study is None:
        return {}, []
    try:
        its = load_study(study, db=db)
    except SlantError:
        return {}, []
    if its.name not in here:
        return {}, []
    if its.version in here[its.name]:
        return {its.name: its.version}, []
    newest = here[its.name][-1]
    note = f"The study {its.name} is now version {its.version}, which nobody was asked; shown is {newest}."
    return {its.name: newest}, [note]


def _others(db: Path, study: str, version: str) -> list[str]:
    with reading(db) as connection:
        contents = {content for (content,) in connection.execute(_CONTENTS, [study, version]).fetchall()}
        rows = connection.execute(_ANSWERS, [study, version]).fetchall()
    others: Counter[str] = Counter()
    for other, content, count in rows:
        others[other] += count if content not in contents else 0
    return [
        f"Not shown: {count:,} answers of version {other} of {study}. To see them: --version {other}, or --all-versions"
        for other, count in sorted(others.items())
        if count
    ]


def _runs(db: Path, wanted: Wanted) -> list[str]:
    with reading(db) as connection:
        query = "SELECT run_id, model, settings FROM run_models ORDER BY run_id, place"
        rows = connection.execute(query).fetchall()
    asked = dict(map(_setting, wanted.settings))
    found = [
        f"{run_id} {model}"
        for run_id, model, settings in rows
        if run_id.startswith(wanted.run or "")
        and all(_has(json.loads(settings or "{}"), *its) for its in asked.items())
    ]
    if not found and wanted.run and not any(run_id.startswith(wanted.run) for run_id, _, _ in rows):
        raise UnknownNameError(f"run in {db}", wanted.run, sorted({run_id for run_id, _, _ in rows}))
    if not found:
        there = sorted({settings for _, _, settings in rows if settings})
        raise UsageError(f"Nothing was asked with {' '.join(wanted.settings)}.", f"Settings here: {'; '.join(there)}.")
    return found


def _setting(text: str) -> tuple[str, Any]:
    key, is_there, value = text.partition("=")
    if not key or not is_there:
        raise UsageError(f"--settings must be KEY=VALUE, as in temperature=0.2, but is {text}.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _has(settings: Any, key: str, value: Any) -> bool:
    return any(its == value for its in _values(settings, key))


def _values(settings: Any, key: str) -> Iterator[Any]:
    """What a key has in settings, however deep: providers put temperature into tables of their own."""
    for name, value in settings.items() if isinstance(settings, Mapping) else ():
        if name == key:
            yield value
        yield from _values(value, key)
