"""Read everything that the database knows about one run and the earlier ones that it continues."""

from __future__ import annotations

import json
import platform
import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb

from slant.collector.designs.study import Study
from slant.collector.errors import DatabaseError, UnknownNameError
from slant.collector.keep.anonymous import public_path, typed_command
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal import utc_now
from slant.collector.keep.view_heads import ordered_view
from slant.collector.plan.conversations import plan
from slant.collector.plan.run_plan import ModelPlan, RunPlan
from slant.collector.providers.exchange import Request
from slant.collector.providers.services import spoken_by
from slant.collector.records import Run
from slant.collector.sources import Source
from slant.collector.stopping.looks import Look, read_looks
from slant.collector.stopping.rule import StoppingRule
from slant.collector.studies.catalogue import load_study
from slant.collector.study.records import StudyModel
from slant.collector.system.shipped_files import current_code_version, git_commit, sql_query

Row = Mapping[str, Any]
_SAME = ("source", "study", "variant", "seed", "occasion")


@dataclass(frozen=True)
class RunHistory:
    """Hold a run and those before it. `runs` are those that contributed answers, oldest first, `run` is the last of
    them; a later occasion has a separate history. `provenance` has a row for each of them and model; `outcomes` counts
    the trials; `n_failed` the attempts that ended none. `stopping`: the rule of runs that were to end on precision,
    whose `models` are those of all of them; `looks`: what was seen, by model. `aside`: runs of the same plan that were
    set aside: they are in nothing else.
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
    aside: Sequence[Row] = ()

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
    aside = dict(connection.execute("SELECT run_id, reason FROM aside_runs").fetchall())
    runs = _rows(connection, "SELECT * FROM runs ORDER BY started_at, run_id")
    return _Known(
        [{**run, "occasion": occasions.get(id := run["run_id"]), "aside_because": aside.get(id)} for run in runs],
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
    version = run["study_version"]
    of_version = {row["run_id"] for row in database.provenance if row["study_version"] == version}
    alike = [r for r in runs if _is_same(r, run) and (r["study_version"] == version or r["run_id"] in of_version)]
    earlier = [r for r in alike if r["aside_because"] is None]
    tests = [row for row in database.tests if row["run_id"] == run["run_id"]]
    models = _models(database, earlier, run)
    asked_models = {(r["run_id"], model["model"]) for r in earlier for model in models}
    own = {r["run_id"] for r in earlier if r["study_version"] == version}

    def is_of_plan(row: Row) -> bool:
        is_of_version = row["run_id"] in own or row["study_version"] == version
        return is_of_version and (row["run_id"], row["model"]) in asked_models

    provenance, counts = (list(filter(is_of_plan, rows)) for rows in (database.provenance, database.counts))
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
        [r for r in alike if r["aside_because"] is not None],
    )


def rule_of(run: Row) -> StoppingRule | None:
    """Return the rule by which a run was to end on precision; None for a run that had none."""
    return StoppingRule.in_settings(json.loads(run["settings"] or "{}"))


def _is_same(row: Row, other: Row) -> bool:
    """Return whether a run belongs to another one: it was not later, and asked what is in the other's plan, too. Those
    between the looks of one rule do, whatever their repetitions."""
    rule, repetitions = rule_of(row), [r["repetitions"] or 1 for r in (row, other)]
    is_within = row["started_at"] <= other["started_at"] and (rule is not None or repetitions[0] <= repetitions[1])
    return is_within and rule == rule_of(other) and all(row[key] == other[key] for key in _SAME)


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


def new_run_record(run_plan: RunPlan, options: Mapping[str, Any], *, is_simulated: bool) -> Run:
    """Return the row. `options` are those of the run (how it asks), as JSON-able values."""
    study = run_plan.study
    if any(model_plan.model.structured_output for model_plan in run_plan.model_plans):
        options = {**options, "structured_output": True}
    if run_plan.shard is not None:
        planned = {model_plan.name: dict(model_plan.planned_tests) for model_plan in run_plan.model_plans}
        options = {**options, "shard": str(run_plan.shard), "shard_planned": planned}
    if run_plan.stopping is not None:
        options = {**options, **run_plan.stopping.as_settings()}
    models = [
        listed_model(study, a.model)
        | {"planned": a.planned if a.occasion is None else run_plan.whole}
        | model_provenance(run_plan, a)
        | ({} if a.occasion is None else {"occasion": a.occasion.number, "n_again": a.occasion.n_again})
        for a in run_plan.model_plans
    ]
    return new_run(
        study,
        models,
        options,
        source="simulated" if is_simulated else "collected",
        seed=run_plan.seed,
        repetitions=run_plan.repetitions,
        command=typed_command(run_plan.db),
        study_file=study_file(study, run_plan.db),
        git_commit=git_commit(),
        registration=None if run_plan.registration is None else run_plan.registration.sha256,
    )


def listed_model(study: Study, model: StudyModel) -> dict[str, Any]:
    """Return a model for a run's list of models."""
    order = [known.model for known in study.models]
    return {
        "model": model.model,
        "label": model.label,
        "provider": model.provider,
        "requested_model": model.requested_model,
        "frame": model.frame or None,
        "measure": model.measure,
        "settings": dict(model.settings),
        "model_no": order.index(model.model) + 1 if model.model in order else None,
    }


def new_run(
    study: Study,
    models: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
    *,
    source: Source,
    command: str,
    seed: int | None = None,
    repetitions: int = 1,
    study_file: str | None = None,
    git_commit: str | None = None,
    registration: str | None = None,
    consent: str | None = None,
    origin: str | None = None,
) -> Run:
    """Return a run that begins now; `models` and `settings` as JSON-able values."""
    tests = [asdict(test) | {"planned": test.planned * repetitions} for test in study.tests]
    return Run(
        # it sorts by time, names the study, and is unique: 20261121T134405Z-rmiat-3f9a1c
        run_id=f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{study.name}-{secrets.token_hex(3)}",
        source=source,
        study=study.name,
        study_version=study.version,
        variant=study.variant,
        seed=seed,
        repetitions=repetitions,
        design=study.design.name,
        models=json.dumps(models),
        tests=json.dumps(tests),
        conditions=json.dumps([asdict(condition) for condition in study.conditions]),
        settings=json.dumps(settings),
        code_version=current_code_version(),
        machine=f"{platform.platform()}, Python {platform.python_version()}",
        command=command,
        started_at=utc_now(),
        study_title=study.title,
        study_source=study.source or None,
        study_file=study_file,
        git_commit=git_commit,
        registration=registration,
        refusal_rule=study.refusal_rule,
        consent=consent,
        origin=origin,
    )


# What a dialect could be asked for and mostly is not: named in the record if it was left to the provider. A dialect
# of another package names its own in a tuple PARAMETERS. By the dialect's module.
_OPENAI = ("temperature", "top_p", "max_completion_tokens", "reasoning_effort", "seed", "verbosity", "service_tier")
_COMPATIBLE = ("temperature", "top_p", "top_k", "max_tokens", "reasoning_effort", "seed")
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "openai": _OPENAI,
    "openai_responses": ("temperature", "top_p", "max_output_tokens", "reasoning", "verbosity", "service_tier"),
    "anthropic": ("temperature", "top_p", "top_k", "thinking", "output_config", "service_tier"),
    "gemini": ("temperature", "topP", "topK", "maxOutputTokens", "seed", "thinkingConfig", "safetySettings"),
    "ollama": ("temperature", "top_p", "top_k", "num_ctx", "num_predict", "seed", "think"),
    "deepseek": _COMPATIBLE, "together": _COMPATIBLE, "openrouter": _COMPATIBLE, "chat_completions": _COMPATIBLE,
}  # fmt: skip
_CONTENT = ("model", "messages", "input", "contents", "system", "systemInstruction", "metadata", "stream")
_PER_GAME = ("prompt_cache_key",)  # said in words
_VERSION = re.compile(r"v\d+\w*")


def model_provenance(run_plan: RunPlan, model_plan: ModelPlan) -> dict[str, Any]:
    """Return a run's record of one model: address, API version, parameters sent and omitted, first prompt, price."""
    conversation = next(plan(*run_plan.plan_of(model_plan.model)))
    trial, prompt = run_plan.study.design.asks.first(run_plan.study, model_plan.model, conversation)
    request = model_plan.provider.dialect.request(model_plan.base_url or "", None, model_plan.model, prompt, trial)
    price = run_plan.prices.find(model_plan.provider.name, model_plan.model.requested_model)
    # all but the model's name and the prompt
    sent = {name: value for name, value in request.body.items() if name not in (*_CONTENT, *_PER_GAME)}
    if run_plan.study.design.asks.has_turns(run_plan.study):  # reasoning is given back, earlier turns are cached
        cache = getattr(model_plan.provider.dialect, "PROMPT_CACHE", "as the provider does by itself")
        sent |= {"reasoning_back": model_plan.model.reasoning_back, "prompt_cache": cache}
    return {
        "base_url": public_address(model_plan.base_url),
        "api_version": api_version(request),
        "sent": sent,
        "left_to_default": left_to_default(model_plan, request.body),
        "prompt_hash": prompt.hash,
        "price": None if price is None else price.as_dict(),
    }


def left_to_default(model_plan: ModelPlan, body: Mapping[str, Any]) -> list[str]:
    """Return the usual parameters of this provider that the request does not set."""
    dialect = spoken_by(model_plan.provider.dialect)
    module = getattr(dialect, "__name__", "").rpartition(".")[2]
    usual = getattr(dialect, "PARAMETERS", _PARAMETERS.get(module, ()))
    named = set(body) | {key for part in body.values() if isinstance(part, Mapping) for key in part}
    # three names for one limit: setting one means that it is not left to the provider
    limits = {"max_tokens", "max_completion_tokens", "max_output_tokens"}
    named |= limits if named & limits else set()
    return [name for name in usual if name not in named]


def api_version(request: Request) -> str | None:
    """Return the API version as the request names it: a separate header, or the v1 in the address."""
    for name, value in request.headers.items():
        if name.lower().endswith("-version"):
            return f"{name} {value}"
    return next((part for part in urlsplit(request.url).path.split("/") if _VERSION.fullmatch(part)), None)


def public_address(url: str | None) -> str | None:
    """Return an address without a name, a password or a query, which may hold a key."""
    if url is None:
        return None
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def study_file(study: Study, db: Path) -> str | None:
    """Return a study file's path relative to the database; None for a study that ships with slant."""
    return None if study.is_known_by_name else public_path(study.path, db)
