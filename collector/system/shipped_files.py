"""Find slant's own files: next to this package, both in the checkout (by links) and in an installed wheel."""

from __future__ import annotations

import csv
import functools
from pathlib import Path

# not resolved: in a checkout the package is a link, and its neighbours are links, too
_PACKAGE = Path(__file__).parent.parent


def sql_dir() -> Path:
    """Return the folder with migrations/, views/ and queries/."""
    return (_PACKAGE.parent / "sql").resolve()


@functools.cache
def sql_query(name: str) -> str:
    """Return the text of sql/queries/NAME.sql."""
    return (sql_dir() / "queries" / f"{name}.sql").read_text("utf-8")


@functools.cache
def documented_columns() -> frozenset[str]:
    """Return the names of all columns of slant's views of trials, in lower case."""
    with (sql_dir() / "columns.csv").open(encoding="utf-8", newline="") as file:
        return frozenset(row["column"].lower() for row in csv.DictReader(file))


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
