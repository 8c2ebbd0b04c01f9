"""Each page of `collect view` over a million trials, as a reader waits for it: from the address to the last byte."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from urllib.parse import unquote_plus

from bench.measures import Measure
from bench.views import make
from slant.collector.keep.database import writing
from slant.collector.view.pages import Pages
from slant.collector.view.server import ServerLinks

# what trials.sql leaves out, for no table wants it: the study's design and its conditions
_RUNS = (
    "UPDATE runs SET design = 'association'",
    "INSERT INTO run_conditions SELECT run_id, 1, 'compatible', 1, NULL FROM runs",
    "INSERT INTO run_conditions SELECT run_id, 2, 'incompatible', 2, NULL FROM runs",
)
_LIMITS_S = {1_000_000: 0.3, 10_000_000: 1.0}


def view_pages(trials: int, repeats: int, kept: Path | None = None) -> list[Measure]:
    """The median of several looks at each page, none of which was looked at before: counts are not remembered."""
    with tempfile.TemporaryDirectory() as folder:
        db = kept or Path(folder) / "trials.duckdb"
        if not db.exists():
            make(db, trials)
            with writing(db) as connection:
                for statement in _RUNS:
                    connection.execute(statement)
        found = {name: median(_seconds(db, look) for _ in range(repeats)) for name, look in _looks(db).items()}
    limit = _LIMITS_S.get(trials, 1.0)
    return [Measure(f"{name}, {trials:,} trials", s, "s", None, limit, "value") for name, s in found.items()]


def _looks(db: Path) -> dict[str, Callable[[Pages], str]]:
    first = _pages(db).trials({})
    trial_id = re.findall(r"/trial/(\w+)", first)[20]
    after = re.findall(r"after=([^\"&]+)", first)[0]
    filtered = {"model": "qwen3-8b", "outcome": "refused"}
    return {
        "list of trials": lambda pages: pages.trials({}),
        "the next page": lambda pages: pages.trials({"after": _plain(after)}),
        "with filters": lambda pages: pages.trials(filtered),
        "by tokens, with a condition": lambda pages: pages.trials({"sort": "-tokens", "where": "choice <> expected"}),
        "one trial": lambda pages: pages.trial(trial_id, filtered),
        "list of pairs": lambda pages: pages.pairs({}),
        "one pair": lambda pages: pages.pair({}),
        "runs": lambda pages: pages.runs({}),
        "list of tables": lambda pages: pages.tables({}),
        "a view of trials": lambda pages: pages.table("association_trials", {}),
    }


def _plain(text: str) -> str:
    return unquote_plus(text)


def _pages(db: Path) -> Pages:
    return Pages(db, ServerLinks("token"))


def _seconds(db: Path, look: Callable[[Pages], str]) -> float:
    pages = _pages(db)
    began = time.perf_counter()
    look(pages)
    return time.perf_counter() - began
