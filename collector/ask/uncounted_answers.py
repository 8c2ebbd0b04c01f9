"""Warn of counts that can't be used while there is still time: none where they are to be analysed, of several kinds
for one model, or in contradiction to each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from slant.collector.errors import DatabaseError, SlantError
from slant.collector.keep.database import reading
from slant.collector.records import Attempt
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import printable

_KINDS = {
    "usage": "the provider's count of the reasoning",
    "output": "all output tokens",
    "template": "tokens up to a closing mark",
    "retokenized": "counted again",
}
LOOKED_AT = 50


@dataclass(slots=True)
class Uncounted:
    """Count how many of the first answers of one model came without a count."""

    answers: int = 0
    readable: int = 0
    has_counts: bool = False

    def says_so(self, attempt: Attempt) -> bool:
        """Take note of one answer; True once, when `LOOKED_AT` answers have come and none has a count."""
        if self.has_counts or self.answers >= LOOKED_AT or attempt.outcome == "failed":
            return False
        self.has_counts = attempt.tokens is not None
        self.answers += 1
        self.readable += bool(attempt.reasoning_text) and attempt.reasoning_kind != "summary"
        return self.answers == LOOKED_AT and not self.has_counts

    @property
    def counts(self) -> tuple[int, int]:
        return self.answers, self.readable


def uncounted(model: str, answers: int, readable: int, db: str | Path) -> str:
    """Return the sentence for a model ("provider/name") none of whose answers has a count; `readable` is how many have
    reasoning that can be counted here.
    """
    subject = "the one answer came without" if answers == 1 else f"none of {answers:,} answers came with"
    what = "have its server report usage"
    if readable:
        what += f", or collect recount --model {model} --db {db} and --measure recounted"
    return f"{model}: {subject} a token count. Nothing to analyse: {what}."


def uncounted_notes(db: str | Path, study: str | None = None) -> list[str]:
    """Return a sentence for each model of a study about tokens that has answers and no count."""
    try:
        with reading(db) as connection:
            rows = connection.execute(sql_query("uncounted_models")).fetchall()
    except (DatabaseError, duckdb.Error):
        return []
    return [
        uncounted(f"{provider}/{name}", int(answers), int(readable), db)
        for of_study, provider, name, answers, readable in rows
        if study in (None, of_study) and _analyses_tokens(of_study, db)
    ]


def _analyses_tokens(study: str, db: str | Path) -> bool:
    try:
        return load_study(study, db=db).design.analyses.counts_tokens
    except SlantError:
        return False


def doubtful_count_notes(db: str | Path, study: str | None = None) -> list[str]:
    """Return a sentence for each model of a study whose answers have such counts; none if the database can't be read
    now.
    """
    try:
        with reading(db) as connection:
            rows = connection.execute(sql_query("doubtful_counts")).fetchall()
    except (DatabaseError, duckdb.Error):
        return []
    return [note for of_study, *row in rows if study in (None, of_study) for note in _doubts(*row)]


def _doubts(
    model: str, kinds: dict[str, int] | None, n_answers: int, n_conflicts: int, conflict: str | None
) -> Iterator[str]:
    kinds = kinds or {}
    if len(kinds) > 1:
        listed = ", ".join(f"{n:,} of {kind} ({_KINDS.get(kind, kind)})" for kind, n in kinds.items())
        yield (
            f"{model}: its token counts are of {len(kinds)} kinds, which can't be compared: {listed}. "
            "To analyse one of them: --measure output, or measure in the study."
        )
    if n_conflicts:
        yield (
            f"{model}: in {n_conflicts:,} of {n_answers:,} answers the provider's counts contradict each other "
            f"(column count_conflict). One of them: {printable((conflict or '')[:200])}."
        )
