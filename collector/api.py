"""Collect answers by one call, `collect()`, from a study to a database. The command line calls it, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from slant.collector.ask.call import Call, Watcher
from slant.collector.designs.study import Study
from slant.collector.request.record import Request
from slant.collector.request.setting import takes

if TYPE_CHECKING:
    from slant.collector.plan.run_plan import RunPlan
    from slant.collector.run_report import RunReport

# What carries a run out is imported by the functions that need it: importing this is to cost little more than the
# packages that ask.


@dataclass(frozen=True, kw_only=True)
class WatchedRequest(Request):
    """Hold a request and its watcher."""

    watcher: Watcher | None = None

    def alone(self) -> Request:
        """Return the request without its watcher: this is passed on, also to other processes."""
        return Request(**{field.name: getattr(self, field.name) for field in fields(Request)})


@takes(WatchedRequest, {"Study": Study})
def collect(call: WatchedRequest) -> RunReport:
    """Ask `models` (specs like "openai/NAME"; None: those the study names) the trials of `study` that `db` lacks.

    Answers go into the journal next to `db` before they count, then into `db`. The same call again asks only what is
    missing; what an edit of the study, other settings or another seed would ask again is a warning first. Settings have
    the names of the options of `collect`. It works inside a notebook, too.

    `yes=True` agrees to requests that cost money. `dry_run=True` returns a DryRun: what it would take. `pilot=50` asks
    only a balanced slice. `shard=(2, 8)` asks the second of eight parts of the plan, into a separate database, which
    `merge()` combines with the others; `budget` is for each. `registration` is a file that `collect preregister` wrote,
    or the result of `preregister()`; each departure from it is a warning first.

    `until_width=10` asks whole repetitions, `repetitions` at most, and ends for each model once half of the 95 %
    interval of the condition effect (over words and wordings, by R) is 10 or less in each test, in the unit of the
    study's measure. The report has the looks. This excludes batch, pilot and shard.

    `again=200` asks 200 balanced trials that have an answer once more, as separate answers on another occasion, which
    no table or fit mixes with the first (`retest()` compares them). Each call is a new occasion; an interrupted one is
    finished first. A warning says which occasion it is.

    `batch=True` asks through batch jobs of OpenAI or Anthropic, at half the price: each call fetches what is ready from
    the jobs of earlier calls, then (with `yes=True`) submits what is pending; nothing is submitted twice. The report is
    then a BatchReport with `open_jobs`.

    Raise a SlantError (collector/errors.py) whose text says what to do. `watcher` receives what is reported.

    >>> report = collect("demo.duckdb", "rmiat", ["simulated/o3-mini"])  # doctest: +SKIP
    """
    from slant.collector.providers import check_provider_file
    from slant.collector.providers.own_providers import read_from

    with read_from(call.provider_file):
        if call.provider_file is not None:
            check_provider_file()
        return _collect(Call.begun(call.alone(), call.watcher))


def _collect(call: Call) -> RunReport:
    from slant.collector.keep.database import kept_open
    from slant.collector.keep.journal_loader import with_mending
    from slant.collector.plan.run_plan import make_run_plan
    from slant.collector.registration.canonical import read_registration
    from slant.collector.request.record import refuse_conflicts
    from slant.collector.run.dry_run import tell_of_plan

    request, watcher = call.request, call.watcher
    refuse_conflicts(request)
    study = _study(request)
    watcher.loaded(study)
    given = request.registration
    registration = read_registration(given) if isinstance(given, str | Path) else given

    def current_run_plan() -> RunPlan:
        with kept_open(request.db):
            run_plan = make_run_plan(study, request, registration)
            if request.again is None:
                return run_plan
            from slant.collector.plan.asking_again import again_of

            return again_of(run_plan, request.again)

    if request.ask_rejected and not request.dry_run and Path(request.db).exists():
        from slant.collector.ask.reading_again import open_rejected
        from slant.collector.terminal import count_text

        n_open = open_rejected(request.db, study.name)
        watcher.note(f"{count_text(n_open, 'rejected trial')} of {study.name} can be retried.")
    if not request.dry_run and Path(request.db).exists():
        from slant.collector.ask.reading_again import read_if_edited

        if note := with_mending(Path(request.db), lambda: read_if_edited(request.db, study), watcher.warn):
            watcher.note(note)
    run_plan = with_mending(Path(request.db), current_run_plan, watcher.warn)
    tell_of_plan(run_plan, request, watcher)
    if run_plan.stopping is not None:
        return _collect_until_narrow(run_plan, call)
    pilot = None
    if request.pilot is not None:
        from slant.collector.cost.quote import pilot_of

        pilot = pilot_of(run_plan, request.pilot)
    if request.dry_run:
        from slant.collector.run.dry_run import dry_run_of

        return dry_run_of(pilot or run_plan, request)
    if pilot is not None:
        report = _ask(pilot, call)
        rest = watcher.after_pilot(pilot, report, current_run_plan, request)
        if rest is None:
            return report
        run_plan, call = rest, replace(call, request=replace(request, yes=True))
    report = _ask(run_plan, call)
    if _is_done(run_plan) and not request.batch:
        from slant.collector.keep.batch_jobs import JobFolder

        n_trials = sum(model_plan.planned for model_plan in run_plan.model_plans)
        in_jobs = JobFolder(run_plan.db).open_jobs(study.name)
        waiting = " or are in open batch jobs (--batch fetches them)" if in_jobs else ""
        watcher.note(f"Nothing to ask: all {n_trials:,} trials have their answers in {request.db}{waiting}.")
    return report


def _study(request: Request) -> Study:
    from slant.collector.studies.catalogue import load_study, with_variant

    if isinstance(request.study, Study):
        return with_variant(request.study, request.full_variant)
    return load_study(str(request.study), request.full_variant, request.db)


def _is_done(run_plan: RunPlan) -> bool:
    return bool(run_plan.model_plans) and not run_plan.pending


def _ask(run_plan: RunPlan, call: Call) -> RunReport:
    """Ask what is pending, once the payment has been agreed to."""
    if call.request.batch:
        from slant.collector.batch.batches import carry_out_batch  # most runs need none of it

        call = call.agreeing(run_plan)
        return carry_out_batch(run_plan.asking_logprobs() if call.request.logprobs else run_plan, call)
    if _is_done(run_plan):
        from slant.collector.keep.journal_loader import load_journals
        from slant.collector.run.one_process import report_without_run
        from slant.collector.studies.stored_texts import keep_registration, keep_text

        keep_text(run_plan.db, run_plan.study)
        if run_plan.registration is not None:
            keep_registration(run_plan.db, run_plan.registration)
        load_journals(run_plan.db)  # what a killed run left in its journal
        return report_without_run(run_plan)
    return carry_out(run_plan, call.agreeing(run_plan))


def _collect_until_narrow(run_plan: RunPlan, call: Call) -> RunReport:
    from slant.collector.run.dry_run import dry_run_until_narrow
    from slant.collector.run.until_width import begin_precision, carry_out_until_narrow, report_of_looks

    request, watcher = call.request, call.watcher
    precision = begin_precision(run_plan, loads=not request.dry_run)
    for sentence in precision.sentences(is_dry_run=request.dry_run):
        watcher.note(sentence)
    if request.dry_run:
        return dry_run_until_narrow(precision, request)
    going = precision.going()
    if run_plan.model_plans and not going.model_plans:
        ended = "all models have" if run_plan.model_plans[1:] else "the model has"
        watcher.note(f"Nothing to ask: {ended} ended by this rule.")
        return report_of_looks(precision, [])
    for sentence in precision.next_steps():
        watcher.note(sentence)
    return carry_out_until_narrow(precision, call.agreeing(going), carry_out)


def carry_out(run_plan: RunPlan, call: Call) -> RunReport:
    """Carry out a run plan as requested. Raise an error if it would cost money without consent."""
    if call.request.processes == 1:
        from slant.collector.run.one_process import carry_out_alone

        return carry_out_alone(run_plan, call)
    from slant.collector.run.processes import carry_out_in_processes

    return carry_out_in_processes(run_plan, call)
