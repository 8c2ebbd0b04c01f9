"""Define what can go wrong, as one tree. A person sees these sentences; a traceback is our defect.

SlantError                 exit 1   something could not be done
├── UsageError             exit 2   what was typed or written in a file is wrong; nothing was written
│   ├── StudyError                  a study file breaks the rules
│   └── UnknownNameError            a name that nothing has; says the nearest one that exists
├── DatabaseError          exit 1   the database is not ours, not readable, or held by another process
│   ├── DatabaseBusyError           another process holds the file
│   ├── DatabaseDamagedError        the file is damaged; its journal, if it has one, restores it
│   ├── DatabaseEmptyError          the file exists, but slant has put nothing into it yet
│   └── DatabaseWriteError          the file can't be written (disk full …); the journal still has everything
├── JournalError           exit 1   the journal can't be written, or another collector holds it
├── ProviderError          exit 1   a provider refuses to serve this model (key, quota, name)
├── DesignError            exit 1   a design of another package can't be used
├── Interrupted            exit 130 left at once, as asked by a second Ctrl-C
└── RError                 exit 1   R is missing, too old, lacks a package, or a worker died
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Collection, Iterable


def as_typed(path: object) -> str:
    """Return a path as a shell takes it: hints are copied."""
    return shlex.quote(str(path))


class SlantError(Exception):
    """Say what can't happen, what must hold and what was found, and what to type next."""

    exit_code = 1

    def __init__(self, what: str, *details: str) -> None:
        super().__init__(what, *details)
        self.what = what
        self.details = details

    def __str__(self) -> str:
        return "\n".join([self.what, *(f"  {line}" for line in self.details)])


class UsageError(SlantError):
    exit_code = 2


class StudyError(UsageError):
    pass


_MANY_NAMES, _NEAREST = 20, 5
NEAR = 0.65
"""How alike two names must be (`difflib`) for one to be meant by the other: "lme4" is not "amie"."""


class UnknownNameError(UsageError):
    """Report an unknown study, model, key, table …, with the nearest known name. `kind`: what it would be, and
    optionally in which place ("variant in mine.toml")."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *details: str) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1, cutoff=NEAR)
        known_names = f"Known: {', '.join(filter(None, names))}." if names else "There are none."
        if len(names) > _MANY_NAMES:
            nearest = difflib.get_close_matches(name, names, n=_NEAREST, cutoff=0)
            known_names = f"The nearest of {len(names)}: {', '.join(nearest)}."
        hint = f'Did you mean "{near[0]}"?' if near else known_names
        noun, *place = kind.split(" in ", maxsplit=1)
        where = "".join(f" in {part}" for part in place)
        super().__init__(f'There is no {noun} "{name}"{where}. {hint}', *details)


def check_known(kind: str, name: str, known: Collection[str]) -> None:
    """Raise UnknownNameError, whose `kind` this is, for a name that is none of these."""
    if name not in known:
        raise UnknownNameError(kind, name, known)


class UnknownTrialError(UnknownNameError):
    """Report a trial or game that a database lacks, which may have millions of others."""

    def __init__(self, kind: str, name: str) -> None:
        UsageError.__init__(self, f'There is no {kind} "{name[:80]}" in this database.')


class DatabaseError(SlantError):
    pass


class DatabaseBusyError(DatabaseError):
    pass


class DatabaseDamagedError(DatabaseError):
    pass


class DatabaseEmptyError(DatabaseError):
    pass


class DatabaseWriteError(DatabaseError):
    pass


class OlderDatabaseError(DatabaseError):
    pass


class JournalError(SlantError):
    pass


class ProviderError(SlantError):
    pass


class DesignError(SlantError):
    pass


class Interrupted(SlantError):
    exit_code = 130


class RError(SlantError):
    pass
