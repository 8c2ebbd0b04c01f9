"""What a layout is: how the columns of one kind of file become ours; and what those of published files have in common:
of which study and model they are, which columns they need, what their tests and wordings are called.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from slant.collector.designs import design_named, design_names
from slant.collector.designs.study import Study
from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import Problem, Row
from slant.collector.importing.layouts.values import CellError, shown

__all__ = ["Layout", "Problem", "Row"]

LEE_LAI_TESTS = {
    "race_original": "race_greenwald",
    "career_family": "gender_career",
    "math_arts": "gender_math",
    "science_arts": "gender_science",
    "mental_physical": "disease_permanence",
    "young_old": "age_valence",
}
"""What Lee & Lai call tests whose id is another in their study; the other four tests are called alike."""
_HINTS = ("Files with slant's own column names need: --layout tidy",)


class Layout(ABC):
    """Say how one kind of file is translated."""

    has_turns = False
    """True where drafts of a study of conversations are of turns, each with its number `turn` and `prompt_as_sent`."""

    skips_missing = False
    """True where an empty answer (or NA) is a missing one; elsewhere the layout itself says what it is."""

    @abstractmethod
    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        """Return warnings about a whole file. UsageError if it can't be of this layout; nothing is written then."""

    @abstractmethod
    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        """Return the row under the names of collector/importing/layouts/tidy.py. CellError if it can't be read."""

    def grouped(self, study: Study, rows: Iterable[Row | Problem]) -> Iterable[Row | Problem]:
        """Return a row for each answer, for draft(), of the rows of a file: several may be one answer, or one be
        several."""
        return rows


def check_study(layout: str, study: Study, has_model: bool) -> None:
    """Raise UsageError if the study's design has no such layout, or the model of the answers is not named."""
    if layout not in study.design.imports.layouts:
        designs = [design.name for design in map(design_named, design_names()) if layout in design.imports.layouts]
        raise UsageError(f"The layout {layout} is for {' and '.join(designs)} studies; {study.name} is none.")
    if not has_model:
        known = ", ".join(model.model for model in study.models)
        raise UsageError("These files don't say which model they are of.", f"Add --model, one of: {known}")


def check_columns(path: Path, missing: Sequence[str], columns: Sequence[str], hints: Sequence[str] = _HINTS) -> None:
    """Raise UsageError if columns are `missing` among those that a file has."""
    if missing:
        raise UsageError(
            f"Can't import {path}: it lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}.",
            f"It has: {', '.join(filter(None, columns)) or 'none'}.",
            *hints,
        )


def lee_lai_test(name: str) -> str:
    """Return the id of the test that Lee & Lai call by this name, in any case, with hyphens or blanks."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    return LEE_LAI_TESTS.get(plain, plain)


def wording_named(study: Study, name: str, column: str) -> tuple[str, int]:
    """Return the condition and the number of the wording that a cell of `column` names. CellError if there
    is none.
    """
    wordings = {getattr(named, "condition", named): number for number, named in study.data.wordings.items()}
    name = name or (next(iter(wordings)) if len(wordings) == 1 else "")
    if name not in wordings:
        raise CellError(f"{column} must be one of {', '.join(wordings)}, but is {shown(name)}")
    return name, wordings[name]
