"""Define what a person fills in, in place of a model's free answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AskedField:
    """Define one answer that a trial wants: `options` as (what is stored, what is shown), or a typed answer of a `kind`
    (text or number) if there are none. `label` says which of several it is."""

    name: str
    label: str = ""
    options: tuple[tuple[str, str], ...] = ()
    kind: str = "text"
