"""Read stored responses again as a later version of slant understands them, without asking any model.

Responses are stored complete, so that an ending or an error that was unknown can be corrected later. The answers in the
journal stay as they are: a separate journal gets a line with each change, and loading it changes the columns.
An answer stays as it was read if the model was given that reading: each round of a game, and an earlier turn of a
chain, which gets new measures only. `open_rejected` uses the same lines.
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
from slant.collector.errors import DatabaseBusyError, JournalError, SlantError
from slant.collector.keep.database import fetched, fetched_frame, reading
from slant.collector.keep.journal import SideJournal, utc_now
from slant.collector.keep.journal_loader import load_journals
from slant.collector.plan.conversations import plan
from slant.collector.providers import provider_named
from slant.collector.providers.error_meanings import speakers
from slant.collector.providers.exchange import Exchange
from slant.collector.records import READ_AGAIN, Reading, Reply, Trial
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.stored_texts import kept_text, study_line, text_id
from slant.collector.study.records import StudyModel
from slant.collector.system.json_text import json_object
from slant.collector.system.shipped_files import current_code_version, sql_query
from slant.collector.terminal import count_text

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
    """Read all stored responses again but rounds of games, and keep what has changed.

    A trial with an attempt that is final now needs no more answers; one whose only answer turned out not to
    be one is
    pending again, and the next `collect` asks it.
    """
    db = Path(db)
    load_journals(db)
    report = ReadAgainReport()
    # the attempt that ends each trial
    finals = dict(fetched(db, "SELECT trial_id, attempt_id FROM attempts WHERE is_final ORDER BY done_at DESC"))
    with SideJournal(db, "readings") as journal:
        for rows, total in _pages(db, "responses_to_read", {"in_turns": _in_turns(db)}):
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
    rows = fetched_frame(db, sql_query("rejected_attempts"), {"study": study}).to_dicts()
    changes = [_values(row) | {"outcome": "failed", "is_final": False} for row in rows]
    _keep(db, changes)
    return len(changes)


def measure_answers(db: str | Path, study: Study, functions: Mapping[str, Callable[[str], Any]], of: str | None) -> int:
    """Measure a study's kept answers (to the question `of`) by a person's own functions; return how many changed."""
    db = Path(db)
    load_journals(db)
    reads = study.design.reads
    study = replace(study, data=reads.with_measures(study, functions, of))
    rows = fetched_frame(db, sql_query("attempts_to_measure"), {"study": study.name}).to_dicts()
    shown_of = ((row, json_object(row["factors"])) for row in rows)
    made = ((row, shown, reads.measured(study, shown, row["outcome"])) for row, shown in shown_of)
    changes = [
        _values(row) | {"factors": json.dumps(factors, ensure_ascii=False)}
        for row, shown, factors in made
        if factors != shown
    ]
    _keep(db, changes)
    return len(changes)


def read_by(db: str | Path, study: Study, on_progress: OnRows = lambda done, all_of_them: None) -> ReadAgainReport:
    """Read a study's kept answers but rounds of games as its file says now, and keep what is read differently with
    that text: an edit that leaves prompts as they were asks nothing again. Refusals and what was cut off or filtered
    stay what they were.
    """
    db, report = Path(db), ReadAgainReport()
    load_journals(db)
    values = {"study": study.name, "in_turns": [] if study.design.asks.plays_games else [study.name]}
    planned, changes = _planned(study, db, values), []
    for rows, total in _pages(db, "answers_to_read", values):
        changes += [change for row in rows if (change := _read_by(study, planned, row, report)) is not None]
        on_progress(report.read + report.not_read, total)
    _keep(db, changes, study_line(study, utc_now()))
    return report


def read_if_edited(db: str | Path, study: Study) -> str | None:
    """Read a study's kept answers again if its text is not the newest one kept; return a sentence on those that it
    reads differently, None if there are none."""
    newest = kept_text(db, study.name)
    if newest is None or newest.text_id == text_id(study.texts):
        return None
    try:
        found = read_by(db, study)
    except (JournalError, DatabaseBusyError):
        return f"{study.name} has been edited. Once no other collector is at work: collect reread --study FILE"
    if not found.changed:
        return None
    what = f"{study.name} has been edited, and reads {count_text(found.changed, 'kept answer')} differently now"
    return f"{what}; the journal keeps what was read first."


def _planned(study: Study, db: Path, values: Mapping[str, Any]) -> dict[str, Trial]:
    """Return the trials that the study plans now, by their ids, as the models of its kept answers were asked."""
    key = "model, provider, requested_model, settings, seed"
    query = f"SELECT {key}, max(repetition) FROM ({sql_query('answers_to_read')}) GROUP BY {key}"  # noqa: S608
    asked = fetched(db, query, {**values, "after": -1})
    known = {model.model: model for model in study.models}
    trials: dict[str, Trial] = {}
    for name, provider, requested, settings, seed, repetitions in asked:
        usual = known.get(name) or StudyModel(name, "", provider, requested)
        model = replace(usual, provider=provider, requested_model=requested, settings=json_object(settings))
        for conversation in plan(study, model, seed, repetitions or 1):
            trials |= {trial.trial_id: trial for trial in conversation.trials}
    return trials


def _read_by(
    study: Study, planned: Mapping[str, Trial], row: Mapping[str, Any], report: ReadAgainReport
) -> dict[str, Any] | None:
    trial = planned.get(row["first_trial_id"] or row["trial_id"])
    if trial is None:
        report.not_read += 1
        return None
    report.read += 1
    before = _values(row)
    values = dict(before)
    was = json_object(row["factors"])
    is_shown = row["outcome"] == "answered" and study.design.reads.decides_next(study, trial)
    if is_shown or row["outcome"] not in ("answered", "malformed"):
        was = dict(study.design.reads.measured(study, was, row["outcome"]))
    else:
        found = read_reply(study, trial, Reply(answer=row["answer"]))
        values |= {"outcome": found.outcome, "choice": found.choice, "detail": found.detail}
        was = _with_typed_measures(dict(found.factors), was)
    values["factors"] = json.dumps({**was, **trial.factors}, ensure_ascii=False)
    are_same = json_object(values["factors"]) == json_object(row["factors"])
    if are_same and values | {"factors": None} == before | {"factors": None}:
        return None
    report.changed += 1
    report.outcomes[before["outcome"], values["outcome"]] += before["outcome"] != values["outcome"]
    return values


_MEASURES = ("measures", "measured", "measured_outcomes")


def _with_typed_measures(found: dict[str, Any], was: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reading with what a person's own functions measured before: they are not at hand here."""
    now = {name: list(found.get(name, ())) for name in _MEASURES}
    for measure in zip(*(was.get(name, ()) for name in _MEASURES), strict=False):
        if measure[0] not in found.get("measures", ()):
            for name, value in zip(_MEASURES, measure, strict=True):
                now[name].append(value)
    return {**found, **now} if now["measures"] else found


def _keep(db: Path, changes: list[dict[str, Any]], *before: Mapping[str, Any]) -> None:
    """Write the changes, behind these lines, into a journal of their own, and load it; nothing without a change."""
    if changes:
        with SideJournal(db, "readings") as journal:
            for line in (*before, *(_line(changes[at : at + PAGE]) for at in range(0, len(changes), PAGE))):
                journal.append(line)
        load_journals(db)


def _in_turns(db: Path) -> list[str]:
    """Return the studies whose conversations have turns that are planned."""
    pairs = fetched(db, "SELECT DISTINCT study, variant FROM attempts WHERE game IS NOT NULL ORDER BY ALL")
    studies = [study for name, variant in pairs if (study := _study_of(name, variant, db)) is not None]
    return sorted({study.name for study in studies if not study.design.asks.plays_games})


def _line(changes: list[dict[str, Any]]) -> dict[str, Any]:
    return {"kind": "readings", "read_at": utc_now(), "code_version": current_code_version(), "rows": changes}


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("attempt_id", *READ_AGAIN)}


def _pages(db: Path, query: str, values: Mapping[str, Any] | None = None) -> Iterator[tuple[list[dict[str, Any]], int]]:
    """Yield the rows of a query in parts, and how many there are in all."""
    text, given = sql_query(query), {**(values or {}), "after": -1}
    with reading(db) as connection:
        total = connection.sql(text, params=given).count("row_no").fetchall()[0][0]
    while True:
        rows = fetched_frame(db, f"{text} LIMIT {PAGE}", given).to_dicts()
        if not rows:
            return
        given["after"] = rows[-1]["row_no"]
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
        settings=json_object(row["settings"]),
        measure=row["measure"],
    )
    trial = Trial(**{name: row[name] for name in _TRIAL if name != "factors"}, factors=json_object(row["factors"]))
    if study is not None and row["outcome"] == "answered" and study.design.reads.decides_next(study, trial):
        return _values(row)  # another question was asked by it
    exchange = Exchange(status=row["http_status"], body=row["response"], headers=json_object(row["headers"]))
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
