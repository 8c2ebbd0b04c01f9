"""Tables and pages of large databases: how long each takes, and what memory."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import unquote_plus

from bench.measures import Measure, by_r, kept_trials, made_trials, measured
from slant.analysis.rows.views import table_info
from slant.collector.api import collect
from slant.collector.keep.database import reading, writing
from slant.collector.plan.conversations import plan
from slant.collector.records import Reply, Trial
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import sql_query
from slant.collector.view.pages import Pages
from slant.collector.view.server import ServerLinks

LONGEST_S, LONGEST_OF_GAMES_S = 3.0, 2.0
MOST_MB = 2000.0
EFFECTS_S, EFFECTS_MB = 15.0, 4000.0
ROUNDS_SQL, PROFILES_SQL = (Path(__file__).parent / name for name in ("game_rounds.sql", "profiles.sql"))
# what trials.sql leaves out, for no table wants it: the study's design and its conditions
_RUNS = (
    "UPDATE runs SET design = 'association'",
    "INSERT INTO run_conditions SELECT run_id, 1, 'compatible', 1, NULL FROM runs",
    "INSERT INTO run_conditions SELECT run_id, 2, 'incompatible', 2, NULL FROM runs",
)
_LIMITS_S = {1_000_000: 0.3, 10_000_000: 1.0}
WORDS_STUDY = "word_association"
WORDS_MODELS = ("gpt-4o", "o3-mini")
READ_S, D_S = 60.0, 3.0
_ANSWERS = "SELECT model, test, item, wording, answer FROM attempts WHERE is_final"
_COPIES = """
INSERT INTO attempts
SELECT attempts.* REPLACE (attempt_id || n AS attempt_id, conversation_id || n AS conversation_id,
                           trial_id || n AS trial_id, repetition + n AS repetition)
FROM attempts CROSS JOIN range(1, ?) AS copies(n)
"""


def views(trials: int) -> list[Measure]:
    """Each table of sql/views/2_tables over that many trials."""
    with tempfile.TemporaryDirectory() as folder:
        db = kept_trials(Path(folder), trials)
        runs = {name: measured("tables", db, name)[name] for name in table_info()}
    size = f"{trials:,} trials"
    peak = max(runs, key=lambda name: float(runs[name]["peak_mb"]))
    return [
        *(Measure(f"{name}, {size}", run["wall_s"], "s", None, LONGEST_S, "value") for name, run in runs.items()),
        Measure(f"most memory of a table ({peak})", runs[peak]["peak_mb"], "MB", None, MOST_MB, "value"),
    ]


def game_tables(games: int) -> list[Measure]:
    """The tables of games over the rounds that game_rounds.sql makes, all indices among them."""
    with tempfile.TemporaryDirectory() as folder:
        db = _filled(Path(folder) / "games.duckdb", ROUNDS_SQL, "games", games)
        names = [name for name in table_info() if name.startswith("allocation_")]
        seconds = {name: run["wall_s"] for name, run in measured("tables", db, *names).items()}
    return [
        Measure(f"{name}, {games:,} games", wall_s, "s", None, LONGEST_OF_GAMES_S, "value")
        for name, wall_s in seconds.items()
    ]


def profile_tables(profiles: int) -> list[Measure]:
    """The tables of factorial studies over the profiles that profiles.sql makes, and R's functions over as many."""
    with tempfile.TemporaryDirectory() as folder:
        db = _filled(Path(folder) / "profiles.duckdb", PROFILES_SQL, "profiles", profiles)
        names = [name for name in table_info() if name.startswith("factorial_")]
        runs = measured("tables", db, *names)
    by_r_s = by_r("profiles.R", profiles)
    size = f"{profiles:,} profiles"
    effects_s, both_s = by_r_s["amce"], by_r_s["marginal_means"] + by_r_s["balance"]
    peak_mb = max(run["peak_mb"] for run in runs.values())
    return [
        *(Measure(f"{name}, {size}", run["wall_s"], "s", None, LONGEST_S, "value") for name, run in runs.items()),
        Measure("most memory of these tables", peak_mb, "MB", None, MOST_MB, "value"),
        Measure(f"marginal means and balance in R, {size}, processor", both_s, "s", None, LONGEST_S, "value"),
        Measure(f"AMCE in R, {size}, processor", effects_s, "s", None, EFFECTS_S, "value"),
        Measure("most memory of R", by_r_s["peak_mb"], "MB", None, EFFECTS_MB, "value"),
    ]


def _filled(db: Path, script: Path, variable: str, number: int) -> Path:
    """Make a database with the attempts that a script has as its view new_rows."""
    with writing(db) as connection:
        connection.execute(f"SET VARIABLE {variable} = ?", [number])
        connection.execute(script.read_text(encoding="utf-8"))
        connection.execute(f"INSERT INTO attempts BY NAME {sql_query('typed_rows')}")
    return db


def view_pages(trials: int, repeats: int) -> list[Measure]:
    """Each page of `collect view` as a reader waits for it, from the address to the last byte, and its processor time,
    which a busy machine changes less: the median of several looks, in a viewer that runs but remembers no counts.
    `SLANT_BENCH_PAGES=10000000` is for ten million trials: 4 GB of disk.
    """
    trials = int(os.environ.get("SLANT_BENCH_PAGES", trials))
    with tempfile.TemporaryDirectory() as folder:
        db = made_trials(Path(folder) / "trials.duckdb", trials)
        with writing(db) as connection:
            for statement in _RUNS:
                connection.execute(statement)
        pages = Pages(db, ServerLinks("token"))
        costs = {name: [_cost(pages, look) for _ in range(repeats)] for name, look in _looks(pages).items()}
    limit = _LIMITS_S.get(trials, 1.0)
    measures = []
    for name, taken in costs.items():
        wall_s, processor_s = (median(values) for values in zip(*taken, strict=True))
        measures.append(Measure(f"{name}, {trials:,} trials", wall_s, "s", None, limit, "value"))
        measures.append(Measure(f"{name}, its processor time", processor_s, "s", None, limit, "value"))
    return measures


def _looks(pages: Pages) -> dict[str, Callable[[], str]]:
    """Each page by what it is called, made once already: its template is read."""
    first = pages.trials({})
    trial_id = re.findall(r"/trial/(\w+)", first)[20]
    after = unquote_plus(re.findall(r"after=([^\"&]+)", first)[0])
    filtered = {"model": "qwen3-8b", "outcome": "refused"}
    named: dict[str, Callable[[], str]] = {
        "list of trials": lambda: pages.trials({}),
        "the next page": lambda: pages.trials({"after": after}),
        "with filters": lambda: pages.trials(filtered),
        "by tokens, with a condition": lambda: pages.trials({"sort": "-tokens", "where": "choice <> expected"}),
        "one trial": lambda: pages.trial(trial_id, filtered),
        "list of pairs": lambda: pages.pairs({}),
        "one pair": lambda: pages.pair({}),
        "runs": lambda: pages.runs({}),
        "list of tables": lambda: pages.tables({}),
        "a view of trials": lambda: pages.table("association_trials", {}),
    }
    for look in named.values():
        look()
    return named


def _cost(pages: Pages, look: Callable[[], str]) -> tuple[float, float]:
    """Seconds on the wall and of the processor, all threads."""
    pages.forget()
    began, used = time.perf_counter(), time.process_time()
    look()
    return time.perf_counter() - began, time.process_time() - used


def word_lists(answers: int) -> list[Measure]:
    """Word associations: reading that many answers, and D over as many in SQL. The answers are simulated, of two models
    in all tests; they are read as they lie in the database, which then gets copies of them, each with ids of its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "answers.duckdb"
        collect(db, WORDS_STUDY, models=list(WORDS_MODELS), simulated=True)
        with reading(db) as connection:
            given: dict[tuple[object, ...], str] = {
                tuple(cell): answer for *cell, answer in connection.execute(_ANSWERS).fetchall()
            }
        times = max(1, answers // len(given))
        with ProcessPoolExecutor(2) as pool:
            read_s = max(pool.map(_seconds_to_read, [given] * 2, [times // 2 or 1] * 2))
        with writing(db) as connection:
            connection.execute(_COPIES, [times])
        taken = {view: _seconds_to_count(db, view) for view in ("pairing_bias", "pairing_bias_by_condition")}
    size = f"{times * len(given):,} answers"
    return [
        Measure(f"reading word lists in two processes, {size}", read_s, "s", None, READ_S, "value"),
        *(Measure(f"{view}, {size}", seconds, "s", None, D_S, "value") for view, seconds in taken.items()),
    ]


def _seconds_to_read(answers: dict[tuple[object, ...], str], times: int) -> float:
    study = load_study(WORDS_STUDY)
    design = study.design
    jobs: list[tuple[Trial, Reply]] = [
        (trial, Reply(answer=answer))
        for model in study.models
        for conversation in plan(study, model)
        for trial in conversation.trials
        if (answer := answers.get((trial.model, trial.test, trial.item, trial.wording))) is not None
    ]
    assert len(jobs) == len(answers)
    began = time.perf_counter()
    for _ in range(times):
        for trial, reply in jobs:
            json.dumps(design.reads.read(study, trial, reply).factors)
    return time.perf_counter() - began


def _seconds_to_count(db: Path, view: str) -> float:
    def once() -> float:
        with reading(db) as connection:
            began = time.perf_counter()
            rows: list[Any] = connection.execute(f"SELECT * FROM {view}").fetchall()  # noqa: S608
            assert rows
            return time.perf_counter() - began

    return median(once() for _ in range(3))
