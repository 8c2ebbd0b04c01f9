"""What layouts of published files have in common: of which study and model they are, which columns they need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slant.collector.errors import UsageError
from slant.collector.study.records import Study


def check_study(layout: str, designs: Sequence[str], study: Study, has_model: bool) -> None:
    """UsageError where the study is of another design, or nobody says which model the answers are of."""
    if study.design not in designs:
        raise UsageError(f"The layout {layout} is for {' and '.join(designs)} studies; {study.name} is none.")
    if not has_model:
        known = ", ".join(model.model for model in study.models)
        raise UsageError("These files don't say which model they are of.", f"Add --model, one of: {known}")


def check_columns(path: Path, missing: Sequence[str], columns: Sequence[str]) -> None:
    """UsageError where columns are `missing` among those that a file has."""
    if missing:
        raise UsageError(
            f"Can't import {path}: it lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}.",
            f"It has: {', '.join(filter(None, columns)) or 'none'}.",
            "Files with slant's own column names need: --layout tidy",
        )
