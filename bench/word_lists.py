"""Word associations: reading a million answers, and D over a million of them in SQL.

The answers are simulated, of two models in all tests of `word_association`; they are read as they lie in the database,
which then gets copies of them, each with ids of its own.
"""

from __future__ import annotations

import json
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from bench.measures import Measure
from slant.collector.api import collect
from slant.collector.designs import design_named
from slant.collector.keep.database import reading, writing
from slant.collector.plan.conversations import plan
from slant.collector.records import Reply, Trial
from slant.collector.studies.catalogue import load_study

STUDY = "word_association"
MODELS = ("gpt-4o", "o3-mini")
READ_S, D_S = 60.0, 3.0
_ANSWERS = "SELECT model, test, item, wording, answer FROM attempts WHERE is_final"
_COPIES = """
INSERT INTO attempts
SELECT attempts.* REPLACE (attempt_id || n AS attempt_id, conversation_id || n AS conversation_id,
                           trial_id || n AS trial_id, repetition + n AS repetition)
FROM attempts CROSS JOIN range(1, ?) AS copies(n)
"""


def word_lists(answers: int) -> list[Measure]:
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "answers.duckdb"
        collect(db, STUDY, models=list(MODELS), simulated=True)
        with reading(db) as connection:
            given: dict[tuple[object, ...], str] = {
                tuple(cell): answer for *cell, answer in connection.execute(_ANSWERS).fetchall()
            }
        times = max(1, answers // len(given))
        with ProcessPoolExecutor(2) as pool:
            read_s = max(pool.map(seconds_to_read, [given] * 2, [times // 2 or 1] * 2))
        with writing(db) as connection:
            connection.execute(_COPIES, [times])
        taken = {view: seconds_to_count(db, view) for view in ("pairing_bias", "pairing_bias_by_condition")}
    size = f"{times * len(given):,} answers"
    return [
        Measure(f"reading word lists in two processes, {size}", read_s, "s", None, READ_S, "value"),
        *(Measure(f"{view}, {size}", seconds, "s", None, D_S, "value") for view, seconds in taken.items()),
    ]


def seconds_to_read(answers: dict[tuple[object, ...], str], times: int) -> float:
    study = load_study(STUDY)
    design = design_named(study.design)
    jobs: list[tuple[Trial, Reply]] = [
        (trial, Reply(answer=answer))
        for model in study.models
        for conversation in plan(study, model)
        for trial in conversation.trials
        if (answer := answers.get((trial.model, trial.test, trial.item, trial.wording))) is not None
    ]
    assert len(jobs) == len(answers)
    start = time.perf_counter()
    for _ in range(times):
        for trial, reply in jobs:
            json.dumps(design.read(study, trial, reply).factors)
    return time.perf_counter() - start


def seconds_to_count(db: Path, view: str) -> float:
    def once() -> float:
        with reading(db) as connection:
            start = time.perf_counter()
            rows: list[Any] = connection.execute(f"SELECT * FROM {view}").fetchall()  # noqa: S608
            assert rows
            return time.perf_counter() - start

    return median(once() for _ in range(3))
