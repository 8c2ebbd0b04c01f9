"""Each page of `collect view` over a million trials, as a reader waits for it: from the address to the last byte; and
its processor time, which a busy machine changes less. `SLANT_BENCH_PAGES=10000000` is for ten million: 4 GB of disk."""

from __future__ import annotations

import os
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


def view_pages(trials: int, repeats: int) -> list[Measure]:
    """The median of several looks at each page, in a viewer that runs but remembers no counts."""
    trials = int(os.environ.get("SLANT_BENCH_PAGES", trials))
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "trials.duckdb"
        make(db, trials)
        with writing(db) as connection:
            for statement in _RUNS:
                connection.execute(statement)
        pages = Pages(db, ServerLinks("token"))
        costs = {name: [cost(pages, look) for _ in range(repeats)] for name, look in looks(pages).items()}
    limit = _LIMITS_S.get(trials, 1.0)
    measures = []
    for name, taken in costs.items():
        wall_s, processor_s = (median(values) for values in zip(*taken, strict=True))
        measures.append(Measure(f"{name}, {trials:,} trials", wall_s, "s", None, limit, "value"))
        measures.append(Measure(f"{name}, its processor time", processor_s, "s", None, limit, "value"))
    return measures


def looks(pages: Pages) -> dict[str, Callable[[], str]]:
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


def cost(pages: Pages, look: Callable[[], str]) -> tuple[float, float]:
    """Seconds on the wall and of the processor, all threads."""
    pages.forget()
    began, used = time.perf_counter(), time.process_time()
    look()
    return time.perf_counter() - began, time.process_time() - used
