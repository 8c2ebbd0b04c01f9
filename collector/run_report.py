"""Report a call of `collect`: a live run, batch jobs, or a dry run."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from slant.collector.keep.batch_jobs import Job
from slant.collector.records import Prompt
from slant.collector.screen_tables import table_as_html, table_as_text
from slant.collector.stopping.looks import Look

_ASKED_FOR = ("model", "planned", "asked", "answered", "refused", "malformed", "truncated", "failed", "cost_usd")


@dataclass(frozen=True)
class RunReport:
    """Report what a run did. Dicts of `models`: model, planned, already_done, asked, counts by outcome, cost_usd (None
    if unknown), stopped_because; for a study with games also not_asked, the trials of games that ended early, and
    model_changed, the games that were answered by more than one served model; for a run that was to end on precision
    (`until_width`) looks, repetitions and half_width, those of the last look. `looks`: all looks at these models;
    `lacks_look`: one of them has not ended by its rule, for it lacks a trial. `notes`: sentences about the answers.
    `run_id` is empty if no model had to be asked. `made`, `open_jobs` and `needs_yes` are about batch jobs.
    """

    run_id: str
    db: Path
    models: tuple[dict[str, Any], ...]
    left_out: tuple[tuple[str, str], ...] = ()
    is_loaded: bool = True
    was_stopped: bool = False
    disk_was_full: bool = False
    looks: tuple[Look, ...] = ()
    lacks_look: bool = False
    notes: tuple[str, ...] = ()
    made: tuple[Job, ...] = ()
    open_jobs: tuple[Job, ...] = ()
    needs_yes: int = 0

    @property
    def run_ids(self) -> list[str]:
        """Return the runs: several of several processes, or of several looks."""
        return self.run_id.split(", ") if self.run_id else []

    def __repr__(self) -> str:
        return "\n".join([self._heading, table_as_text(self._frame, _ASKED_FOR), *self._left_out])

    def _repr_html_(self) -> str:
        """Return the report for notebooks."""
        left_out = "".join(f"<p>{escape(line)}</p>" for line in self._left_out)
        return f"<p>{escape(self._heading)}</p>{table_as_html(self._frame, _ASKED_FOR)}{left_out}"

    @property
    def _heading(self) -> str:
        state = "complete" if self.is_complete else "stopped" if self.was_stopped else "not complete"
        full = " The disk was full." if self.disk_was_full else ""
        return f"{f'Run {self.run_id} in ' if self.run_id else ''}{self.db.name}: {state}.{full}"

    @property
    def _frame(self) -> Any:
        import polars as pl

        return pl.DataFrame(list(self.models), infer_schema_length=None)

    @property
    def _left_out(self) -> list[str]:
        return [f"Left out: {model}: {reason}" for model, reason in self.left_out]

    @property
    def is_complete(self) -> bool:
        """Return True if every planned trial of every asked model has its final answer, and the database has them
        all."""
        done = [m["already_done"] + m["asked"] + m.get("not_asked", 0) - m["failed"] for m in self.models]
        return self.is_loaded and not self.lacks_look and done == [m["planned"] for m in self.models]


@dataclass(frozen=True, repr=False)
class BatchReport(RunReport):
    """Report what one call with `batch=True` did. Dicts of `models`: model, planned, done, fetched, counts by outcome,
    submitted, waiting (in open jobs), stopped_because. `made` are the jobs that it submitted, `open_jobs` those that
    are not done; `needs_yes`: requests that wait for consent to pay.
    """

    @property
    def has_all_answers(self) -> bool:
        return all(m["planned"] == m["done"] for m in self.models)

    @property
    def is_complete(self) -> bool:
        return not self.open_jobs and self.has_all_answers

    @property
    def ending(self) -> str:
        """Return the run's end, as in `runs`."""
        return "finished" if self.is_complete else "waiting for batch jobs" if self.open_jobs else "incomplete"


@dataclass(frozen=True, repr=False)
class DryRun(RunReport):
    """Report what a call with `dry_run=True` would take; nothing was sent. Dicts of `models`: planned, pending, tokens,
    cost and time of each with their ranges, which are estimates; `short` has the same for a person. With `until_width`
    there are two rows per model, `asked` least and most. `notes` say what the numbers rest on. `first_prompt` goes to
    `first_model`; None if no model can be asked, or no conversation falls to the shard.
    """

    short: tuple[dict[str, Any], ...] = ()
    first_model: str | None = None
    first_prompt: Prompt | None = None

    @property
    def _heading(self) -> str:
        return f"Dry run for {self.db.name}: nothing was sent."

    @property
    def is_complete(self) -> bool:
        """Return False: no model was asked."""
        return False
