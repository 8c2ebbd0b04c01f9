"""Providers of other packages, by the entry point group "slant.providers": the name, and where its Provider stands.

    [project.entry-points."slant.providers"]
    acme = "slant_acme:PROVIDER"

Only the package of a provider that is asked for is imported. A name that slant has itself stays slant's: no package can
put itself between a person and the key of a known provider.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from slant.collector.errors import ProviderError

GROUP = "slant.providers"
T = TypeVar("T")


def third_party_names() -> list[str]:
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def load_third_party(name: str, kind: type[T]) -> T | None:
    """The object of this name, None where no package has it. ProviderError where it can't be had or isn't a `kind`."""
    # a package that is on the path twice (a checkout and an installed copy) says the same thing twice
    entries = {(entry.value, _package(entry)): entry for entry in entry_points(group=GROUP, name=name)}
    if not entries:
        return None
    if len(entries) > 1:
        packages = ", ".join(sorted(_package(entry) for entry in entries.values()))
        raise ProviderError(f'More than one package has a provider "{name}": {packages}.', "Uninstall all but one.")
    [entry] = entries.values()
    try:
        found = entry.load()
    except Exception as error:  # whatever a stranger's module raises while it is imported
        reason = f"{type(error).__name__}: {error}"
        raise ProviderError(f'The provider "{name}" of {_package(entry)} can\'t be loaded.', reason) from error
    if not isinstance(found, kind) or getattr(found, "name", None) != name:
        raise ProviderError(
            f'The provider "{name}" of {_package(entry)} is not what it says.',
            f'{entry.value} must be a collector.providers.{kind.__name__} with name="{name}", but it is {found!r:.200}',
        )
    return found


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value
