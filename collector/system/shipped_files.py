"""Find slant's own files: next to this package, both in the checkout (by links) and in an installed wheel.

Find which slant this is: its version, and the commit of a checkout.

Load providers and designs of other packages, by entry points: the name, and the object's place.

    [project.entry-points."slant.providers"]
    acme = "slant_acme:PROVIDER"

    [project.entry-points."slant.designs"]
    rating = "slant_rating:DESIGN"

Only the package of a requested name is imported (and those of designs, for their views, when a database is made). A
name that slant has itself stays slant's: no package can put itself between a person and the key of a known provider."""

from __future__ import annotations

import csv
import functools
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint, EntryPoints, PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import TypeVar

from slant.collector.errors import SlantError

T = TypeVar("T")


def third_party_names(group: str) -> list[str]:
    return sorted({entry.name for entry in _entries(group)})


def _entries(group: str) -> EntryPoints:
    """Return a group's entry points. Finding them reads every package that is installed, some 40 ms each time."""
    return _entries_on(group, tuple(sys.path))


@functools.cache
def _entries_on(group: str, _path: tuple[str, ...]) -> EntryPoints:
    return entry_points(group=group)


def load_third_party(group: str, name: str, kind: type[T], error: type[SlantError]) -> T | None:
    """Return the object of this name, None if no package has it. Raise `error` if it can't be loaded or isn't a
    `kind`."""
    what = group.partition(".")[2].removesuffix("s")
    # a package that is on the path twice (a checkout and an installed copy) has the same entry twice
    entries = {(entry.value, _package(entry)): entry for entry in _entries(group).select(name=name)}
    if not entries:
        return None
    if len(entries) > 1:
        packages = ", ".join(sorted(_package(entry) for entry in entries.values()))
        raise error(f'More than one package has a {what} "{name}": {packages}.', "Uninstall all but one.")
    [entry] = entries.values()
    try:
        part = entry.load()
    except Exception as problem:  # whatever a stranger's module raises while it is imported
        reason = f"{type(problem).__name__}: {problem}"
        raise error(f'The {what} "{name}" of {_package(entry)} can\'t be loaded.', reason) from problem
    if not isinstance(part, kind) or getattr(part, "name", None) != name:
        raise error(
            f'The {what} "{name}" of {_package(entry)} is not what it says.',
            f'{entry.value} must be a {kind.__module__}.{kind.__name__} with name = "{name}", but it is {part!r:.200}',
        )
    return part


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value


_CHECKOUT = Path(__file__).resolve().parents[2]


def current_code_version() -> str:
    """Return slant's version: as it is installed, else as the checkout of this code says."""
    try:
        return version("slant")
    except PackageNotFoundError:
        checkout = _CHECKOUT / "pyproject.toml"
    try:
        return f"{tomllib.loads(checkout.read_text('utf-8'))['project']['version']} (a checkout, not installed)"
    except (OSError, ValueError, KeyError):
        return "unknown (not installed)"


@functools.cache  # the code that runs is the one that this process has read
def git_commit() -> str | None:
    """Return the commit of the checkout that this code runs from, with "+" if files differ from it; None
    elsewhere.
    """
    if not (_CHECKOUT / ".git").exists():
        return None
    commit = _git(_CHECKOUT, "rev-parse", "HEAD")
    changed = _git(_CHECKOUT, "status", "--porcelain", "--untracked-files=no")
    return None if commit is None else f"{commit}{'+' if changed else ''}"


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):  # no git here, or a checkout that belongs to another user
        return None
    return done.stdout.strip()


# not resolved: in a checkout the package is a link, and its neighbours are links, too
_PACKAGE = Path(__file__).parent.parent


def sql_dir() -> Path:
    """Return the folder with migrations/, views/ and queries/."""
    return (_PACKAGE.parent / "sql").resolve()


@functools.cache
def sql_query(name: str) -> str:
    """Return the text of sql/queries/NAME.sql."""
    return (sql_dir() / "queries" / f"{name}.sql").read_text("utf-8")


def csv_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table that ships with slant."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@functools.cache
def column_meanings(name: str = "columns") -> dict[str, str]:
    """Return the meaning, unit and values of each column of slant's views of trials, as sql/columns.csv says them; of
    views of results, as sql/result_columns.csv does."""
    return {
        row["column"]: row["meaning"]
        + (f" ({row['unit']})" if row["unit"] else "")
        + (f": {row['values']}" if row["values"] else "")
        for row in csv_rows(sql_dir() / f"{name}.csv")
    }


@functools.cache
def documented_columns() -> frozenset[str]:
    """Return the names of all columns of slant's views of trials, in lower case."""
    return frozenset(map(str.lower, column_meanings()))


def engines_file() -> Path:
    """Return the table of engines, which R reads too."""
    return (_PACKAGE.parent / "inst" / "engines.csv").resolve()


def templates_dir() -> Path:
    """Return the folder with a study to start from for each design."""
    return (_PACKAGE / "studies" / "templates").resolve()


def studies_dir() -> Path:
    """Return the folder of the shipped studies."""
    return (_PACKAGE / "studies").resolve()


def checklists_dir() -> Path:
    """Return the folder with the reporting checklists, as TOML."""
    return (_PACKAGE / "provenance" / "checklists").resolve()


def r_script(name: str) -> Path:
    """Return a script of inst/scripts/, for Rscript."""
    return (_PACKAGE.parent / "inst" / "scripts" / name).resolve()


@functools.cache
def page_style() -> str:
    """Return the style that all pages share, as CSS."""
    return (_PACKAGE / "view" / "templates" / "page.css").read_text("utf-8")
