"""Fetch the results of batch jobs, through the same path as live answers: reply(), the design's read(), the journal.

Fetching twice is like fetching once: a trial with its final answer is skipped, and a job is closed only when every
answer that the provider counts is in the journal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, islice
from typing import Any

from slant.collector.ask.attempts import AttemptMaker, AttemptPlace
from slant.collector.ask.declined import DeclinedTrials
from slant.collector.ask.retries import judge
from slant.collector.ask.uncounted_answers import read_exchange
from slant.collector.batch.services import (
    GONE_AFTER_S,
    UNREADABLE,
    BatchResult,
    JobStatus,
    Service,
    UnreadableLine,
    Unsure,
)
from slant.collector.designs.study import read_reply
from slant.collector.errors import JournalError
from slant.collector.keep.batch_jobs import Job, JobFolder, JobMap, JobRequest
from slant.collector.keep.final_trials import ENDS, Finals
from slant.collector.keep.journal import Journal, utc_now
from slant.collector.providers import provider_named
from slant.collector.providers.error_meanings import speakers
from slant.collector.providers.exchange import Exchange
from slant.collector.providers.prices import Price, cost_usd
from slant.collector.records import Attempt, Reading
from slant.collector.studies.catalogue import Study

CHUNK = 500  # answers for one fsync
MAX_NAMED = 5


@dataclass
class Fetched:
    """Report what one job gave: counts by outcome, and the reason of the first failure.

    `n_results` are the lines with an id of this job, `n_responses` those of them with an answer; a fetch that resumes a
    killed one counts in `outcomes` only what is new, and in `n_earlier` the answers that were kept before.
    `unreadable`: the lines that can't be read, in words.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    n_results: int = 0
    n_responses: int = 0
    n_earlier: int = 0
    first_reason: str | None = None
    unreadable: list[str] = field(default_factory=list)

    @property
    def n_final(self) -> int:
        """Count the requests of the job whose trial has its final answer now."""
        return sum(self.outcomes.values()) - self.outcomes["failed"] + self.n_earlier


@dataclass(frozen=True)
class _Fetching:
    """Hold a job whose results are being fetched; `before` are trials that had a failed attempt from it already."""

    job: Job
    service: Service
    seen: JobStatus
    names: JobMap
    before: set[str]
    declined: DeclinedTrials
    fetched: Fetched = field(default_factory=Fetched)
    counted: set[str] = field(default_factory=set)
    """Trials whose final answer is counted."""


class Fetcher:
    """Move the results of ended jobs into the journal. `finals` holds the trials that are done, and grows.

    `earlier` says which trials have any attempt from a batch job, `price_of` what a job's model costs,
    `declined_before` what its provider had declined before.
    """

    def __init__(
        self,
        study: Study,
        folder: JobFolder,
        maker: AttemptMaker,
        journal: Callable[[], Journal],
        finals: Finals,
        earlier: Callable[[str], set[str]],
        price_of: Callable[[Job], Price | None],
        declined_before: Callable[[Job], DeclinedTrials],
    ) -> None:
        self._study, self._folder, self._maker, self._journal = study, folder, maker, journal
        self._finals, self._earlier, self._price_of = finals, earlier, price_of
        self._declined_before = declined_before

    def fetch(self, job: Job, service: Service, seen: JobStatus) -> Fetched:
        """Journal an ended job's results and close it. Raise Unsure or NotThere, and then leave the job open."""
        # failed rows are kept as well, but don't end their trial: after a kill the same rows must not come twice
        before = self._earlier(job.batch_id or "") if job.state == "fetching" else set()
        job = self._folder.write(replace(job, state="fetching"))
        declined = self._declined_before(job)
        if seen.n_answers:
            declined.answered()
        fetching = _Fetching(job, service, seen, self._folder.map_of(job), before, declined)
        fetched = fetching.fetched
        rows = service.results(job)
        while chunk := list(islice(rows, CHUNK)):
            attempts = list(self._attempts(fetching, chunk))
            self._journal().append_many(attempts)
            if self._journal().is_full:
                raise JournalError("The disk is full: fetching stopped.", "Make room, then type the same command.")
        if fetched.n_responses < seen.n_answers and not (fetched.unreadable and job.age_s > GONE_AFTER_S):
            which = "".join(f"; {line}" for line in fetched.unreadable[:MAX_NAMED])
            raise Unsure(f"{fetched.n_responses:,} of {seen.n_answers:,} answers came{which}")
        missing = max(0, job.n_requests - fetched.n_results)
        self._folder.close(job, seen.problem or seen.status, {**fetched.outcomes, "without_result": missing})
        return fetched

    def _attempts(self, fetching: _Fetching, rows: Sequence[BatchResult | UnreadableLine]) -> Iterator[Attempt]:
        fetched, before = fetching.fetched, fetching.before
        fetched.unreadable += [row.in_words for row in rows if isinstance(row, UnreadableLine)]
        answered = [row for row in rows if isinstance(row, BatchResult)]
        results = [(row, *sent) for row in answered if (sent := fetching.names.find(row.custom_id))]
        trial_ids = [request.trial.trial_id for _, request, _ in results]
        final = set(compress(trial_ids, self._finals.among(trial_ids)))
        for row, request, line in results:
            fetched.n_results += 1
            fetched.n_responses += row.status == 200
            trial_id = request.trial.trial_id
            if trial_id in final or trial_id in before:
                fetched.n_earlier += trial_id in final and trial_id not in fetching.counted  # a line may come twice
                fetching.counted.add(trial_id)
                continue
            try:
                attempt = self._attempt(fetching, request, line, row)
            except UNREADABLE as error:
                fetched.n_responses -= row.status == 200
                fetched.unreadable.append(f"the answer to {row.custom_id} can't be read ({type(error).__name__})")
                continue
            (final if attempt.is_final else before).add(attempt.trial_id)
            self._finals.end([attempt.trial_id] if ENDS in (attempt.factors or "") else ())
            fetched.outcomes[attempt.outcome] += 1
            fetching.counted.add(attempt.trial_id)
            yield attempt
        self._finals.add(final)

    def _attempt(self, fetching: _Fetching, request: JobRequest, line: Mapping[str, Any], row: BatchResult) -> Attempt:
        job, fetched = fetching.job, fetching.fetched
        provider, exchange = provider_named(job.provider), _exchange(job, row, fetching.seen)
        whose = speakers(job.provider, model=job.study_model.requested_model)
        # as live: a response that declares itself a failure ends no trial
        verdict = fetching.declined.judged_in_batch(request.trial.trial_id, judge(exchange, 1, whose))
        reply, verdict = read_exchange(provider, exchange, verdict, request.trial, 1)
        is_final = reply.outcome != "failed"
        if not is_final:
            fetched.first_reason = fetched.first_reason or self._maker.redacted(verdict.reason)
        cost = cost_usd(self._price_of(job), reply, is_batch=True)
        body = fetching.service.body(line)
        place = AttemptPlace(request.conversation_id, 1, 1, is_final, request.prompt_hash, body, job.batch_id, cost)
        reading = read_reply(self._study, request.trial, reply) if is_final else Reading("failed")
        return self._maker.make(job.study_model, request.trial, place, exchange, reply, reading)


def _exchange(job: Job, row: BatchResult, seen: JobStatus) -> Exchange:
    """Return a result as if it had come live. The time between sending and done is the whole job's, not the
    answer's.
    """
    return Exchange(
        queued_at=job.created_at,
        sent_at=job.submitted_at or job.created_at,
        done_at=seen.ended_at or utc_now(),
        status=row.status,
        headers={"x-request-id": row.request_id} if row.request_id else {},
        body=row.body,
        error=row.error,
    )
