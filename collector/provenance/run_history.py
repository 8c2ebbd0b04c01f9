"""Read everything that the database knows about one run and the earlier ones that it continues."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from slant.collector.errors import DatabaseError, UnknownNameError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.view_heads import ordered_view
from slant.collector.stopping.looks import Look, read_looks
from slant.collector.stopping.rule import StoppingRule
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import sql_query

Row = Mapping[str, Any]
_SAME = ("source", "study", "study_version", "variant", "seed", "repetitions", "occasion")


@dataclass(frozen=True)
class RunHistory:
    """Hold a run and those before it. `runs` are those that contributed answers, oldest first, `run` is the last of
    them; a later occasion has a separate history. `provenance` has a row for each of them and model; `outcomes` counts
    the trials; `n_failed` the attempts that ended none. `stopping`: the rule of runs that were to end on precision,
    whose `models` are those of all of them; `looks`: what was seen, by model.
    """

    run: Row
    runs: Sequence[Row]
    models: Sequence[Row]
    tests: Sequence[Row]
    provenance: Sequence[Row]
    outcomes: Mapping[str, int]
    n_failed: int
    stopping: StoppingRule | None = None
    looks: Mapping[str, Sequence[Look]] = field(default_factory=dict)

    def served_models(self, model: Row) -> list[str]:
        """Return the models that answered for another."""
        rows = [row for row in self.provenance if row["model"] == model["model"]]
        return sorted({name for row in rows for name in (row["served_models"] or "").split(", ") if name})

    def span(self, model: Row | None = None) -> tuple[Any, Any] | None:
        """Return the times of the first question and the last answer (of one model, or of all); None if unknown."""
        rows = [row for row in self.provenance if model is None or row["model"] == model["model"]]
        times = [row[key] for row in rows for key in ("first_sent_at", "last_done_at") if row[key] is not None]
        return (min(times), max(times)) if times else None


def read_run_history(db: Path, name: str) -> RunHistory:
    """Return the run with this id ("latest": the last one that did not ask again). UnknownNameError if there is
    none.
    """
    (history,) = read_run_histories(db, [name])
    return history


def read_run_histories(db: Path, names: Sequence[str]) -> list[RunHistory]:
    """Return the histories of several runs; facts about all runs are read once, because that is most of the work."""
    with reading(db) as connection:
        known = _read(connection)
    looks = [look for made in read_looks(db).values() for look in made]
    return [_history(known, db, name, looks) for name in names]


def latest_run_of(db: Path, study: str) -> str:
    """Return the id of the study's last run that did not ask again; `study` may be its file. UnknownNameError."""
    with reading(db) as connection:
        runs = _read(connection).runs
    known = {run["study"] for run in runs}
    if study not in known and study.endswith(".toml") and Path(study).is_file():
        study = load_study(study).name
    own = [run for run in runs if run["study"] == study]
    if not own:
        raise UnknownNameError("study", study, known, f'Of it, "{db}" holds no run.')
    return str(([run for run in own if run["occasion"] is None] or own)[-1]["run_id"])


@dataclass(frozen=True)
class _Known:
    runs: Sequence[Row]
    models: Sequence[Row]
    tests: Sequence[Row]
    provenance: Sequence[Row]
    counts: Sequence[Row]


def _read(connection: duckdb.DuckDBPyConnection) -> _Known:
    models = _rows(connection, "SELECT * FROM run_models ORDER BY run_id, place")
    occasions = {model["run_id"]: model["occasion"] for model in models if model["occasion"]}
    runs = _rows(connection, "SELECT * FROM runs ORDER BY started_at, run_id")
    return _Known(
        [{**run, "occasion": occasions.get(run["run_id"])} for run in runs],
        models,
        _rows(connection, "SELECT * FROM run_tests ORDER BY run_id, place"),
        frame_of(ordered_view(connection, "run_provenance")).to_dicts(),
        _rows(connection, sql_query("outcomes_of_runs")),
    )


def _history(database: _Known, db: Path, name: str, looks: Sequence[Look]) -> RunHistory:
    runs = database.runs
    if not runs:
        raise DatabaseError(f'"{db}" holds no run yet.')
    known = {run["run_id"]: run for run in runs}
    first_asked = [run for run in runs if run["occasion"] is None]
    run = (first_asked or runs)[-1] if name == "latest" else known.get(name)
    if run is None:
        raise UnknownNameError("run", name, known, 'The last one is called "latest".')
    earlier = [r for r in runs if _is_same(r, run) and r["started_at"] <= run["started_at"]]
    tests = [row for row in database.tests if row["run_id"] == run["run_id"]]
    models = _models(database, earlier, run)
    asked_models = {(r["run_id"], model["model"]) for r in earlier for model in models}
    provenance, counts = (
        [row for row in rows if (row["run_id"], row["model"]) in asked_models]
        for rows in (database.provenance, database.counts)
    )
    took_part = {row["run_id"] for row in provenance} | {run["run_id"]}
    outcomes = Counter[str]()
    for row in counts:
        outcomes.update({row["outcome"]: row["n"]} if row["is_final"] else {})
    return RunHistory(
        run,
        [r for r in earlier if r["run_id"] in took_part],
        models,
        tests,
        provenance,
        outcomes,
        sum(row["n"] for row in counts if not row["is_final"]),
        rule_of(run),
        {model["model"]: _looks_at(looks, run, model) for model in models} if rule_of(run) else {},
    )


def rule_of(run: Row) -> StoppingRule | None:
    """Return the rule by which a run was to end on precision; None for a run that had none."""
    return StoppingRule.in_settings(json.loads(run["settings"] or "{}"))


def _is_same(row: Row, other: Row) -> bool:
    """Return whether runs belong together: those between the looks of one rule do, with different repetitions."""
    rule = rule_of(row)
    same = [key for key in _SAME if rule is None or key != "repetitions"]
    return rule == rule_of(other) and all(row[key] == other[key] for key in same)


def _models(database: _Known, earlier: Sequence[Row], run: Row) -> list[Row]:
    """Return the models of the run; with a rule also those that had ended before it, in the order of the first run."""
    own = [row for row in database.models if row["run_id"] == run["run_id"]]
    if rule_of(run) is None:
        return own
    runs = {r["run_id"] for r in earlier}
    last = {row["model"]: row for row in database.models if row["run_id"] in runs}  # rows are in the order of runs
    return list(last.values())


def _looks_at(looks: Sequence[Look], run: Row, model: Row) -> list[Look]:
    of_run = (run["study"], run["study_version"], run["variant"], run["source"], run["seed"], model["model"])
    return [k for k in looks if (k.study, k.study_version, k.variant, k.source, k.seed, k.model) == of_run]


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = frame_of(connection.sql(query)).to_dicts()
    return rows
