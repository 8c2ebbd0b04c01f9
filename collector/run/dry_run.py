"""Say what a run plan would take, with its first prompt; nothing is sent.

Say what a person should know about a run plan before anything is sent.

Find what a run would ask although it has an answer here: under another version of the study, other settings, another
seed. That is reported before anything is sent, for it may cost what was already paid once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slant.collector.ask.call import Watcher
from slant.collector.cost.estimate import Span, dollars
from slant.collector.cost.quote import Quote, quote_rows, quotes, sentences, short_rows
from slant.collector.errors import DatabaseEmptyError
from slant.collector.keep.database import fetched, reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal_loader import unreadable_journals
from slant.collector.model_checks.findings import run_notes
from slant.collector.plan.asking_again import occasion_notes
from slant.collector.plan.run_plan import ModelPlan, RunPlan
from slant.collector.provenance.bibtex import other_address_notes
from slant.collector.registration.document import departures
from slant.collector.request.record import Request
from slant.collector.run.until_width import Precision
from slant.collector.run_report import DryRun
from slant.collector.studies.stored_texts import kept_text, text_differences
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text, first_of

_ANSWERED = "FROM asked_trials WHERE study = ? AND variant = ? AND source = ? AND model = ?"
_FIELDS = ("test", "condition", "item", "wording", "repetition", "round", "game")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class RepeatedTrials:
    """Hold trials of one model that have an answer here and would be asked again, and why. `versions` are those that
    asked them, `settings` and `seeds` what they were asked with if that differs from what would be sent now."""

    model: str
    trials: int
    versions: Counter[str]
    settings: tuple[str, ...]
    seeds: tuple[int, ...]
    addresses: tuple[str, ...]


def repeated_trial_notes(run_plan: RunPlan, concurrency: int, *, is_batch: bool = False) -> list[str]:
    """Return the sentences for people; none if no trial is asked twice."""
    asked_first = [each for each in run_plan.model_plans if each.occasion is None] if run_plan.db.exists() else []
    repeated = [found for each in asked_first if (found := _of_model(run_plan, each)) is not None]
    trials = sum(of_model.trials for of_model in repeated)
    if not trials:
        return []
    reasons = [*_versions(run_plan, repeated), *_settings(run_plan, repeated)]
    again = f"{count_text(trials, 'trial')} would be asked again{_about(run_plan, repeated, concurrency, is_batch)}."
    return [" ".join([*reasons, again])]


def _of_model(run_plan: RunPlan, model_plan: ModelPlan) -> RepeatedTrials | None:
    source = "simulated" if model_plan.provider.name == "simulated" else "collected"
    try:
        with reading(run_plan.db) as connection:
            values = [run_plan.study.name, run_plan.study.variant, source, model_plan.name]
            n_here = connection.execute(f"SELECT count(*) {_ANSWERED}", values).fetchall()[0][0]
            if n_here <= model_plan.already_done or not model_plan.pending:  # only what the plan has is here
                return None
            rows = frame_of(connection.sql(_ANSWERED, params=values)).to_dicts()
    except DatabaseEmptyError:
        return None
    before = {_cell(row): row for row in rows}
    conversations = run_plan.conversations(model_plan, model_plan.skip)
    planned = {trial.trial_id: trial for conversation in conversations for trial in conversation.trials}
    done = {row["trial_id"] for row in rows}
    again = [
        before[cell]
        for name, trial in planned.items()
        if name not in done and (cell := _cell({field: getattr(trial, field) for field in _FIELDS})) in before
    ]
    if not again:
        return None
    settings_now = model_plan.model.settings_text
    addresses = {f"{row['provider']}/{row['requested_model']}" for row in again}
    return RepeatedTrials(
        model_plan.name,
        len(again),
        Counter(row["study_version"] for row in again if row["content"] not in run_plan.study.contents),
        tuple(sorted({row["settings"] for row in again if row["settings"] not in (None, settings_now)})),
        tuple(sorted({row["seed"] for row in again if row["seed"] not in (None, run_plan.seed)})),
        tuple(sorted(addresses - {model_plan.address})),
    )


def _cell(row: Row) -> tuple[Any, ...]:
    if row["game"] is not None:
        return row["test"], row["repetition"], row["round"]
    return row["test"], row["condition"], row["item"], row["wording"], row["repetition"]


def _versions(run_plan: RunPlan, repeated: list[RepeatedTrials]) -> Iterator[str]:
    study = run_plan.study
    versions: Counter[str] = sum((of_model.versions for of_model in repeated), Counter())
    answers = dict(fetched(run_plan.db, sql_query("answers_by_version"), {"study": study.name}))
    for version in versions:
        text = kept_text(run_plan.db, study.name, version)
        places = text_differences(text.files, study.texts) if text else []
        different = f" Different: {first_of(places, 6)}." if places else ""
        count = answers.get(version, versions[version])
        yield f"This is version {study.version} of {study.name}; {count:,} answers of {version} are here.{different}"


def _settings(run_plan: RunPlan, repeated: list[RepeatedTrials]) -> Iterator[str]:
    plans = {model_plan.name: model_plan for model_plan in run_plan.model_plans}
    for of_model in repeated:
        model_plan = plans[of_model.model]
        if of_model.settings:
            current, before = model_plan.model.settings_text, " and ".join(of_model.settings)
            yield (
                f"{of_model.model} has answers here that were asked with the settings {before}; now they are {current}."
            )
        if of_model.seeds:
            before = " and ".join(map(str, of_model.seeds))
            yield f"{of_model.model} has answers here with the seed {before}; now it is {run_plan.seed}."
        if of_model.addresses:
            before = ", ".join(of_model.addresses)
            yield f"{of_model.model} has answers here of {before}; now it is {model_plan.address}."


def _about(run_plan: RunPlan, repeated: list[RepeatedTrials], concurrency: int, is_batch: bool) -> str:
    """Return the cost of those trials: their share of what is pending."""
    trials, cost = {of_model.model: of_model.trials for of_model in repeated}, Span(0.0, 0.0, 0.0)
    for quote in quotes(run_plan, concurrency, is_batch=is_batch):
        share = trials.get(quote.model_plan.name, 0) / max(1, quote.model_plan.pending)
        if share and quote.estimate.cost_usd is not None:
            cost = cost.plus(quote.estimate.cost_usd.times(share))
    return f", about {dollars(cost.about)}" if cost.about else ""


def tell_of_plan(run_plan: RunPlan, request: Request, watcher: Watcher) -> None:
    """Say who is left out and what is worth knowing about models; warn of what asks or costs more than intended."""
    for model, reason in run_plan.left_out:
        watcher.note(f"{model} can't be asked here: {reason}.")
    for note in run_notes(run_plan, wants_logprobs=request.logprobs):
        watcher.note(note)
    lost = (f"{what} What is lost with it is asked, and paid for, again." for what in unreadable_journals(run_plan.db))
    repeated = repeated_trial_notes(run_plan, request.concurrency, is_batch=request.batch)
    for note in (*lost, *other_address_notes(run_plan), *repeated):
        watcher.warn(note)
    for note in _shard_notes(run_plan, request.budget):
        watcher.note(note)
    unregistered = [] if run_plan.registration is None else departures(run_plan, run_plan.registration)
    if run_plan.registration is not None and not unregistered:
        watcher.note(f"As registered (SHA-256 {run_plan.registration.sha256[:12]}…): nothing departs from it so far.")
    for note in (*occasion_notes(run_plan), *unregistered):
        watcher.warn(note)


def _shard_notes(run_plan: RunPlan, budget_usd: float | None) -> list[str]:
    """Return notes on the part of the plan that is collected if that is not all of it, and on the meaning of a budget
    then."""
    if run_plan.shard is None:
        return []
    trials = ", ".join(
        f"{model_plan.planned:,} of {run_plan.whole:,} trials of {model_plan.name}"
        for model_plan in run_plan.model_plans
    )
    notes = [f"Shard {run_plan.shard} of the plan: {trials}."]
    if budget_usd is not None:
        notes.append(
            f"--budget is for this shard's database alone: {run_plan.shard.of} shards may cost "
            f"{run_plan.shard.of} times {dollars(budget_usd)}."
        )
    return notes


def dry_run_of(run_plan: RunPlan, request: Request) -> DryRun:
    """Return the estimate for this plan. It refuses everything that a run would refuse."""
    if request.batch and run_plan.model_plans:
        from slant.collector.batch.submit import refuse_game  # most runs need none of it

        refuse_game(run_plan.study)
    quoted = quotes(run_plan, request.concurrency, is_batch=request.batch)
    return _dry_run(run_plan, [({}, quoted)], sentences(quoted))


def dry_run_until_narrow(precision: Precision, request: Request) -> DryRun:
    """Return the estimates for the minimum before anything can end, and for the maximum."""
    going = precision.going()
    parts = [
        ({"asked": name, "repetitions": run_plan.repetitions}, quotes(run_plan, request.concurrency))
        for name, run_plans in (("least", precision.until_next_look()), ("most", [going]))
        for run_plan in run_plans
    ]
    return _dry_run(going, parts, [f"At most: {sentence}" for sentence in sentences(parts[-1][1])])


def _dry_run(run_plan: RunPlan, parts: Sequence[tuple[dict[str, object], list[Quote]]], notes: Sequence[str]) -> DryRun:
    first = run_plan.model_plans[0] if run_plan.model_plans else None
    return DryRun(
        run_id="",
        db=run_plan.db,
        models=tuple(part | row for part, quoted in parts for row in quote_rows(quoted)),
        left_out=run_plan.left_out,
        notes=tuple(notes),
        short=tuple(part | row for part, quoted in parts for row in short_rows(quoted)),
        first_model=None if first is None else first.name,
        first_prompt=None if first is None else run_plan.first_prompt(first),
    )
