"""Watch `collect` for a person at a terminal, who hears it all, is asked before money is spent, and sees the result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from slant.collector.ask.uncounted_answers import doubtful_count_notes, uncounted_notes
from slant.collector.commands.status import print_batch_report, say_stopped
from slant.collector.cost.estimate import dollars
from slant.collector.cost.quote import quotes, sentences, short_rows
from slant.collector.designs.study import Study
from slant.collector.errors import as_typed
from slant.collector.keep.database import kept_open, reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.view_heads import ordered_view
from slant.collector.plan.run_plan import RunPlan, how_to_try
from slant.collector.progress.bar import ProgressWatcher
from slant.collector.progress.status import closing_notes, lost_answer_notes, other_notes, progress
from slant.collector.providers.lifecycles import asked_lifecycle, lifecycle_of
from slant.collector.request.record import Request
from slant.collector.run.key_consent import agree_to, new_key_hosts
from slant.collector.run_report import BatchReport, DryRun, RunReport
from slant.collector.studies.catalogue import next_command
from slant.collector.terminal import count_text, if_interrupted, print_rows, say

_REASONS = ("stopped_because", "last_failure")
_OUTCOMES_FIRST = ("asked", "answered", "refused", "filtered", "truncated", "malformed", "rejected", "failed")
"""List what a narrow terminal shows first of a run."""
DECLINED = 1  # exit code of a run whose payment was declined


class TerminalWatcher(ProgressWatcher):
    """Print what a call reports, ask before money is spent, and print the report. Leave the program if the answer is
    no, or something is missing at the end."""

    def __init__(self, output_format: str, db: Path) -> None:
        super().__init__()
        self._format, self._db = output_format, db
        self._study: Study | None = None

    def loaded(self, study: Study) -> None:
        self._study = study
        if_interrupted(
            f'Left before "{study.name}" ({study.variant}) was asked.', f"What is in {self._db} and next to it is kept."
        )

    def note(self, text: str) -> None:
        say(text)

    def warn(self, text: str) -> None:
        say(text)

    def agrees(self, run_plan: RunPlan, request: Request) -> bool:
        """Quote and ask before paid requests, on a terminal."""
        if_interrupted(
            "Left at once.",
            f"All answers so far are stored next to {run_plan.db}. The same command asks what is missing.",
        )
        for model_plan in run_plan.paid:  # providers say when models about to be paid for end
            name, model = model_plan.provider.name, model_plan.model.requested_model
            announced, known = asked_lifecycle(model_plan.provider, model), lifecycle_of(name, model)
            if announced is not None and (known is None or known.ends != announced.ends):  # the table has another day
                say(announced.sentence(model_plan.address))
        hosts = new_key_hosts(run_plan.model_plans)
        for sentence in hosts.values():
            say(sentence)
        if request.yes or not (run_plan.paid or hosts) or not sys.stdin.isatty():
            return request.yes
        if hosts:
            if not click.confirm("Is that right?", err=True):
                sys.exit(DECLINED)
            agree_to(list(hosts))
        if not run_plan.paid:
            return False
        count = sum(model_plan.pending for model_plan in run_plan.paid)
        show_quote(run_plan, request, err=True)
        up_to = "up to " if run_plan.stopping is not None else ""
        if not click.confirm(f"Send {up_to}{count:,} paid requests?", err=True):
            sys.exit(DECLINED)
        return True

    def after_pilot(
        self, pilot: RunPlan, report: RunReport, rest: Callable[[], RunPlan], request: Request
    ) -> RunPlan | None:
        """Show what a complete pilot gave and what the rest would take; return the rest if a person or --yes agrees."""
        if isinstance(report, BatchReport) and not report.has_all_answers:
            say(f"These are the pilot's {sum(model_plan.planned for model_plan in pilot.model_plans):,} trials.")
            print_batch_report(report, self._format, pilot.study)  # exits
        if not isinstance(report, BatchReport) and not report.is_complete:
            say_stopped(report)
            say("The pilot is not complete. The same command collects the rest.")
            sys.exit(1)
        whole = rest()
        if not shown_and_agreed(pilot, whole, request, self._format):
            sys.exit(0)
        return whole

    def show(self, report: RunReport, analysis: str | None = None) -> None:
        """Print the result. Programs get the rows of a report; all else is for the person, with the command of
        `analyze` that comes next (by default the study's own).
        """
        assert self._study is not None
        if isinstance(report, DryRun):
            _show_dry_run(report, self._format, self._study)
        elif isinstance(report, BatchReport):
            print_batch_report(report, self._format, self._study)
        elif report.run_id or not report.is_complete:
            named = f"analyze {analysis} --study {self._study.name} --db {as_typed(report.db)}"
            what_next = named if analysis else next_command(self._study, report.db)
            _print_report(report, self._format, self._study, what_next)
        elif self._format != "table":
            print_rows(list(report.models), self._format)  # nothing was left to ask


def show_quote(run_plan: RunPlan, request: Request, *, err: bool = False) -> None:
    """Print rows to stdout, their assumptions to stderr; with `err` everything to stderr."""
    quoted = quotes(run_plan, request.concurrency, is_batch=request.batch)
    print_rows(short_rows(quoted), "table", err=err)
    for sentence in sentences(quoted):
        say(sentence)


def _show_dry_run(report: DryRun, output_format: str, study: Study) -> None:
    """Print the quote, and the first prompt in full."""
    print_rows(list(report.short if output_format == "table" else report.models), output_format)
    for sentence in report.notes:
        say(sentence)
    if report.first_model is None:
        say(f"No model can be used here. {how_to_try(study)}")
        return
    prompt = report.first_prompt
    if prompt is None:
        say("This shard has no conversation. Nothing would be sent.")
        return
    say(f"\nFirst prompt to {report.first_model}, as it would be sent:")
    for message in prompt.messages:
        say(f"--- {message['role']} ---\n{message['content']}")
    if (tool := prompt.tool) is not None:
        say(f"--- tool ---\n{tool.name}({tool.argument}: {' | '.join(tool.options)})\n{tool.description}")
    say("---\nNothing was sent. Tokens, cost and time are estimates.")


def shown_and_agreed(pilot: RunPlan, rest: RunPlan, request: Request, output_format: str) -> bool:
    """Show what a complete pilot gave and what the rest would take; return True if a person or --yes agrees.

    Programs get the pilot's rows if nothing else is asked, else those of the report that follows."""
    for_person = output_format == "table"
    for note in lost_answer_notes(rest.db, rest.study.name, rest.study.version):
        say(note)
    rows, n_pilot = pilot_rows(rest.db, rest), sum(model_plan.planned for model_plan in pilot.model_plans)
    n_all = sum(row["trials"] for row in rows)
    say(f"The pilot ({n_pilot:,} trials) has its answers{f'; all {n_all:,} so far' if n_all > n_pilot else ''}:")
    print_rows(rows, err=not for_person)
    for note in uncounted_notes(rest.db, rest.study.name):
        say(note)
    if not rest.pending:
        return True
    say("The rest would cost:")
    show_quote(rest, request, err=not for_person)
    is_terminal = sys.stdin.isatty()
    if request.yes or (
        is_terminal and click.confirm(f"Collect the other {count_text(rest.pending, 'trial')}?", err=True)
    ):
        return True
    if not for_person:
        print_rows(rows, output_format)
    if not is_terminal:
        say("To collect the rest: the same command with --yes.")
    return False


_OF_PILOT = {
    "model": "model", "trials": "n_done", "answered": "n_answered", "refused": "n_refused", "truncated": "n_truncated",
    "malformed": "n_malformed", "mean_output_tokens": "mean_output_tokens", "sd_output_tokens": "sd_output_tokens",
    "longest": "max_output_tokens", "mean_s": "mean_latency_s",
}  # fmt: skip


def pilot_rows(db: Path, run_plan: RunPlan) -> list[dict[str, Any]]:
    """Return a row per model: outcomes, tokens, seconds and cost of a trial, over the answers so far. Those of unknown
    cost don't lower it."""
    source = "simulated" if run_plan.is_simulated else "collected"
    of_plan = {"source": source, "study": run_plan.study.name, "variant": run_plan.study.variant}
    counts = progress(db).filter(**of_plan, study_version=run_plan.study.version)
    with reading(db) as connection:
        sizes = frame_of(ordered_view(connection, "answer_sizes"))
    keys = ["source", "study", "study_version", "variant", "model"]
    joined = counts.join(sizes, on=keys, how="left")
    names = {model_plan.name for model_plan in run_plan.model_plans}
    return [
        {name: row[column] for name, column in _OF_PILOT.items()}
        | {"cost_of_one": dollars(row["cost_usd"] / n) if (n := row["n_done"] - row["n_unpriced"]) > 0 else ""}
        for row in joined.iter_rows(named=True)
        if row["model"] in names
    ]


def _print_report(report: RunReport, output_format: str, study: Study, what_next: str) -> None:
    with kept_open(report.db):
        lost = lost_answer_notes(report.db, study.name, study.version, report.run_ids)
        counts = (*uncounted_notes(report.db, study.name), *doubtful_count_notes(report.db, study.name))
        closing = (*closing_notes(report.db, study, report.run_ids), *counts)
    for note in lost:
        say(note)
    if output_format == "table":  # reasons are said below
        outcomes = [name for name in _OUTCOMES_FIRST if any(model.get(name) for model in report.models)]
        rows = [{name: value for name, value in model.items() if name not in _REASONS} for model in report.models]
        print_rows(rows, keep=["model", *outcomes])
    else:
        print_rows(list(report.models), output_format)
    for model in report.models:
        if model["stopped_because"]:
            say(f"{model['model']} was stopped: {model['stopped_because']}")
        elif model["failed"]:
            failed = count_text(model["failed"], "trial")
            say(f"{failed} of {model['model']} failed, the last with: {model['last_failure']}")
        if changed := model.get("model_changed"):
            games = count_text(changed, "game")
            say(f"answered by more than one model: {games} of {model['model']} (view allocation_game_ends).")
    if report.disk_was_full:
        say(
            f"The disk is full, so collecting stopped; all answers are stored. Make room next to {report.db}, "
            "then repeat the command."
        )
    for note in (*other_notes(report.notes, lost), *closing):
        say(note)
    if report.is_complete:
        if report.models and all(model["asked"] and not model["answered"] for model in report.models):
            what_next = f"collect view --db {as_typed(report.db)}"  # there is nothing to fit
        run = f" (run {report.run_id})" if report.run_id else ""
        say(f"Done: {report.db}{run}. Next: {what_next}")
        return
    if report.is_loaded:
        say("Not complete. The same command collects only the missing trials.")
    sys.exit(1)
