"""Plans of a million trials: the memory they take, and how soon a run goes on that was nearly done."""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path
from statistics import median

import polars as pl

from bench.measures import Measure, measured, server
from bench.speed import IN_FLIGHT
from slant.collector.designs import design_named
from slant.collector.keep.database import writing
from slant.collector.keep.frames import registered
from slant.collector.keep.journal_lines import SCHEMA
from slant.collector.studies.catalogue import load_study

SMALL = 10_000
MILLION_REPETITIONS = 78  # 1,007,760 trials
RESUMED_REPETITIONS = 79  # 1,020,680 trials
DONE = 1_000_000
LEFT = 10_000


def memory(rounds: int, *, whole: bool) -> list[Measure]:
    """Both runs stop after the same number of answers, unless `whole`: then all of the large plan is asked."""
    small, large = [], []
    stop_after = 10**9 if whole else SMALL
    with server() as url:
        for _ in range(rounds):
            for repetitions, stop, peaks in ((1, SMALL, small), (MILLION_REPETITIONS, stop_after, large)):
                with tempfile.TemporaryDirectory() as folder:
                    found = measured("whole", url, Path(folder) / "a.duckdb", repetitions, IN_FLIGHT, stop)
                    peaks.append(found["peak_mb"])
    name = "peak memory of a plan of 1,000,000" + (", all asked" if whole else f", {SMALL:,} asked")
    return [Measure(name, median(large), "MB", median(small), 30.0, "difference")]


def resume() -> list[Measure]:
    """From the start of the process, imports apart, to the moment when the first request may go out."""
    with tempfile.TemporaryDirectory() as folder, server() as url:
        db = Path(folder) / "a.duckdb"
        fill(db)
        found = measured("whole", url, db, RESUMED_REPETITIONS, IN_FLIGHT, 100)
        return [Measure(f"resume with {DONE:,} trials done", found["start_s"], "s", None, 10.0, "value")]


def fill(db: Path) -> None:
    """A database in which the first million trials of the plan are answered, but for the prose of the answers."""
    study = load_study("rmiat")
    model = study.model("local/m")
    plan = design_named(study.design).plan(study, model, study.seed)
    ids = [plan.conversation_id(place) for place in islice(plan.places(RESUMED_REPETITIONS), DONE)]
    told = {
        "run_id": "filled", "source": "collected", "study": study.name, "study_version": study.version,
        "variant": study.variant, "model": model.model, "provider": model.provider, "outcome": "answered",
        "is_final": True, "tokens": 192,
    }  # fmt: skip
    frame = pl.DataFrame({"trial_id": ids}).with_columns(
        pl.int_range(DONE).alias("sequence"), *(pl.lit(value, SCHEMA[name]).alias(name) for name, value in told.items())
    )
    with writing(db) as connection, registered(connection, "new_rows", frame):
        connection.execute("INSERT INTO attempts BY NAME SELECT * FROM new_rows")
