"""How commands ask for a study, and say which one they took."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from slant.analysis.rows.studies import study_in, study_names
from slant.collector.studies.catalogue import Study
from slant.collector.terminal import say

study_option = click.option(
    "--study", help="A study's name, or the path of its TOML file. Default: the one that the database holds."
)


def meant(db: Path, study: str | None, suits: Callable[[Study], bool] | None = None, what: str = "") -> Study:
    """`study_in`, which says on stderr which study it is about where the database holds others, too."""
    its = study_in(db, study, suits, what)
    if study is None and (others := [name for name in study_names(db) if name != its.name]):
        say(f'This is about "{its.name}". Here are also: {", ".join(others)} (--study NAME).')
    return its
