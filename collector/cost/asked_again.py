"""What a run would ask although it has an answer here: under another version of the study, other settings, another
seed. Said before anything is sent, for it may cost what was paid once already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slant.collector.cost.estimate import Span, dollars
from slant.collector.cost.quote import quotes
from slant.collector.errors import DatabaseEmptyError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.plan.conversations import plan
from slant.collector.plan.run_plan import Asked, Offer
from slant.collector.records import Trial
from slant.collector.studies.differences import differences
from slant.collector.studies.stored_texts import kept_text
from slant.collector.system.shipped_files import sql_query

MOST_NAMED = 6
_ANSWERED = "FROM asked_trials WHERE study = ? AND variant = ? AND source = ? AND model = ?"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class AskedAgain:
    """Trials of one model that have an answer here and would be asked again, and why. `versions` are those that asked
    them, `settings` and `seeds` what they were asked with where that is not what would be sent now."""

    model: str
    trials: int
    versions: Counter[str]
    settings: tuple[str, ...]
    seeds: tuple[int, ...]
    addresses: tuple[str, ...]


def asked_again(offer: Offer) -> list[AskedAgain]:
    """By model of the offer; those without such trials are left out."""
    if not Path(offer.db).exists():
        return []
    return [found for asked in offer.asked if (found := _of_model(offer, asked)) is not None]


def asked_again_notes(offer: Offer, concurrency: int, *, is_batch: bool = False) -> list[str]:
    """The sentences for people; none where no answer is asked for twice."""
    found = asked_again(offer)
    trials = sum(one.trials for one in found)
    if not trials:
        return []
    reasons = [*_versions(offer, found), *_settings(offer, found)]
    return [
        " ".join([*reasons, f"{_trials(trials)} would be asked again{_about(offer, found, concurrency, is_batch)}."])
    ]


def _of_model(offer: Offer, asked: Asked) -> AskedAgain | None:
    source = "simulated" if asked.provider.name == "simulated" else "collected"
    try:
        with reading(offer.db) as connection:
            its = [offer.study.name, offer.study.variant, source, asked.model.model]
            n_here = connection.execute(f"SELECT count(*) {_ANSWERED}", its).fetchall()[0][0]
            if n_here <= asked.already_done or not asked.pending:  # nothing is here but what the plan has
                return None
            rows = frame_of(connection.sql(_ANSWERED, params=its)).to_dicts()
    except DatabaseEmptyError:
        return None
    before = {_cell(row): row for row in rows}
    planned = {trial.trial_id: trial for one in _conversations(offer, asked) for trial in one}
    done = {row["trial_id"] for row in rows}
    again = [before[cell] for name, trial in planned.items() if name not in done and (cell := _of(trial)) in before]
    if not again:
        return None
    now = asked.model.settings_text
    names = (asked.provider.name, asked.model.requested_model)
    return AskedAgain(
        asked.model.model,
        len(again),
        Counter(row["study_version"] for row in again if row["content"] not in offer.study.contents),
        tuple(sorted({row["settings"] for row in again if row["settings"] not in (None, now)})),
        tuple(sorted({row["seed"] for row in again if row["seed"] not in (None, offer.seed)})),
        tuple(sorted({f"{r['provider']}/{r['requested_model']}" for r in again if _served(r) != names})),
    )


def _served(row: Row) -> tuple[str, str]:
    return row["provider"], row["requested_model"]


def _conversations(offer: Offer, asked: Asked) -> Iterator[tuple[Trial, ...]]:
    for conversation in plan(offer.study, asked.model, offer.seed, offer.repetitions, asked.skip):
        if offer.slice is None or conversation.conversation_id in offer.slice:
            yield conversation.trials


def _cell(row: Row) -> tuple[Any, ...]:
    if row["game"] is not None:
        return row["test"], row["repetition"], row["round"]
    return row["test"], row["condition"], row["item"], row["wording"], row["repetition"]


def _of(trial: Trial) -> tuple[Any, ...]:
    return _cell({name: getattr(trial, name) for name in _FIELDS})


_FIELDS = ("test", "condition", "item", "wording", "repetition", "round", "game")


def _versions(offer: Offer, found: list[AskedAgain]) -> Iterator[str]:
    study = offer.study
    versions: Counter[str] = sum((one.versions for one in found), Counter())
    here = _answers_of(offer)
    for version in versions:
        text = kept_text(offer.db, study.name, version)
        places = differences(text.files, study.texts) if text else []
        shown = ", ".join(places[:MOST_NAMED]) + (
            f" and {len(places) - MOST_NAMED} more" if places[MOST_NAMED:] else ""
        )
        different = f" Different: {shown}." if places else ""
        count = here.get(version, versions[version])
        yield f"This is version {study.version} of {study.name}; {count:,} answers of {version} are here.{different}"


def _answers_of(offer: Offer) -> dict[str, int]:
    with reading(offer.db) as connection:
        return dict(connection.execute(sql_query("answers_by_version"), {"study": offer.study.name}).fetchall())


def _settings(offer: Offer, found: list[AskedAgain]) -> Iterator[str]:
    now = {asked.model.model: asked for asked in offer.asked}
    for one in found:
        asked = now[one.model]
        if one.settings:
            its, before = asked.model.settings_text, " and ".join(one.settings)
            yield f"{one.model} has answers here that were asked with the settings {before}; now they are {its}."
        if one.seeds:
            before = " and ".join(map(str, one.seeds))
            yield f"{one.model} has answers here with the seed {before}; now it is {offer.seed}."
        if one.addresses:
            its = f"{asked.provider.name}/{asked.model.requested_model}"
            yield f"{one.model} has answers here of {', '.join(one.addresses)}; now it is {its}."


def _about(offer: Offer, found: list[AskedAgain], concurrency: int, is_batch: bool) -> str:
    """The cost of those trials: their share of what is pending."""
    trials, cost = {one.model: one.trials for one in found}, Span(0.0, 0.0, 0.0)
    for quote in quotes(offer, concurrency, is_batch=is_batch):
        share = trials.get(quote.asked.model.model, 0) / max(1, quote.asked.pending)
        if share and quote.estimate.cost_usd is not None:
            cost = cost.plus(quote.estimate.cost_usd.times(share))
    return f", about {dollars(cost.about)}" if cost.about else ""


def _trials(number: int) -> str:
    return "1 trial" if number == 1 else f"{number:,} trials"
