"""Summarise the trials under a filter: outcomes by condition, and how many tokens they took, drawn as bars;
and the runs of a database with how far each model is, including what a collector has not yet loaded.

Show texts of models and providers on a page: nothing hidden, nothing endless."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
from markupsafe import Markup, escape

from slant.collector.keep.database import kept_open, reading
from slant.collector.keep.journal import has_collector
from slant.collector.keep.journal_loader import waiting_bytes
from slant.collector.progress.current_run import for_people, with_pace
from slant.collector.progress.status import progress, warnings
from slant.collector.request_messages import values_of
from slant.collector.system.shipped_files import sql_query
from slant.collector.view.paging import rows_of

SHOWN_CHARACTERS = 20_000
# All that is invisible and may move, hide or reorder what is around it: control characters except tab and new line,
# those of direction, of no width, of line and paragraph, tags, and what no text should hold.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: object) -> Markup:
    """Escape a text for HTML, with each invisible character as its code point in a box."""
    return Markup(_HIDDEN.sub(_code_point, str(escape("" if text is None else str(text)))))


def _code_point(match: re.Match[str]) -> str:
    # without quotes: put into an attribute by mistake, it stays in it
    return f"<b class=hidden-character>U+{ord(match[0]):04X}</b>"


@dataclass(frozen=True)
class LongText:
    """Hold the beginning of a text, and how many characters it has in all."""

    start: str
    n_characters: int

    @property
    def n_left(self) -> int:
        return self.n_characters - len(self.start)


def begun(text: str | None, *, is_whole: bool = False) -> LongText | None:
    if text is None:
        return None
    return LongText(text if is_whole else text[:SHOWN_CHARACTERS], len(text))


def indented(text: str | None) -> str | None:
    """Indent JSON for reading; any other text is unchanged."""
    value = values_of(text)
    return json.dumps(value, ensure_ascii=False, indent=1) if value else text


OUTCOMES = ("answered", "refused", "filtered", "truncated", "malformed", "rejected")
_BARS = 48
_MAX_HISTOGRAMS = 4  # one per condition, below each other; with more conditions all are counted together
_LARGEST_SHARE = 0.995  # the rest, far above, is in the last bar
_STEPS = (1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 50, 64)


@dataclass(frozen=True)
class Histogram:
    """Hold bars from left to right: (from, to, n, height between 0 and 1). The last one also holds `n_above`."""

    name: str
    n: int
    bars: Sequence[tuple[int, int, int, float]]
    n_above: int
    median: int


@dataclass(frozen=True)
class Summary:
    """Hold `rows`: source, study, condition, and how many trials had which outcome, in the order of OUTCOMES.
    `examples`: three trials of each outcome, those that were not read first."""

    n: int
    n_uncounted: int
    rows: Sequence[tuple[str, str, str, Sequence[int]]]
    histograms: Sequence[Histogram]
    examples: Mapping[str, Sequence[Mapping[str, Any]]]

    @property
    def sources(self) -> list[str]:
        """List the sources of the answers: several are distinguished, never added up."""
        return list(dict.fromkeys(source for source, *_ in self.rows))


def summarise(chosen: duckdb.DuckDBPyRelation) -> Summary:
    """Count all rows of the relation once."""
    counted = chosen.query("chosen", sql_query("trial_summary"))
    assert counted is not None  # it is a query, which has rows
    outcomes: dict[tuple[str, str, str], Counter[str]] = {}
    tokens: dict[str, dict[str, Counter[int]]] = {}
    for source, study, condition, outcome, tokens_from, n in counted.fetchall():
        outcomes.setdefault((source, study, condition), Counter())[outcome] += n
        if tokens_from is not None:
            tokens.setdefault(source, {}).setdefault(condition, Counter())[tokens_from] += n
    rows = [(*cell, [counts[outcome] for outcome in OUTCOMES]) for cell, counts in sorted(outcomes.items(), key=str)]
    total = sum(counts.total() for counts in outcomes.values())
    n_counted = sum(counts.total() for of_source in tokens.values() for counts in of_source.values())
    drawn = [
        replace(bars, name=f"{bars.name}, {source}" if len(tokens) > 1 else bars.name)
        for source, of_source in sorted(tokens.items())
        for bars in histograms(sorted(of_source.items()))
    ]
    found = chosen.query("chosen", sql_query("outcome_examples"))
    assert found is not None  # it is a query, which has rows
    shown = rows_of(found)
    examples = {outcome: [row for row in shown if row["outcome"] == outcome] for outcome in _UNREAD_FIRST}
    return Summary(total, total - n_counted, rows, drawn, {name: of for name, of in examples.items() if of})


_UNREAD_FIRST = ("malformed", "truncated", "rejected", "filtered", "refused", "answered")


def histograms(tokens: Iterable[tuple[str, Counter[int]]]) -> list[Histogram]:
    """Draw one for each condition, on one scale; one for all if there are many conditions. `tokens` has how many trials
    took how many tokens."""
    named = list(tokens)
    if not named:
        return []
    everything: Counter[int] = sum((counts for _, counts in named), Counter())
    if len(named) > _MAX_HISTOGRAMS:
        named = [("all conditions", everything)]
    low, high = min(everything), _quantile(everything, _LARGEST_SHARE)
    width = _width(max(1, high - low))
    first = low // width * width
    n_bars = (high - first) // width + 1
    return [_histogram(name, counts, first, width, n_bars) for name, counts in named]


def _histogram(name: str, counts: Counter[int], first: int, width: int, n_bars: int) -> Histogram:
    bars: Counter[int] = Counter()
    for value, n in counts.items():
        bars[min((value - first) // width, n_bars - 1)] += n
    end = first + n_bars * width
    tallest = max(bars.values())
    listed = [(first + b * width, first + (b + 1) * width, bars[b], bars[b] / tallest) for b in range(n_bars)]
    n_above = sum(n for value, n in counts.items() if value >= end)
    return Histogram(name, counts.total(), listed, n_above, _quantile(counts, 0.5))


def _quantile(counts: Counter[int], share: float) -> int:
    """Return the smallest value that at least this share does not exceed."""
    reached, wanted = 0, share * counts.total()
    for value in sorted(counts):
        reached += counts[value]
        if reached >= wanted:
            return value
    return max(counts)


def _width(span: int) -> int:
    """Return a round width of bars, so that there are not more than the page has room for."""
    power = 1
    while True:
        for step in _STEPS:
            if span / (step * power) <= _BARS:
                return step * power
        power *= 100


def filter_values(connection: duckdb.DuckDBPyConnection) -> dict[str, list[Any]]:
    """Return the possible values of each filter, from the lists of the runs: no trial is read for it."""
    rows = connection.execute(sql_query("filter_values")).fetchall()
    return {name: [value for value in known or [] if value not in (None, "")] for name, known in rows}


_COLUMNS = "run_id, source, study, variant, started_at, finished_at, end_reason, code_version, command"


@dataclass(frozen=True)
class Runs:
    """Hold `status`, a row per model, with its pace while it is asked; `runs`, the latest first; `problems`, None if
    unasked."""

    status: pl.DataFrame
    title: str
    runs: list[dict[str, Any]]
    is_running: bool
    waiting_bytes: int
    problems: list[str] | None


def model_rows(db: Path) -> pl.DataFrame:
    """Return the progress and cost of the models; this reads every attempt."""
    return progress(db).drop("n_unpriced")


def run_rows(db: Path, models: pl.DataFrame, *, looks_for_problems: bool) -> Runs:
    """Return the rows of `collect status`, and the runs themselves; `models` as from `model_rows`. Looking for problems
    reads every trial several times."""
    with kept_open(db):
        status, title = for_people(with_pace(models, db))
        problems = warnings(db) if looks_for_problems else None
        waiting = waiting_bytes(db)
        with reading(db) as connection:
            latest = f"SELECT {_COLUMNS} FROM runs ORDER BY started_at DESC, run_id DESC LIMIT 500"  # noqa: S608
            runs = rows_of(connection.sql(latest))
    return Runs(status, title, runs, has_collector(db), waiting, problems)
