"""Collect by batch (`collect --batch`): one call fetches what is ready, submits what is pending, and says what is open.

    every open job:  sending -> looked up at the provider      sent, ended -> its answers journalled, the job closed
    then, if paying for it was agreed to:  plan minus done minus what open jobs are asking -> new jobs
All of it happens under the journal's lock; state is kept only through collector/keep/batch_jobs.py.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import or_
from typing import Any

from slant.collector.ask.attempts import AttemptMaker
from slant.collector.ask.call import Call
from slant.collector.ask.declined import declined_trials
from slant.collector.ask.unfinished_games import begun_games
from slant.collector.batch import services, submit
from slant.collector.batch.fetch import MAX_NAMED, Fetched, Fetcher
from slant.collector.cost.budget import LOST
from slant.collector.errors import DatabaseBusyError, DatabaseWriteError, Interrupted, ProviderError, UsageError
from slant.collector.keep.batch_jobs import Job, JobFolder, key_check
from slant.collector.keep.final_trials import Finals, id_batches, read_finals
from slant.collector.keep.journal import FolderLock, Journal, journal_folder, utc_now
from slant.collector.keep.journal_loader import left_in_journal, load_journals
from slant.collector.plan.conversations import done_in, plan
from slant.collector.plan.run_plan import ModelPlan, RunPlan, done_in_slice, up_to_date
from slant.collector.provenance.run_history import new_run_record
from slant.collector.providers import provider_named
from slant.collector.records import OUTCOMES, Conversation, Run
from slant.collector.request.record import Request
from slant.collector.run_report import BatchReport
from slant.collector.studies.stored_texts import text_lines
from slant.collector.terminal import count_text

log = logging.getLogger(__name__)


class Batches:
    """Make one call of `collect --batch` on one database, from the lock to the report."""

    def __init__(self, run_plan: RunPlan, run: Run, request: Request, say: Callable[[str], None]) -> None:
        self._run_plan, self._run, self._request, self._say = run_plan, run, request, say
        self._n_turns = len(next(plan(*run_plan.plan_of(run_plan.model_plans[0].model))).trials)
        self._folder = JobFolder(run_plan.db)
        self._lanes = {model_plan.name: _lane(model_plan) for model_plan in run_plan.model_plans}
        self._services = services.Services(run_plan)
        self._prices = run_plan.prices
        self._journal: Journal | None = None
        self._made: list[Job] = []
        self._needs_yes: Counter[str] = Counter()

    def go(self) -> BatchReport:
        """Fetch and submit, once or until nothing is open. Raise JournalError if another collector does."""
        self._lock = FolderLock(journal_folder(self._run_plan.db))
        ending = "stopped by an error"
        try:
            self._prepare()
            wait_s = 2.0
            while self._round() and self._request.wait:
                self._say(f"Waiting for {len(self._open()):,} batch jobs. Ctrl-C exits; the jobs continue.")
                time.sleep(min(wait_s, self._request.poll_s))
                wait_s *= 2
            report = self._report()
            ending = report.ending
            return report
        finally:
            if self._journal is not None:
                self._journal.close(ending)
            else:
                self._lock.release()

    def _prepare(self) -> None:
        load_journals(self._run_plan.db)  # reports at once if the database is not ours, or is held
        self._folder.sweep()
        submit.open_budget(self._run_plan, self._request.budget)  # reports before anything happens if it can't be kept
        self._finals = read_finals(self._run_plan.db, self._run_plan.study.name)
        keys = [lane.key for lane in self._lanes.values()] + [
            provider_named(job.provider).key() for job in self._open()
        ]
        self._maker = AttemptMaker(self._run, [key for key in keys if key])
        self._submitter = submit.Submitter(self._run_plan.study, self._run, self._folder, self._request.batch_size)
        self._fetcher = Fetcher(
            self._run_plan.study,
            self._folder,
            self._maker,
            self._writing,
            self._finals,
            lambda batch_id: submit.attempted_in(self._run_plan.db, batch_id),
            lambda job: self._prices.find(job.provider, job.study_model.requested_model),
            lambda job: declined_trials(self._run_plan.db, job.study, job.study_model, job.created_at),
        )

    def _writing(self) -> Journal:
        """Return this run's journal; it is made when there is something to write, not for every look at a job."""
        if self._journal is None:
            texts = text_lines(self._run_plan.study, self._run_plan.registration, self._run.started_at)
            self._journal = Journal(self._run_plan.db, self._run, texts, lock=self._lock)
            for cut in self._journal.mended:
                self._say(cut)
        return self._journal

    def _round(self) -> bool:
        """Look at every job once, then submit. Return True while jobs are open."""
        for job in self._open():
            self._advance(job)
        for lane in self._lanes.values():
            self._submit(lane)
        return bool(self._open())

    def _open(self) -> list[Job]:
        return self._folder.open_jobs(self._run_plan.study.name)

    def _advance(self, job: Job) -> None:
        if job.state == "planned":  # nothing of it was sent: its trials are pending, and planned again
            self._folder.close(job, "never submitted")
            return
        lane = self._lanes.get(str(job.model["model"]))
        try:
            service = self._services.of_job(job, lane.base_url if lane else None)
            known_job = self._looked_up(job, service) if job.state == "sending" else job
            if known_job is None:
                return
            seen = service.look(known_job)
            log.info("%s: %s", _name(job), self._maker.redacted(seen.status))
            known_job = self._folder.write(replace(known_job, seen=seen.status, seen_at=utc_now()))
            if seen.has_ended:
                self._tell(known_job, seen, self._fetcher.fetch(known_job, service, seen))
        except services.NotThere as error:
            self._not_there(job, str(error))
        except services.Unsure as error:
            self._say(f"{_name(job)} stays open: {self._maker.redacted(str(error))}")

    def _looked_up(self, job: Job, service: services.Service) -> Job | None:
        """Return a job whose submission got no answer, once it is found; None while that is unknown, or if there is
        none.
        """
        others = {other.batch_id for other in self._folder.jobs() if other.batch_id}
        try:
            verdict, batch_id = service.find(job, others)
        except services.NotThere as error:  # the list itself is not there: that says nothing about the job
            raise services.Unsure(str(error)) from error
        if verdict == "found":
            self._say(f"{_name(job)} had reached its provider ({batch_id}): it is not submitted again.")
            return self._folder.write(
                replace(job, state="sent", batch_id=batch_id, submitted_at=job.sending_at or job.created_at)
            )
        if verdict == "perhaps":
            raise services.Unsure(f"{batch_id} may be it, which will be clear once that job ends")
        if not self._has_its_key(job):
            raise services.Unsure("it was submitted with another key, which this one can't see")
        left_s = self._request.settle_s - job.age_s
        if left_s > 0:
            raise services.Unsure(
                f"its submission got no answer and it is not listed; in {left_s:,.0f} s this will be final"
            )
        self._folder.close(job, "never reached the provider")
        self._say(f"{_name(job)} never reached its provider: its trials are pending again.")
        return None

    def _not_there(self, job: Job, reason: str) -> None:
        if not self._has_its_key(job):
            self._say(f"{_name(job)} stays open: it was submitted with another key ({reason})")
            return
        if job.age_s < services.GONE_AFTER_S:  # a wrong address gives the same answer, and must not lose paid answers
            self._say(f"{_name(job)} stays open, but its provider does not know it ({reason}).")
            self._stop(job, reason)
            return
        self._folder.close(job, f"{LOST}{reason}")
        self._say(f"{_name(job)} no longer exists at its provider ({reason}): its trials are pending again.")
        self._stop(job, f"a job was lost: {reason}")

    def _has_its_key(self, job: Job) -> bool:
        return key_check(job.job_id, provider_named(job.provider).key()) == job.key_check

    def _tell(self, job: Job, seen: services.JobStatus, fetched: Fetched) -> None:
        lane = self._lanes.get(str(job.model["model"]))
        if lane:
            lane.outcomes += fetched.outcomes
        again = job.n_requests - fetched.n_final
        why = self._maker.redacted(seen.problem or fetched.first_reason or seen.status)
        self._say(
            f"{_name(job)}: {count_text(fetched.n_final, 'answer')}."
            + (f" {again:,} pending again: {why}" if again else "")
        )
        for sentence in fetched.unreadable[:MAX_NAMED]:
            self._say(self._maker.redacted(f"{_name(job)}: {sentence}."))
        if len(fetched.unreadable) > MAX_NAMED:
            self._say(f"{_name(job)}: nor can {len(fetched.unreadable) - MAX_NAMED:,} more of them.")
        if not fetched.n_final or "cancel" in why:  # submitting the same again at once would meet the same end
            self._stop(job, why)

    def _stop(self, job: Job, reason: str) -> None:
        if lane := self._lanes.get(str(job.model["model"])):
            lane.stopped_because = lane.stopped_because or reason

    def _submit(self, lane: submit.BatchLane) -> None:
        pending = sum(1 for _ in self._pending(lane)) if not lane.stopped_because else 0
        lane.held_back, was_held_back = None, lane.held_back
        lane.rounds = 0 if was_held_back else lane.rounds  # it was short of money, not of answers
        if pending and lane.rounds > self._request.most_rounds * self._n_turns:
            lane.stopped_because = f"{pending:,} trials had no answer in {count_text(lane.rounds, 'submission')}"
        elif pending and not self._request.yes and lane.provider.costs_money:
            self._needs_yes[lane.model.model] = pending
        elif pending:
            if not self._request.mixed:
                submit.check_not_mixed(self._run_plan.db, self._run_plan.study, [lane.model.model], is_batch=True)
            self._submit_now(lane, pending)

    def _submit_now(self, lane: submit.BatchLane, pending: int) -> None:
        self._writing()
        lane.begun = begun_games(up_to_date(replace(self._run_plan, model_plans=(lane.model_plan,))))
        for sentence in lane.begun.problems:
            self._say(sentence)
        lane.rounds += 1
        money = submit.purse(self._run_plan, lane.model_plan, self._request.budget)
        try:
            service = self._services.get(lane.provider.name, lane.base_url, lane.key or "")
            for job in self._submitter.submit(lane, self._pending(lane), service, money):
                log.info("%s was submitted", _name(job))
                lane.submitted += job.n_requests
                pending -= job.n_requests
                self._made.append(job)
            lane.held_back = money.sentence(pending) if money.held_back else None
        except services.NotSubmitted as error:
            lane.stopped_because = f"a job was not taken: {self._maker.redacted(str(error))}"
        except services.Unsure as error:
            self._say(f"{lane.model.model}: a submission got no answer; it will be looked up, not repeated ({error}).")

    def _pending(self, lane: submit.BatchLane) -> Iterator[Conversation]:
        """Yield trials of the plan that are neither done nor in an open job. Only bits of a plan are held: it may be
        very long.
        """
        run_plan = self._run_plan
        plan_of = run_plan.plan_of(lane.model)
        others = lane.model_plan.others
        waits = self._waiting().end(self._folder.trial_ids(run_plan.study.name, with_more=True))
        done, waiting = (done_in(*plan_of, finals, others).conversations for finals in (self._finals, waits))
        yield from run_plan.conversations(lane.model_plan, bytes(map(or_, done, waiting)))

    def _waiting(self) -> Finals:
        return Finals(id_batches(self._folder.trial_ids(self._run_plan.study.name)))

    def _report(self) -> BatchReport:
        waiting = self._waiting()
        rows = tuple(_row_of_model(self._run_plan, lane, self._finals, waiting) for lane in self._lanes.values())
        return BatchReport(
            self._run.run_id if self._journal else "",
            self._run_plan.db,
            rows,
            self._run_plan.left_out,
            made=tuple(self._made),
            open_jobs=tuple(self._open()),
            needs_yes=self._needs_yes.total(),
        )


def _lane(model_plan: ModelPlan) -> submit.BatchLane:
    if model_plan.provider.name not in services.WITH_BATCHES:
        raise UsageError(
            f"{model_plan.name} can't be collected by batch: "
            f"{model_plan.provider.name} has no batch jobs that slant supports.",
            f"Supported: {', '.join(services.WITH_BATCHES)}. Name their models with --model, or remove --batch.",
        )
    return submit.BatchLane(model_plan, model_plan.base_url or "simulated:", model_plan.provider.key())


def _row_of_model(run_plan: RunPlan, lane: submit.BatchLane, finals: Finals, waiting: Finals) -> dict[str, Any]:
    """Return the row of one model: its progress, what this call fetched by outcome and submitted, the requests of open
    jobs."""
    if run_plan.slice is not None:
        done, in_jobs = (done_in_slice(run_plan, lane.model, ids) for ids in (finals, waiting))
    else:
        its_plan, others = run_plan.plan_of(lane.model), lane.model_plan.others
        done, in_jobs = (done_in(*its_plan, ids, others).trials for ids in (finals, waiting))
    return {
        "model": lane.model.model,
        "planned": lane.model_plan.planned,
        "done": done,
        "fetched": sum(lane.outcomes.values()) - lane.outcomes["failed"],
        **{outcome: lane.outcomes[outcome] for outcome in OUTCOMES},
        "submitted": lane.submitted,
        "waiting": in_jobs,
        "stopped_because": lane.stopped_because or lane.held_back,
    }


def _name(job: Job) -> str:
    return f"{job.model['model']}: job {job.job_id} of {count_text(job.n_requests, 'request')}"


def carry_out_batch(run_plan: RunPlan, call: Call) -> BatchReport:
    if not run_plan.model_plans:
        reasons = [f"{model}: {reason}." for model, reason in run_plan.left_out]
        raise ProviderError(f'Nothing was sent: no model of "{run_plan.study.name}" can be used here.', *reasons)
    submit.refuse_game(run_plan.study)  # before anything is written
    run = new_run_record(run_plan, call.request.kept(), is_simulated=run_plan.is_simulated)
    try:
        return Batches(run_plan, run, call.request, call.watcher.say).go()
    except KeyboardInterrupt:
        hint = "Submitted jobs continue at their provider; the same command fetches their answers."
        raise Interrupted("Left at once.", hint) from None
    finally:
        try:
            load_journals(run_plan.db, 30.0)
        except (DatabaseBusyError, DatabaseWriteError) as error:
            call.watcher.say(left_in_journal(error, run_plan.db))
