"""Load providers and designs of other packages, by entry points: the name, and the object's place.

    [project.entry-points."slant.providers"]
    acme = "slant_acme:PROVIDER"

    [project.entry-points."slant.designs"]
    rating = "slant_rating:DESIGN"

Only the package of a requested name is imported (and those of designs, for their views, when a database is made). A
name that slant has itself stays slant's: no package can put itself between a person and the key of a known provider.
"""

from __future__ import annotations

import functools
import sys
from importlib.metadata import EntryPoint, EntryPoints, entry_points
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
