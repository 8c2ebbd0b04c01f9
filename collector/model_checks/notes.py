"""Warn of models whose token count was never checked or failed its check: before a run, and under its tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slant.collector.ask.endings_seen import unread_notes
from slant.collector.batch.live_or_batch import mixed_notes
from slant.collector.errors import DatabaseError, OlderDatabaseError
from slant.collector.keep.database import reading
from slant.collector.providers.lifecycles import lifecycle_of
from slant.collector.studies.catalogue import list_studies, load_study
from slant.collector.system.shipped_files import sql_query

if TYPE_CHECKING:
    from slant.collector.plan.run_plan import ModelPlan, RunPlan

Verdicts = dict[tuple[str, str, str], tuple[str, str]]


def run_notes(run_plan: RunPlan, *, wants_logprobs: bool) -> list[str]:
    """Return the notes on a run's models before it starts. Never raises: a note must not stop a run."""
    real = [model_plan for model_plan in run_plan.model_plans if model_plan.provider.name != "simulated"]
    verdicts = _verdicts(run_plan.db) if run_plan.study.design.analyses.counts_tokens else None
    notes = [_note(run_plan, model_plan, verdicts) for model_plan in real] if verdicts is not None else []
    if wants_logprobs:
        notes += [
            f"{model_plan.name}: {model_plan.provider.name} gives no log-probabilities; it is asked without."
            for model_plan in run_plan.model_plans
            if model_plan.provider.logprobs is None
        ]
    if any(model_plan.model.structured_output for model_plan in run_plan.model_plans):
        notes.append(
            "Providers enforce the shape of the answers: malformed ones can't come, so compliance is another thing "
            "here than where JSON is asked for in words."
        )
    notes += [note for model_plan in real if model_plan.pending and (note := _end_note(model_plan))]
    return [note for note in (run_plan.study.note or None, *notes) if note]


def _end_note(model_plan: ModelPlan) -> str | None:
    """Say that a model is gone, or when it will be, before anything is paid for it."""
    known = lifecycle_of(model_plan.provider.name, model_plan.model.requested_model)
    return None if known is None else known.sentence(model_plan.address)


def table_notes(db: str | Path, study: str | None = None) -> list[str]:
    """Return the notes below tables of collected answers on their models; nothing in a database without checks."""
    query = (
        "SELECT DISTINCT study, model, provider, requested_model, check_verdict, reasons FROM model_checks ORDER BY ALL"
    )
    try:
        with reading(db) as connection:
            rows = connection.execute(query).fetchall()
            # the file of a custom game, which says its design, may not be here
            games = connection.execute("SELECT DISTINCT study FROM attempts WHERE game IS NOT NULL").fetchall()
    except OlderDatabaseError:
        return []
    return [
        f"{model} {_verdict_sentence(verdict, reasons or '', f'{provider}/{requested}')}"
        for of_study, model, provider, requested, verdict, reasons in rows
        if verdict in ("unchecked", "not usable")
        and study in (None, of_study)
        and (of_study,) not in games
        and _analyses_tokens(of_study)
    ] + [*mixed_notes(db, study), *_unread_notes(db, study)]


def _unread_notes(db: str | Path, study: str | None) -> list[str]:
    """Return a sentence for each model that left questions of answered trials unread."""
    with reading(db) as connection:
        rows = connection.execute(sql_query("questions_of_trials"), {"study": study}).fetchall()
    counts: dict[tuple[str, str], dict[tuple[int, int], int]] = {}
    for of_study, name, n_questions, n_unread, n in rows:
        counts.setdefault((of_study, name), {})[n_questions, n_unread] = n
    return [note for (_, name), unread in counts.items() for note in unread_notes(name, unread)]


def _analyses_tokens(study: str) -> bool:
    """Return False for a known study that is not about tokens: what a count is worth does not matter there."""
    return study not in list_studies() or load_study(study).design.analyses.counts_tokens


def _note(run_plan: RunPlan, model_plan: ModelPlan, verdicts: Verdicts) -> str | None:
    model = model_plan.model
    verdict, reasons = verdicts.get(
        (model_plan.provider.name, model.requested_model, model.settings_text), ("unchecked", "")
    )
    if verdict not in ("unchecked", "not usable"):
        return None
    study = f" --study {run_plan.study.name}" if model.settings else ""
    is_own = model_plan.provider.key_variable is None and model_plan.base_url
    server = f" --base-url {model_plan.base_url}" if is_own and model_plan.provider.name != "simulated" else ""
    return f"{model.model} {_verdict_sentence(verdict, reasons, f'{model_plan.address}{study}{server}')}"


def _verdict_sentence(verdict: str, reasons: str, name: str) -> str:
    if verdict == "unchecked":
        return f"is unchecked: nobody knows yet what its token count is worth. To find out: collect check-model {name}"
    return f"failed its check: its token count is not usable as a dependent variable ({reasons})."


def _verdicts(db: Path) -> Verdicts | None:
    """Return the latest verdict by provider, name and settings; None if the database can't be read now."""
    query = "SELECT provider, requested_model, settings, verdict, coalesce(reasons, '') FROM checks ORDER BY checked_at"
    if not db.exists():
        return {}
    try:
        with reading(db, patience_s=1.0) as connection:
            rows = connection.execute(query).fetchall()
    except OlderDatabaseError:
        return {}
    except DatabaseError:
        return None
    return {(provider, name, settings): (verdict, reasons) for provider, name, settings, verdict, reasons in rows}
