"""Read stored responses again as a later version of slant understands them, without asking any model.

Responses are stored complete, so that an ending or an error that was unknown can be corrected later. The answers in the
journal stay as they are: a separate journal gets a line with each change, and loading it changes the columns.
Rounds of games are left as they were read, for the model was given that reading. `open_rejected` uses the same lines.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from slant.collector.ask.attempts import measured, read_columns
from slant.collector.ask.retries import judge
from slant.collector.ask.uncounted_answers import read_exchange
from slant.collector.designs.study import Study, read_reply
from slant.collector.errors import SlantError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal import SideJournal, utc_now
from slant.collector.keep.journal_loader import load_journals
from slant.collector.providers import provider_named
from slant.collector.providers.error_meanings import speakers
from slant.collector.providers.exchange import Exchange
from slant.collector.records import READ_AGAIN, Reading, Trial
from slant.collector.studies.catalogue import load_study
from slant.collector.study.records import StudyModel
from slant.collector.system.shipped_files import current_code_version, sql_query

PAGE = 2000
_TRIAL = tuple(f.name for f in fields(Trial))
OnRows = Callable[[int, int], None]


@dataclass
class ReadAgainReport:
    """Count what reading stored responses again came to: those read, those read differently than before, trials that
    changed their outcome (`outcomes`), and those that could not be read (their study or provider is not known)."""

    read: int = 0
    changed: int = 0
    not_read: int = 0
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)


def read_again(db: str | Path, *, on_progress: OnRows = lambda done, all_of_them: None) -> ReadAgainReport:
    """Read all stored responses of single questions again, and keep what has changed.

    A trial with an attempt that is final now needs no more answers; one whose only answer turned out not to
    be one is
    pending again, and the next `collect` asks it.
    """
    db = Path(db)
    load_journals(db)
    report, finals = ReadAgainReport(), _finals(db)
    with SideJournal(db, "readings") as journal:
        for rows, total in _pages(db):
            changes = [change for row in rows if (change := _change(row, db, finals, report))]
            if changes:
                journal.append(_line(changes))
            on_progress(report.read + report.not_read, total)
    load_journals(db)
    return report


def open_rejected(db: str | Path, study: str) -> int:
    """Make the rejected trials of a study pending again (`collect --ask-rejected`); return their number."""
    db = Path(db)
    load_journals(db)
    with reading(db) as connection:
        rows = _dicts(connection, sql_query("rejected_attempts"), {"study": study})
    changes = [_values(row) | {"outcome": "failed", "is_final": False} for row in rows]
    if changes:
        with SideJournal(db, "readings") as journal:
            journal.append(_line(changes))
        load_journals(db)
    return len(changes)


def measure_answers(db: str | Path, study: Study, functions: Mapping[str, Callable[[str], Any]], of: str | None) -> int:
    """Measure a study's kept answers (to the question `of`) by a person's own functions; return how many changed."""
    db = Path(db)
    load_journals(db)
    reads = study.design.reads
    study = replace(study, data=reads.with_measures(study, functions, of))
    with reading(db) as connection:
        rows = _dicts(connection, sql_query("attempts_to_measure"), {"study": study.name})
    made = (
        (row, shown, reads.measured(study, shown, row["outcome"])) for row in rows for shown in [_json(row["factors"])]
    )
    changes = [
        _values(row) | {"factors": json.dumps(factors, ensure_ascii=False)}
        for row, shown, factors in made
        if factors != shown
    ]
    with SideJournal(db, "readings") as journal:
        for first in range(0, len(changes), PAGE):
            journal.append(_line(changes[first : first + PAGE]))
    load_journals(db)
    return len(changes)


def _line(changes: list[dict[str, Any]]) -> dict[str, Any]:
    return {"kind": "readings", "read_at": utc_now(), "code_version": current_code_version(), "rows": changes}


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("attempt_id", *READ_AGAIN)}


def _dicts(connection: Any, query: str, values: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    return list(frame_of(connection.sql(query, params=dict(values or {}))).iter_rows(named=True))


def _finals(db: Path) -> dict[str, str]:
    """Return the attempt that ends each trial."""
    with reading(db) as connection:
        rows = connection.execute("SELECT trial_id, attempt_id FROM attempts WHERE is_final ORDER BY done_at DESC")
        return dict(rows.fetchall())


def _pages(db: Path) -> Iterator[tuple[list[dict[str, Any]], int]]:
    last = -1
    with reading(db) as connection:
        total = connection.sql(sql_query("responses_to_read"), params={"after": -1}).count("row_no").fetchall()[0][0]
    while True:
        with reading(db) as connection:
            rows = _dicts(connection, f"{sql_query('responses_to_read')} LIMIT {PAGE}", {"after": last})
        if not rows:
            return
        last = rows[-1]["row_no"]
        yield rows, total


def _change(row: Mapping[str, Any], db: Path, finals: dict[str, str], report: ReadAgainReport) -> dict[str, Any] | None:
    """Return the columns of one attempt that this reading changes, with all others it decides; None if none changes."""
    values = _read(row, db)
    if values is None:
        report.not_read += 1
        return None
    report.read += 1
    if values["is_final"] and finals.get(row["trial_id"], row["attempt_id"]) != row["attempt_id"]:
        values["is_final"] = False  # another attempt has ended the trial
    before = _values(row)
    if all(before[name] == value for name, value in values.items()):
        return None
    report.changed += 1
    report.outcomes[before["outcome"], values["outcome"]] += before["outcome"] != values["outcome"]
    if values["is_final"]:
        finals[row["trial_id"]] = row["attempt_id"]
    elif finals.get(row["trial_id"]) == row["attempt_id"]:
        del finals[row["trial_id"]]
    return values


def _read(row: Mapping[str, Any], db: Path) -> dict[str, Any] | None:
    study = _study_of(row["study"], row["variant"], db)
    try:
        provider = provider_named(row["provider"])
    except SlantError:
        return None
    model = StudyModel(
        row["model"],
        "",
        row["provider"],
        row["requested_model"],
        settings=_json(row["settings"]),
        measure=row["measure"],
    )
    trial = Trial(**{name: row[name] for name in _TRIAL if name != "factors"}, factors=_json(row["factors"]))
    exchange = Exchange(status=row["http_status"], body=row["response"], headers=_json(row["headers"]))
    whose = speakers(row["provider"], model=row["requested_model"])
    reply, verdict = read_exchange(provider, exchange, judge(exchange, 1, whose), trial, 1)
    if verdict.action == "decline":
        return _values(row)  # its outcome depended on other trials
    if reply.outcome == "failed":
        reading_now = Reading("failed", is_final=False)
    elif study is not None and trial.content in _contents(study):
        reading_now = read_reply(study, trial, reply)
    elif reply.outcome is not None:
        reading_now = Reading(reply.outcome)
    else:
        return None
    columns = read_columns(trial, reply, reading_now, measured(model, trial, reply, reading_now))
    factors = {**trial.factors, **reading_now.factors}
    columns["factors"] = row["factors"] if factors == trial.factors else json.dumps(factors, ensure_ascii=False)
    return _values({**row, **columns})


@cache
def _study_of(name: str, variant: str, db: Path) -> Study | None:
    try:
        return load_study(name, variant, db)
    except SlantError:
        return None


def _contents(study: Study) -> frozenset[str]:
    key = (study.name, study.variant, study.version)
    if key not in _KNOWN_CONTENTS:
        _KNOWN_CONTENTS[key] = frozenset(study.design.asks.contents(study))
    return _KNOWN_CONTENTS[key]


_KNOWN_CONTENTS: dict[tuple[str, str, str], frozenset[str]] = {}


def _json(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
