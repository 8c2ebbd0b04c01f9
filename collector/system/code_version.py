"""Find which slant this is: its version, and the commit of a checkout."""

from __future__ import annotations

import functools
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

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
