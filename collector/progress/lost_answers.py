"""Warn of trials that ended without an answer: more than a few per cent of them, or unequally many by condition.

The rest may differ for that reason alone, so they should be looked at before any fit.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path

import duckdb

from slant.collector.ask.endings_seen import NOTHING_READ
from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading
from slant.collector.system.shipped_files import sql_query

MAX_LOST = 0.05
"""Limit the share of trials without an answer that needs no warning."""
MIN_DIFFERENCE = 0.02
"""Set the difference of shares between two conditions that matters, if chance does not explain it (p < .01)."""
_Z = 2.576

Count = tuple[str, int, int]
"""Hold a condition, its trials without an answer, and all its trials."""


def unequal_losses(counts: Sequence[Count]) -> str | None:
    """Return the two conditions that differ most in their share of trials without an answer, in words; None if
    chance may explain the difference (a z test of two shares at 1 %), or it is less than two points.
    """
    shares = sorted((lost / n, lost, n, name) for name, lost, n in counts if n)
    if len(shares) < 2:
        return None
    (low, lost_a, n_a, name_a), (high, lost_b, n_b, name_b) = shares[0], shares[-1]
    pooled = (lost_a + lost_b) / (n_a + n_b)
    error = math.sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    if high - low < MIN_DIFFERENCE or high - low <= _Z * error:
        return None
    return f"{lost_b:,} of {n_b:,} in {name_b}, {lost_a:,} of {n_a:,} in {name_a}"


def lost_answer_notes(db: Path, study: str, version: str | None = None) -> list[str]:
    """Return a sentence for each model that lacks too many answers. These are, of a study's collected trials, more than
    a few per cent, or unequally many by condition; none if the database can't be read now.
    """
    try:
        with reading(db, patience_s=1.0) as connection:
            rows = connection.execute(
                sql_query("outcomes_by_condition"), {"study": study, "version": version}
            ).fetchall()
    except (DatabaseError, duckdb.Error):
        return []
    notes = []
    for variant, model in dict.fromkeys((row[0], row[1]) for row in rows):
        own = [(condition, outcome, n) for v, m, condition, outcome, n in rows if (v, m) == (variant, model)]
        name = model if len({row[0] for row in rows}) == 1 else f"{model} ({variant})"
        if sentence := _sentence(name, own):
            notes.append(sentence)
    if notes:
        notes.append(f"Look at them before any fit: collect view --db {shlex.quote(str(db))}")
    return notes


def other_notes(notes: Sequence[str], lost: Sequence[str]) -> list[str]:
    """Return the notes of a run without the one that repeats `lost_answer_notes`."""
    return [note for note in notes if not lost or NOTHING_READ not in note]


def _sentence(model: str, rows: Sequence[tuple[str, str, int]]) -> str | None:
    n_all = sum(n for _, _, n in rows)
    lost = [(condition, outcome, n) for condition, outcome, n in rows if outcome != "answered"]
    n_lost = sum(n for _, _, n in lost)
    conditions = dict.fromkeys(condition for condition, _, _ in rows)
    by_condition = [
        (c, sum(n for of, _, n in lost if of == c), sum(n for of, _, n in rows if of == c)) for c in conditions
    ]
    differing = unequal_losses(by_condition)
    if not n_all or (n_lost / n_all <= MAX_LOST and differing is None):
        return None
    outcomes = dict.fromkeys(outcome for _, outcome, _ in lost)
    kinds = ", ".join(f"{sum(n for _, of, n in lost if of == outcome):,} {outcome}" for outcome in outcomes)
    unequally = f"; unequally: {differing}" if differing else ""
    return f"ATTENTION: {n_lost:,} of {n_all:,} trials of {model} ended without an answer ({kinds}{unequally})."
