"""`collect_batch()`: the batch twin of `collect()`. Call it again to fetch what is ready and submit what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from slant.collector.ask.watcher import Watcher
from slant.collector.batch.batches import Batches
from slant.collector.batch.report import BatchOptions, BatchReport
from slant.collector.batch.submit import refuse_game
from slant.collector.cost.pilot import pilot_of
from slant.collector.errors import DatabaseBusyError, Interrupted, ProviderError, UsageError
from slant.collector.keep.journal_loader import load_journals
from slant.collector.plan.conversations import plan
from slant.collector.plan.run_plan import Offer, make_offer
from slant.collector.provenance.run_record import run_record
from slant.collector.studies.catalogue import Study, load_study


def collect_batch(
    study: str | Study,
    models: Sequence[str] | None = None,
    db: str | Path = "slant.duckdb",
    *,
    variant: str = "base",
    seed: int | None = None,
    repetitions: int = 1,
    base_url: str | None = None,
    prices_file: Path | None = None,
    structured_output: bool = False,
    pilot: int | None = None,
    options: BatchOptions | None = None,
    yes: bool = False,
    watcher: Watcher | None = None,
) -> BatchReport:
    """Ask `models` the trials of `study` that `db` lacks through batch jobs of OpenAI or Anthropic, at half the price.

    Fetches what earlier calls have submitted and is ready, then (with `yes=True`) submits what is pending. Nothing is
    submitted twice, whatever happens in between. `pilot=50` asks a balanced slice only. Raises a SlantError whose text
    says what to do.
    """
    loaded = load_study(study, variant, db) if isinstance(study, str) else study
    offer = make_offer(
        loaded, models, Path(db), seed=seed, repetitions=repetitions, base_url=base_url, prices_file=prices_file,
        structured_output=structured_output,
    )  # fmt: skip
    offer = offer if pilot is None else pilot_of(offer, pilot)
    return carry_out_batch(offer, options or BatchOptions(), yes=yes, watcher=watcher or Watcher())


def carry_out_batch(offer: Offer, options: BatchOptions, *, yes: bool, watcher: Watcher) -> BatchReport:
    if not offer.asked:
        reasons = [f"{model}: {reason}." for model, reason in offer.left_out]
        raise ProviderError(f'Nobody is asked: "{offer.study.name}" has no model that can be asked here.', *reasons)
    if options.most_requests is not None and options.most_requests < 1:
        raise UsageError(f"--batch-size must be 1 or more, not {options.most_requests}.")
    first = next(plan(offer.study, offer.asked[0].model, offer.seed, offer.repetitions))
    refuse_game(offer.study, first)  # before anything is written
    run = run_record(offer, asdict(options) | {"batch": True}, is_simulated=False)
    try:
        return Batches(offer, run, options, yes, watcher.say).go()
    except KeyboardInterrupt:
        hint = "Jobs that were submitted go on at their provider; the same command fetches their answers."
        raise Interrupted("Left at once.", hint) from None
    finally:
        _load(offer.db, watcher)


def _load(db: Path, watcher: Watcher) -> None:
    try:
        load_journals(db, 30.0)
    except DatabaseBusyError:
        watcher.say("The answers are safe in the journal. When the database is free: collect load")
