"""How a study compares with its registration: "as registered", or each deviation. The comparisons are SQL, on the
rows of the database and those of the registration; here the one becomes rows, and the other words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fit_plan import with_random
from slant.analysis.questions.checks.sentences import Finding
from slant.analysis.rows.cells import GRAIN
from slant.collector.errors import DatabaseError, UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of, registered
from slant.collector.records import Registration
from slant.collector.registration import canonical
from slant.collector.stopping.rule import StoppingRule
from slant.collector.studies.catalogue import Fit
from slant.collector.studies.stored_texts import kept_registrations
from slant.collector.system.shipped_files import sql_query

REGISTRATION = "registration"
_QUERIES = ("registration_plan", "registration_prompts", "registration_analyses", "registration_stopping")
_QUESTION = "Was it done as registered?"
_MAX_NAMED = 3
_NO_RULE = "none"
_WHOLE = ("seed", "looks", "most_repetitions", "trials", "trials_per_model", "n_trials")
"""Columns of a registration's tables that hold whole numbers; the others hold texts."""


@dataclass(frozen=True)
class Registered:
    """Hold a registration next to a database. deviations: one row each, by source, study_version and variant (model and
    test where it is about one): what (`deviation`, of which `subject`), `registered`, `found`, and the number `n` of
    trials, fits or looks. `is_kept`: a run was given it. n_others: how many other registrations runs were given."""

    registration: Registration
    deviations: pl.DataFrame
    is_kept: bool
    n_others: int


def registered_study(
    db: str | Path, study: str, registration: str | Path | Registration | None = None
) -> Registered | None:
    """Return the study next to this registration, or the newest that its runs were given; None if there is none.

    UsageError if it is of another study, or a file is none; DatabaseError if the database keeps a damaged one.
    """
    kept = kept_registrations(db, study)
    if registration is None and not kept:
        return None
    if isinstance(registration, str | Path):
        registration = canonical.read_registration(registration)
    chosen = _checked(db, kept[0]) if registration is None else registration
    if chosen.study != study:
        raise UsageError(f'This registration is of the study "{chosen.study}", not of "{study}".')
    others = {known.sha256 for known in kept} - {chosen.sha256}
    is_kept = any(known.sha256 == chosen.sha256 for known in kept)
    return Registered(chosen, deviations(db, chosen), is_kept, len(others))


def _checked(db: str | Path, kept: Registration) -> Registration:
    """Check a kept registration, for a database may be a stranger's: it must be one, and have its hash."""
    try:
        parsed = canonical.parsed_registration(kept.text.encode("utf-8"), f"the registration in {db}")
    except UsageError as error:
        raise DatabaseError(error.what, "To compare with the file itself: --registration FILE") from None
    if parsed != kept:
        raise DatabaseError(
            f'The registration in "{db}" differs from the stored one: its hash is different.',
            "To compare with the file itself: --registration FILE",
        )
    return parsed


def deviations(db: str | Path, registration: Registration) -> pl.DataFrame:
    """Return a row per deviation; see Registered."""
    with reading(db) as connection, ExitStack() as stack:
        for name, frame in _frames(canonical.document_of(registration), connection).items():
            stack.enter_context(registered(connection, name, frame))
        return pl.concat([_asked(connection, query, registration.study) for query in _QUERIES])


def _asked(connection: duckdb.DuckDBPyConnection, query: str, study: str) -> pl.DataFrame:
    rows: pl.DataFrame = frame_of(connection.sql(sql_query(query), params={"study": study}))
    texts = pl.col("model", "test", "subject", "registered", "found").cast(pl.String)
    return rows.with_columns(texts, pl.col("n").cast(pl.Int64))


def _frames(document: Mapping[str, Any], connection: duckdb.DuckDBPyConnection) -> dict[str, pl.DataFrame]:
    """Return the registration as tables for the queries."""
    version = document["study"]["version"]
    plans, models, prompts = [], [], []
    for plan in document["plans"]:
        trials, sources = plan["trials_per_model"], set()
        for model in plan["models"]:
            name, source = model["model"], "simulated" if model["provider"] == "simulated" else "collected"
            sources.add(source)
            settings = canonical.canonical_text(model["settings"])
            models.append((plan["variant"], name, model["provider"], model["requested_model"], settings, trials))
            hashes = document["prompts"].get(model["prompts"], [])
            prompts += [(plan["variant"], source, name, prompt_hash) for prompt_hash in hashes]
        of_sources = sources or {"collected"}
        plans += [(plan["variant"], source, version, int(plan["seed"]), trials) for source in of_sources]
    fits = [(fit["name"], fit["engine"], _described(fit)) for fit in document["fits"]]
    flags = [(fit["name"], n) for fit in document["fits"] for n in (*fit["drop_flags"], *fit.get("drop_outcomes", ()))]
    known = connection.execute("SELECT DISTINCT settings FROM run_models WHERE settings IS NOT NULL").fetchall()
    forms = [(settings, canonical.canonical_text(json.loads(settings))) for (settings,) in known]
    runs = connection.execute(
        "SELECT run_id, settings FROM runs WHERE study = $study", {"study": document["study"]["name"]}
    )
    rules = [
        (run, str(StoppingRule.in_settings(json.loads(settings or "{}")) or _NO_RULE))
        for run, settings in runs.fetchall()
    ]
    rule = canonical.registered_rule(document)
    limits = [(str(rule or _NO_RULE), rule and rule.looks, rule and rule.most_repetitions)]
    tables: dict[str, tuple[list[Any], str]] = {
        "run_rules": (rules, "run_id rule"),
        "registered_rules": (limits, "rule looks most_repetitions"),
        "registered_plans": (plans, "variant source study_version seed trials_per_model"),
        "registered_models": (models, "variant model provider requested_model settings trials"),
        "registered_prompts": (prompts, "variant source model prompt_hash"),
        "eligible_models": ([(pattern,) for pattern in document["later_models"]["eligible"]], "pattern"),
        "registered_fits": (fits, "fit engine formula"),
        "registered_flags": (flags, "fit flag"),
        "planned_looks": ([(n,) for n in document["looks"]["at"]], "n_trials"),
        "setting_forms": (forms, "settings canonical"),
    }
    return {
        table: pl.DataFrame(
            rows, {name: pl.Int64 if name in _WHOLE else pl.String for name in names.split()}, orient="row"
        )
        for table, (rows, names) in tables.items()
    }


def _described(fit: Mapping[str, Any]) -> str:
    """Return a registered fit as the table of fits would call it."""
    levels = {column: tuple(values) for column, values in (fit.get("levels") or {}).items()}
    formula, outcome, contrast = (fit.get(key) for key in ("formula", "outcome", "contrast"))
    flags, settings = tuple(fit["drop_flags"]), fit.get("settings") or {}
    name, engine, view = fit["name"], fit["engine"], str(fit.get("view"))
    definition = Fit(name, engine, view, formula, outcome, contrast, (), levels, (), flags, settings)
    return ENGINES[engine].describe(with_random(definition)[0]) if engine in ENGINES else str(formula)


def finding(known: Registered, grain: Mapping[str, str]) -> Finding:
    """Return the finding about the registration for one source, study version and variant."""
    rows = known.deviations.filter(**{name: grain[name] for name in GRAIN})
    kinds = rows["deviation"].unique(maintain_order=True).to_list()
    verdict = (
        "As registered: no deviation was found."
        if not kinds
        else f"Not as registered: {', '.join(_KINDS[kind][0] for kind in kinds)}."
    )
    columns = ("deviation", "subject", "registered", "found", "n") if kinds else ()
    standing = "caution" if kinds else "not found"
    return Finding(REGISTRATION, _QUESTION, standing, verdict, (*_details(rows), *_about(known)), columns)


def _details(rows: pl.DataFrame) -> Iterator[str]:
    for kind, (_, sentence) in _KINDS.items():
        of_kind = rows.filter(pl.col("deviation") == kind).to_dicts()
        for row in of_kind[:_MAX_NAMED]:
            yield sentence.format_map({**row, "model": row["model"] or "all models"})
        if len(of_kind) > _MAX_NAMED:
            yield f"And {len(of_kind) - _MAX_NAMED} more of this kind: analyze check --show registration."


def _about(known: Registered) -> Iterator[str]:
    from_where = "stored with a run" if known.is_kept else "given as a file; no run here used it"
    yield f"The registration's SHA-256 is {known.registration.sha256} ({from_where})."
    if known.n_others:
        yield f"Runs here also used {known.n_others} other registration(s); this is the newest."


_KINDS = {
    "source": ("other answers", "These answers are {found}; registered are {registered} ones."),
    "study_version": ("another version of the study", "The study's version is {found}; registered is {registered}."),
    "variant": ("another variant", "The variant {found} is not registered; registered: {registered}."),
    "prompts": ("other prompts", "{model}: {n} conversations began with a prompt that is not registered."),
    "seed": ("another seed", "{model}: the seed is {found}; registered is {registered} ({n} trials)."),
    "model": (
        "a model that is not eligible",
        "{found} is neither registered nor eligible as a later model ({n} trials).",
    ),
    "settings": ("other settings", "{model}: asked with {found}; registered is {registered} ({n} trials)."),
    "fewer_trials": ("fewer trials than planned", "{model}: {found} trials of the {registered} planned."),
    "more_trials": ("more trials than planned", "{model}: {found} trials, planned are {registered}."),
    "formula": ("a fit with another formula", "The fit {subject} is {found}; registered is {registered}."),
    "exclusion": ("exclusions added", "The fit {subject} excludes {n} rows by {found}, which is not registered."),
    "stopping_rule": ("another stopping rule", "{n} runs were to end by the rule {found}; registered is {registered}."),
    "width_looks": (
        "more looks at the width than planned",
        "{model}: {found} looks at the width; registered are {registered}.",
    ),
    "left_early": (
        "abandoned before the rule ended it",
        "{model}: asked no more after {found} repetitions; by {registered} it was to go on.",
    ),
    "looks": ("more looks than planned", "{model}: {found} looks by the fit {subject}; planned are {registered}."),
}
"""Each deviation, in the order of a page: its name in a verdict, and the sentence of one row."""
