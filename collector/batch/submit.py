"""Make batch jobs of what is pending: split at the provider's limits, with the intent on disk first, submitted once.

The maximum cost of every request is reserved from when its job is made until its answers are here. Only the sum in each
job's file is stored: what is spent is in the database and the journals.

Find which answers came live and which by batch, and keep one model's from being mixed unless a person asks."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from slant.collector.ask.lane_money import ROUNDING_USD, UNCERTAIN, LaneMoney, Ledger
from slant.collector.ask.unfinished_games import Begun
from slant.collector.batch.services import NotSubmitted, Service, Unsure
from slant.collector.cost.budget import batch_factor, lane_money, open_ledger, price_of
from slant.collector.errors import OlderDatabaseError, UsageError
from slant.collector.keep.batch_jobs import Job, JobFolder, JobRequest, key_check, new_job_id
from slant.collector.keep.database import fetched
from slant.collector.keep.journal import utc_now
from slant.collector.keep.stored_attempts import attempts_where
from slant.collector.plan.run_plan import ModelPlan, RunPlan
from slant.collector.providers import Provider
from slant.collector.providers.exchange import Request
from slant.collector.records import Conversation, Prompt, Run, Trial
from slant.collector.studies.catalogue import Study, StudyModel
from slant.collector.terminal import count_text

Modes = dict[str, Counter[str]]
_OF_STUDY = (  # of this version, or of another whose text holds what the trial's prompt was made of
    "is_final AND occasion IS NULL AND source = 'collected' AND study = $study AND variant = $variant "
    "AND (study_version = $version OR list_contains($contents, content))"
)


def attempted_in(db: Path, batch_id: str) -> set[str]:
    """Return the trials that have any attempt, final or failed, from this batch job."""
    parts = attempts_where(db, "batch_id = $batch_id", {"batch_id": batch_id}, "DISTINCT trial_id")
    return {trial_id for part in parts for trial_id in part["trial_id"]}


def modes(db: Path, study: Study) -> Modes:
    """Return the number of `live` and `batch` trials of each model in this study, version and variant."""
    contents = sorted(study.contents)
    values = {"study": study.name, "version": study.version, "variant": study.variant, "contents": contents}
    counts: Modes = defaultdict(Counter)
    for part in attempts_where(db, _OF_STUDY, values, "model, batch_id IS NOT NULL AS is_batch"):
        for model, is_batch, count in part.group_by("model", "is_batch").len().iter_rows():
            counts[model]["batch" if is_batch else "live"] += count
    for job in JobFolder(db).open_jobs(study.name):
        if (job.study_version, job.variant) == (study.version, study.variant):
            counts[str(job.model["model"])]["batch"] += job.n_requests
    return counts


def check_not_mixed(db: Path, study: Study, models: Collection[str], *, is_batch: bool) -> None:
    """Raise UsageError if a model's answers in one study would come partly live and partly by batch."""
    other = "live" if is_batch else "batch"
    for model, counts in modes(db, study).items():
        if model in models and counts[other]:
            way, other_way = ("by batch", "live") if is_batch else ("live", "by batch")
            raise UsageError(
                f'Can\'t ask {model} {way}: {counts[other]:,} trials of "{study.name}" were collected {other_way}.',
                "A provider may serve the two differently, so collect all answers of a model in one way. Nothing "
                "was sent.",
                f"To continue as before: {'remove --batch' if is_batch else '--batch'}. To mix them anyway: --mixed",
            )


def mixed_notes(db: str | Path, study: str | None) -> list[str]:
    """Return sentences about models whose answers in one test came both live and by batch (collect --mixed)."""
    query = "SELECT DISTINCT study, model FROM mixed_batches WHERE source = 'collected' ORDER BY ALL"
    try:
        rows = fetched(db, query)
    except OlderDatabaseError:  # it has no batches
        return []
    return [
        f"{model} was collected partly live and partly by batch: its contrasts mix the two (view mixed_batches)."
        for of_study, model in rows
        if study in (None, of_study)
    ]


class Purse:
    """Hold the money for one model's next jobs. `held_back` becomes true with the first request that does not fit."""

    def __init__(self, money: LaneMoney) -> None:
        self._money = money
        self._factor = batch_factor(money.price)
        self._job_usd = 0.0
        self.held_back = False

    def has_room(self, body: Mapping[str, Any]) -> bool:
        room = self._money.ledger.has_room(self._max_usd(body))
        self.held_back = self.held_back or not room
        return room

    def take(self, body: Mapping[str, Any]) -> bool:
        """Reserve the most that this request may cost and return True; False if the budget has no room for it."""
        if not self.has_room(body):
            return False
        self._money.ledger.reserve(self._max_usd(body))
        self._job_usd += self._max_usd(body)
        return True

    def closed(self) -> float | None:
        """Return the money used since the last call, for one job, in US dollars; None if no price is known."""
        taken, self._job_usd = self._job_usd, 0.0
        return taken if self._money.price is not None else None

    def sentence(self, n_requests: int) -> str:
        """Say why these requests were not submitted, and how to submit them."""
        ledger = self._money.ledger
        taken, go_on = f"${ledger.spent_usd:,.4f} is spent", "To continue: a higher --budget"
        if ledger.uncertain_usd:
            taken += f", up to ${ledger.uncertain_usd:,.4f} is for {UNCERTAIN}"
        if (open_usd := ledger.promised_usd + ledger.reserved_usd) > ROUNDING_USD:
            taken += f", up to ${open_usd:,.4f} is reserved for open jobs"
            go_on = (
                "Answers often cost less: fetch them with the same command, which then continues; or set "
                "--budget higher"
            )
        return (
            f"{count_text(n_requests, 'request')} held back: the budget of ${ledger.cap_usd:,.2f} can't cover the "
            "highest possible cost."
            f" {taken}. {go_on}"
        )

    def _max_usd(self, body: Mapping[str, Any]) -> float:
        return self._factor * self._money.max_usd(body)


def purse(run_plan: RunPlan, model_plan: ModelPlan, budget_usd: float | None) -> Purse:
    """Return a purse from the money on disk; UsageError for a budget that can't be kept."""
    return Purse(lane_money(run_plan, model_plan, open_budget(run_plan, budget_usd)))


def open_budget(run_plan: RunPlan, budget_usd: float | None) -> Ledger:
    """Return the ledger of the study; UsageError also if a model's batches have no price."""
    ledger = open_ledger(run_plan, budget_usd)
    for model_plan in run_plan.paid if budget_usd is not None else ():
        price = price_of(run_plan, model_plan)
        if price is not None and price.batch_factor is None:
            raise UsageError(
                f"Can't keep a budget: no price of batch jobs is known for {model_plan.address}.",
                'Give one ("batch_factor"): --prices FILE (collector/providers/prices.toml shows how).',
            )
    return ledger


ROOM = 0.95  # of a provider's limit in bytes: it may count another encoding, and what surrounds the requests


@dataclass
class BatchLane:
    """Hold one model's progress: who serves it, what it was given and what came back in this call of `collect`.

    `held_back` says why some was not submitted for want of money; `stopped_because` why the model is asked no more.
    """

    model_plan: ModelPlan
    base_url: str
    key: str | None
    submitted: int = 0
    rounds: int = 0
    begun: Begun = field(default_factory=Begun)
    held_back: str | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    stopped_because: str | None = None

    @property
    def model(self) -> StudyModel:
        return self.model_plan.model

    @property
    def provider(self) -> Provider:
        return self.model_plan.provider


@dataclass(frozen=True, slots=True)
class Pending:
    """Hold one trial that a job is to ask."""

    conversation: Conversation
    trial: Trial
    prompt: Prompt
    request: Request


class Feed:
    """Yield the pending requests, one at a time; the one that did not fit into a job is the first of the next."""

    def __init__(self, items: Iterator[Pending]) -> None:
        self._items = items
        self._next = next(items, None)

    def __bool__(self) -> bool:
        return self._next is not None

    @property
    def first(self) -> Pending:
        assert self._next is not None
        return self._next

    def advance(self) -> None:
        self._next = next(self._items, None)


def with_requests(study: Study, lane: BatchLane, pending: Iterable[Conversation]) -> Iterator[Pending]:
    """Yield the next trial of each pending conversation with its request."""
    history = lane.begun.of_model.get(lane.model.model, {})
    for conversation in pending:
        step = study.design.asks.next(study, lane.model, conversation, history.get(conversation.conversation_id, []))
        if step is None or conversation.conversation_id in lane.begun.unusable:
            continue
        trial, prompt = step
        request = lane.provider.dialect.request(lane.base_url, lane.key, lane.model, prompt, trial)
        yield Pending(conversation, trial, prompt, request)


def refuse_game(study: Study) -> None:
    """Raise UsageError for a game: each of its many rounds would wait for a job. Conversations of a few turns are asked
    turn by turn, a job for each."""
    if study.design.asks.plays_games:
        raise UsageError(
            f'A game can\'t be a batch job: the next request of "{study.name}" depends on the last answer.',
            "Collect it without --batch.",
        )


def fill(
    feed: Feed, service: Service, job_id: str, endpoint: str, max_requests: int, max_bytes: int, purse: Purse
) -> Iterator[tuple[JobRequest, bytes]]:
    """Take from `feed` what fits into one job: at least one request, then up to the limits and as far as the money
    lasts. Requests are numbered from 0."""
    size = 0
    for number in range(max_requests):
        if not feed:
            return
        item, custom_id = feed.first, f"{job_id}-{number}"
        values = service.line(custom_id, item.request, endpoint)
        # a lone surrogate, which no file can hold, becomes a question mark, as in the journal
        line = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        if number and size + len(line) > max_bytes:
            return
        if not purse.take(item.request.body):
            return
        size += len(line)
        yield JobRequest(custom_id, item.conversation.conversation_id, item.prompt.hash, item.trial), line
        feed.advance()


class Submitter:
    """Submit the pending trials of one lane, a job at a time, and stop at the first job that isn't taken."""

    def __init__(self, study: Study, run: Run, folder: JobFolder, max_requests: int | None) -> None:
        self._study, self._run, self._folder, self._max_requests = study, run, folder, max_requests

    def submit(self, lane: BatchLane, pending: Iterable[Conversation], service: Service, purse: Purse) -> Iterator[Job]:
        """Yield the jobs that were made, as far as the money lasts. Raise NotSubmitted if one was refused, Unsure if
        that is not known (yet)."""
        feed = Feed(with_requests(self._study, lane, pending))
        while feed and purse.has_room(feed.first.request.body):
            job_id, endpoint = new_job_id(), service.endpoint(feed.first.request, lane.base_url)
            most = min(self._max_requests or service.max_requests, service.max_requests)
            job = Job(
                job_id=job_id,
                state="planned",
                run_id=self._run.run_id,
                study=self._study.name,
                study_version=self._study.version,
                variant=self._study.variant,
                provider=lane.provider.name,
                base_url=lane.base_url,
                endpoint=endpoint,
                model={f.name: getattr(lane.model, f.name) for f in fields(lane.model)}
                | {"settings": dict(lane.model.settings)},
                n_requests=0,
                n_bytes=0,
                sha256="",
                key_check=key_check(job_id, lane.key),
                created_at=utc_now(),
            )
            max_bytes = round(service.max_bytes * ROOM)
            job = self._folder.create(job, fill(feed, service, job_id, endpoint, most, max_bytes, purse))
            yield self._submit(replace(job, reserved_usd=purse.closed()), service)

    def _submit(self, job: Job, service: Service) -> Job:
        requests = self._folder.requests(job)
        try:
            file_id = service.upload(job, requests)
        except (NotSubmitted, Unsure) as error:
            self._folder.close(job, f"not submitted: {error}")  # a file by itself is no job
            raise NotSubmitted(str(error)) from error
        job = self._folder.write(replace(job, state="sending", file_id=file_id, sending_at=utc_now()))
        try:
            batch_id = service.submit(job, requests)
        except NotSubmitted as error:
            self._folder.close(job, f"not submitted: {error}")
            raise
        return self._folder.write(replace(job, state="sent", batch_id=batch_id, submitted_at=utc_now()))
