"""Where slant's own files lie: in the checkout they are at its top, in an installed wheel inside the packages."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def sql_dir() -> Path:
    """The folder with migrations/ and views/; the checkout's own is preferred, so that an edit takes effect."""
    checkout = _PACKAGE.parent / "sql"
    return checkout if (checkout / "migrations").is_dir() else _PACKAGE / "_sql"


def studies_dir() -> Path:
    """The folder with the studies that ship with slant."""
    return _PACKAGE / "studies"
