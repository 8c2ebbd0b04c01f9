"""Paths and commands as a run's row may tell them to whoever gets the database: no home folder, no name of a person."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

_CREDENTIALS = re.compile(r"//[^/@\s]*@")  # of an address that was typed with a name and a password
_LONGEST = 2000


def public_path(path: str | Path, db: Path) -> str:
    """Return a path from the database's folder, where it lies in that or next to it; else its last name, as in
    …/study.toml.
    """
    place, folder = Path(path).expanduser().resolve(), db.resolve().parent
    for near in (folder, folder.parent):
        if place.is_relative_to(near) and (near == folder or not _holds_homes(near)):
            return os.path.relpath(place, folder)
    return f"…/{place.name}"


def _holds_homes(folder: Path) -> bool:
    """Whether what lies next to each other here may be named after people."""
    home = Path.home().resolve()
    return len(folder.parts) <= 2 or (home.is_relative_to(folder) and home != folder)


def typed_command(db: Path, words: Sequence[str] | None = None) -> str:
    """Return the command that this process was started with, without a folder of its program and with paths as told."""
    program, *rest = sys.argv if words is None else words
    name = Path(program).name
    if name == "__main__.py":
        name = f"python -m slant.{Path(program).parent.name}"
    return " ".join([name, *(shlex.quote(_word(word, db)) for word in rest)])[:_LONGEST]


def _word(word: str, db: Path) -> str:
    """One word of a command. What may be a path is a word, or what follows the = in one."""
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    if value.startswith(("/", "~", "..")):
        value = public_path(value, db)
    return _CREDENTIALS.sub("//", f"{option}{equals}{value}" if equals else option or value)
