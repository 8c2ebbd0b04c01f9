"""Reconstruct answers with the printed counts, for a paper whose raw data are not public.

The study's file reconstruction.csv says, for each model, test and condition, which words have no valid answer and which
have a valid but inconsistent one; every other answer is consistent. How many have no valid answer is printed (Table 3).
How many are inconsistent, and which words fail in more than one cell, is not printed: both were chosen so that the
models, fitted as the paper says, come near the printed posteriors (reconstruction.md, next to it). No model ever gave
these answers; each row says so in `detail`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.paper.numbers import PRINT
from slant.collector.errors import StudyError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.records import Trial
from slant.collector.studies.catalogue import Study

FILE = "reconstruction.csv"
MADE_UP = "reconstructed from printed counts, not an answer of this model"
_OTHER = {"A": "B", "B": "A"}
_OF_TRIAL = (
    *("model", "test", "condition", "item", "group", "wording", "repetition", "position"),
    *("option_a", "option_b", "expected"),
)
_Cells = dict[tuple[str, str, str], tuple[set[int], set[int]]]


def reconstruct_answers(study: Study) -> pl.DataFrame:
    """Return a row per trial of the study's plan, as `collect import --layout tidy` takes them; StudyError if the study
    has no file of that kind."""
    cells, design = _cells(study), study.design
    numbers = {test.test: _numbered(study, test.test) for test in study.tests}
    rows = [
        _row(trial, numbers[trial.test][trial.item], cells[trial.model, trial.test, trial.condition])
        for model in study.models
        for conversation in design.asks.conversations(study, model, study.seed, 1)
        for trial in conversation.trials
        if (trial.model, trial.test, trial.condition) in cells
    ]
    return pl.DataFrame(rows)


def reconstructed(db: str | Path, study: Study) -> pl.DataFrame:
    """Return the sources, study versions and variants with reconstructed rows."""
    with reading(db) as connection:
        attempts = connection.table("attempts").select("source, study_version, variant, study, is_final, detail")
        rows = attempts.filter(f"is_final AND study = '{study.name}' AND detail = '{MADE_UP}'")
        frame: pl.DataFrame = frame_of(rows.select("source, study_version, variant").distinct())
    return frame


def bases_in_words(compared: pl.DataFrame) -> Iterator[str]:
    """Say for reconstructed answers which numbers the print decides, and which it can only approach."""
    of_answers = compared.filter(pl.col("source") != PRINT)
    counts = Counter(of_answers["basis"].drop_nulls().to_list())
    if not counts:
        return
    yield "These answers are constructed from the paper's printed numbers (analyze reconstruct); no model gave them."
    tables = ", ".join(compared.filter(pl.col("basis") == "reproduction")["table"].unique(maintain_order=True))
    if counts["reproduction"]:
        yield f"Reproduced, because the printed counts decide them: {counts['reproduction']} numbers ({tables})."
    if counts["reconstruction"]:
        yield (
            f"Only reconstructed, because which words failed is not printed: {counts['reconstruction']} numbers. "
            "If they are close, the models are the paper's; its answers remain unknown."
        )


def _cells(study: Study) -> _Cells:
    path = study.path.parent / study.name / FILE
    if not path.is_file():
        raise StudyError(
            f'There is no reconstruction of "{study.name}".',
            f"It would be made from the file {path.name} in the study's folder, with the columns model, test, "
            "condition, invalid, inconsistent.",
        )
    return {
        (row[0], row[1], row[2]): (_span(row[3]), _span(row[4]))
        for row in pl.read_csv(path, infer_schema=False, glob=False).iter_rows()
    }


def _span(text: str | None) -> set[int]:
    """Return the numbers from 1 to 16 for "1-16", the number 40 alone for "40"."""
    if not text:
        return set()
    first, _, last = text.partition("-")
    return set(range(int(first), int(last or first) + 1))


def _numbered(study: Study, test: str) -> dict[str, int]:
    """Return the words of a test, from 1: the first of each group, then the second of each, so that neighbours are of
    different groups.
    """
    words = study.data.tests[test].words
    groups = dict.fromkeys(word.group for word in words)
    columns = [[word.word for word in words if word.group == group] for group in groups]
    turns: Iterator[str] = (word for turn in zip_longest(*columns) for word in turn if word is not None)
    return {word: number for number, word in enumerate(turns, start=1)}


def _row(trial: Trial, number: int, cell: tuple[set[int], set[int]]) -> dict[str, Any]:
    invalid, inconsistent = cell
    letter = trial.factors["consistent_letter"]
    letter = _OTHER[letter] if number in inconsistent else letter
    return {
        **{name: getattr(trial, name) for name in _OF_TRIAL},
        "factors": json.dumps(dict(trial.factors)),
        "answer": json.dumps({"answer": "" if number in invalid else letter}),
        "detail": MADE_UP,
    }
