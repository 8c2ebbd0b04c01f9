"""Write paths and commands of a run for the database's readers: without a home folder or a person's name."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

_CREDENTIALS = re.compile(r"//[^/@\s]*@")  # in an address that was typed with a name and a password
_LONGEST = 2000


def public_path(path: str | Path, db: Path) -> str:
    """Return a path relative to the database's folder, if it is in that or next to it; else its last name, as in
    …/study.toml.
    """
    place, folder = Path(path).expanduser().resolve(), db.resolve().parent
    for near in (folder, folder.parent):
        if place.is_relative_to(near) and (near == folder or not _holds_homes(near)):
            return os.path.relpath(place, folder)
    return f"…/{place.name}"


def _holds_homes(folder: Path) -> bool:
    """Return whether the entries of this folder may be named after people."""
    home = Path.home().resolve()
    return len(folder.parts) <= 2 or (home.is_relative_to(folder) and home != folder)


def typed_command(db: Path, words: Sequence[str] | None = None) -> str:
    """Return the command that started this process, without its program's folder and with public paths."""
    program, *rest = sys.argv if words is None else words
    name = Path(program).name
    if name == "__main__.py":
        name = f"python -m slant.{Path(program).parent.name}"
    return " ".join([name, *(shlex.quote(_word(word, db)) for word in rest)])[:_LONGEST]


def _word(word: str, db: Path) -> str:
    """Return a word of a command. A path may be a word, or what follows the = in one."""
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    if value.startswith(("/", "~", "..")):
        value = public_path(value, db)
    return _CREDENTIALS.sub("//", f"{option}{equals}{value}" if equals else option or value)
