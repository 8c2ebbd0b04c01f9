"""`collect()`: one call from a study to answers in a database. The command line is a thin layer over it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, overload

from slant.collector.arguments import checked_arguments
from slant.collector.ask.reading_again import open_rejected
from slant.collector.ask.watcher import Watcher
from slant.collector.batch.batches import carry_out_batch
from slant.collector.batch.report import BatchOptions, BatchReport
from slant.collector.cost.pilot import pilot_of
from slant.collector.cost.repeated_trials import repeated_trial_notes
from slant.collector.errors import UsageError
from slant.collector.keep.journal_loader import with_mending
from slant.collector.plan.asking_again import again_of, occasion_notes, refuse_with_again
from slant.collector.plan.run_plan import RunPlan, make_run_plan
from slant.collector.plan.shards import Shard
from slant.collector.provenance.addresses import other_address_notes
from slant.collector.providers import check_provider_file
from slant.collector.providers.own_providers import read_from
from slant.collector.records import Registration
from slant.collector.registration.canonical import read_registration
from slant.collector.registration.registering import departures
from slant.collector.run.one_process import Options, RunReport, carry_out_alone
from slant.collector.run.processes import carry_out_in_processes
from slant.collector.run.until_width import carry_out_until_narrow
from slant.collector.stopping.rule import StoppingRule, refuse_parts
from slant.collector.studies.catalogue import Study, load_study, with_variant


@overload
def collect(
    db: str | Path,
    study: str | Path | Study,
    models: Sequence[str] | None = ...,
    *,
    batch: Literal[True],
    ask_rejected: bool = ...,
    variant: str = ...,
    seed: int | None = ...,
    repetitions: int = ...,
    base_url: str | None = ...,
    provider_file: str | Path | None = ...,
    prices_file: Path | None = ...,
    structured_output: bool = ...,
    pilot: int | None = ...,
    shard: tuple[int, int] | None = ...,
    registration: str | Path | Registration | None = ...,
    options: BatchOptions | None = ...,
    yes: bool = ...,
    watcher: Watcher | None = ...,
) -> BatchReport: ...


@overload
def collect(
    db: str | Path,
    study: str | Path | Study,
    models: Sequence[str] | None = ...,
    *,
    batch: Literal[False] = ...,
    ask_rejected: bool = ...,
    simulated: bool = ...,
    variant: str = ...,
    seed: int | None = ...,
    repetitions: int = ...,
    base_url: str | None = ...,
    provider_file: str | Path | None = ...,
    prices_file: Path | None = ...,
    structured_output: bool = ...,
    pilot: int | None = ...,
    again: int | None = ...,
    shard: tuple[int, int] | None = ...,
    registration: str | Path | Registration | None = ...,
    processes: int = ...,
    until_width: float | None = ...,
    looks: int | None = ...,
    options: Options | None = ...,
    yes: bool = ...,
    watcher: Watcher | None = ...,
) -> RunReport: ...


@checked_arguments(repetitions=1, seed=0, pilot=1, again=1, processes=1, looks=1)
def collect(
    db: str | Path,
    study: str | Path | Study,
    models: Sequence[str] | None = None,
    *,
    batch: bool = False,
    simulated: bool = False,
    variant: str = "base",
    seed: int | None = None,
    repetitions: int = 1,
    base_url: str | None = None,
    provider_file: str | Path | None = None,
    prices_file: Path | None = None,
    structured_output: bool = False,
    pilot: int | None = None,
    again: int | None = None,
    shard: tuple[int, int] | None = None,
    registration: str | Path | Registration | None = None,
    processes: int = 1,
    until_width: float | None = None,
    looks: int | None = None,
    options: Options | BatchOptions | None = None,
    yes: bool = False,
    ask_rejected: bool = False,
    watcher: Watcher | None = None,
) -> RunReport | BatchReport:
    """Ask `models` (specs like "openai/NAME"; None: those the study names) the trials of `study` that `db` lacks.

    Answers go into the journal next to `db` before they count, then into `db`. The same call again asks only what is
    missing; what an edit of the study, other settings or another seed ask again is a warning first. `yes=True` agrees
    to requests that cost money; `pilot=50` asks a balanced slice only; `structured_output=True` lets providers enforce
    the shape of an answer. `shard=(2, 8)` asks the second of eight parts of the plan, into a database of its own, which
    `merge()` brings together with the others; `budget_usd` is for each. `processes=4` shares the work out among so many
    processes on this machine. `registration` (a file that `collect preregister` wrote, or what `preregister()` gave) is
    kept with the run; what is not as registered is a warning first. Works inside a notebook too.

    `provider_file` names providers of your own (as --provider-file does); None: SLANT_PROVIDERS, or the file in
    ~/.config/slant.

    `ask_rejected=True` asks once more what the provider declined twice for no known reason (outcome `rejected`).

    `until_width=10` asks whole repetitions, `repetitions` at most, and ends for each model once half of the 95 %
    interval of the condition effect (over words and wordings, by R) is 10 or less in each test, in the unit of the
    study's measure; that is looked at `looks` times at most. The report has the looks. Not with batch, pilot or shard.

    `again=200` asks so many balanced trials that have an answer once more, as answers of their own on another occasion,
    which no table or fit mixes with the first (`retest()` compares them). Each call is a new occasion; one that was
    broken off is finished first. A warning says which occasion it is.

    `batch=True` asks through batch jobs of OpenAI or Anthropic, at half the price: each call fetches what is ready of
    the jobs of earlier calls, then (with `yes=True`) submits what is pending; nothing is submitted twice. `options` are
    then BatchOptions, and the result is a BatchReport.

    Raises a SlantError (collector/errors.py) whose text says what to do.

    >>> report = collect("demo.duckdb", "rmiat", ["simulated/o3-mini"])  # doctest: +SKIP
    """
    with read_from(provider_file):
        if provider_file is not None:
            check_provider_file()
        options = options or (BatchOptions() if batch else Options())
        if again is not None:
            refuse_with_again(batch=batch, processes=processes, pilot=pilot, is_shard=shard is not None)
        if batch and simulated:
            raise UsageError("Simulated models have no batch jobs: leave out batch=True, or simulated=True.")
        if batch and processes != 1:
            raise UsageError("Batch jobs are made by one process: leave out processes.")
        stopping = StoppingRule.of(until_width, looks, repetitions)
        if stopping is not None:
            refuse_parts(batch=batch, pilot=pilot, shard=shard, again=again)
        if isinstance(options, BatchOptions) != batch:
            raise UsageError(f"With batch={batch}, options must be {'BatchOptions' if batch else 'Options'}.")
        loaded = with_variant(study, variant) if isinstance(study, Study) else load_study(str(study), variant, db)
        registered = read_registration(registration) if isinstance(registration, str | Path) else registration

        def current_run_plan() -> RunPlan:
            run_plan = make_run_plan(
                loaded,
                models,
                Path(db),
                simulated=simulated,
                seed=seed,
                repetitions=repetitions,
                base_url=base_url,
                prices_file=prices_file,
                structured_output=structured_output,
                shard=None if shard is None else Shard(*shard),
                registration=registered,
                stopping=stopping,
            )
            return run_plan if again is None else again_of(run_plan, again)

        if ask_rejected and Path(db).exists():
            open_rejected(db, loaded.name)
        run_plan = with_mending(Path(db), current_run_plan, lambda text: warnings.warn(text, UserWarning, stacklevel=4))
        unregistered = [] if registered is None else departures(run_plan, registered)
        for sentence in (*other_address_notes(run_plan), *occasion_notes(run_plan), *unregistered):
            warnings.warn(sentence, UserWarning, stacklevel=3)
        run_plan = run_plan if pilot is None else pilot_of(run_plan, pilot)
        watcher = watcher or Watcher()
        if isinstance(options, BatchOptions):
            return carry_out_batch(run_plan, options, yes=yes, watcher=watcher)
        for note in repeated_trial_notes(run_plan, options.concurrency):
            warnings.warn(note, UserWarning, stacklevel=2)
        return carry_out(run_plan, options, yes=yes, watcher=watcher, processes=processes)


def carry_out(run_plan: RunPlan, options: Options, *, yes: bool, watcher: Watcher, processes: int = 1) -> RunReport:
    """Do what a run plan says, with so many processes. Raises where it would cost money and nobody agreed."""
    if run_plan.stopping is not None:
        return carry_out_until_narrow(
            run_plan,
            options,
            yes=yes,
            watcher=watcher,
            carry_out=lambda part: _carry_out(part, options, yes=yes, watcher=watcher, processes=processes),
        )
    return _carry_out(run_plan, options, yes=yes, watcher=watcher, processes=processes)


def _carry_out(run_plan: RunPlan, options: Options, *, yes: bool, watcher: Watcher, processes: int) -> RunReport:
    if processes == 1:
        return carry_out_alone(run_plan, options, yes=yes, watcher=watcher)
    return carry_out_in_processes(run_plan, options, processes, yes=yes, watcher=watcher)
