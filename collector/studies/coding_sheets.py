"""Sheets of texts for people to code: what is in them, what they are drawn by, and what of them comes in again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from slant.collector.designs.coding.corrected_fits import CODE
from slant.collector.designs.study import Study
from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.keep.database import fetched
from slant.collector.keep.text_samples import SIMPLE, UNCERTAINTY
from slant.collector.system.shipped_files import sql_query

HEADER = ("item", "text_hash", "text", "coder", "code")


def check_coding(study: Study) -> None:
    """Raise UsageError for a study that codes no texts."""
    if study.design.name != "coding":
        raise UsageError(
            f'"{study.name}" codes no texts: its design is {study.design.name}.',
            f"To code its answers: collect studies new NAME --design coding --of FILE --study {study.name}",
        )


def strata_of(study: Study, by: str, db: Path) -> dict[str, str]:
    """Return the texts of a study, each with its level of what texts are drawn by: nothing, a factor, the condition, or
    the code that most models give. UnknownNameError for anything else."""
    check_coding(study)
    texts = study.data.texts
    if by in (SIMPLE, UNCERTAINTY):
        return dict.fromkeys(texts, "")
    if by == "condition":
        return {item: text.condition for item, text in texts.items()}
    if by == CODE:
        rows = fetched(db, sql_query("codes_by_models"), {"study": study.name})
        codes = dict(rows)
        return {item: codes.get(item, "") for item in texts}
    if by not in study.data.factors:
        known = [*study.data.factors, "condition", CODE, UNCERTAINTY]
        raise UnknownNameError("factor to draw texts by", by, known)
    return {item: text.factors.get(by, "") for item, text in texts.items()}


def sheet_rows(study: Study, items: Sequence[str]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the header of a sheet, and its rows; the texts are in an order that says nothing of them."""
    check_coding(study)
    order = sorted(items)
    random.Random(f"sheet {study.name} {study.seed}").shuffle(order)
    shown = [name for text in list(study.data.texts.values())[:1] for name in text.shown]
    texts = {item: study.data.texts[item] for item in order}
    rows = [(item, t.mark, *map(_safe, (t.text, *t.shown.values())), "", "") for item, t in texts.items()]
    return (*HEADER[:3], *shown, *HEADER[3:]), rows


def _safe(text: str) -> str:
    """Return a cell that no spreadsheet runs as a formula; it is not read again."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
