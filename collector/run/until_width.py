"""Carry out a run that ends on precision: whole repetitions of the plan, each followed by a look at interval widths.

Between looks it is an ordinary run of the next repetitions, with a separate journal. If it was killed, the same command
asks what is missing, then looks; a look that was made is in the journal, and is not made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slant.collector.ask.call import Call
from slant.collector.errors import Interrupted, UsageError
from slant.collector.keep.final_trials import read_finals
from slant.collector.keep.journal_loader import load_journals
from slant.collector.plan.conversations import done_in, planned_count
from slant.collector.plan.run_plan import ModelPlan, RunPlan, with_repetitions
from slant.collector.records import OUTCOMES
from slant.collector.run_report import RunReport
from slant.collector.sources import Source
from slant.collector.stopping.looks import GOES_ON, Look, keep_looks, look_sentence, plan_id, read_looks
from slant.collector.stopping.rule import StoppingRule, Widths, fit_of_width, widths_by
from slant.collector.study.records import Fit
from slant.collector.terminal import count_text

CarryOut = Callable[[RunPlan, Call], RunReport]
_SUMS = ("asked", *OUTCOMES)


@dataclass
class Precision:
    """Hold a run plan that ends on precision, with its looks by model, before and now."""

    run_plan: RunPlan
    rule: StoppingRule
    fit: Fit
    widths: Widths
    looks: dict[str, list[Look]] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        """Name the unit of widths."""
        return self.fit.fitted

    def next_look(self, model: str) -> int | None:
        """Return after how many repetitions this model is looked at next; None if it is asked no more."""
        made = self.looks.get(model, [])
        if not made:
            return self.rule.looks_at[0]
        if made[-1].decision(self.rule) != GOES_ON:
            return None
        later = [at for at in self.rule.looks_at if at > made[-1].repetitions]
        left = self.rule.looks - len(made)
        if left < 1:
            raise UsageError(
                f"{model} was looked at {len(made)} times, and --looks allows {self.rule.looks}.",
                f"By the rule then ({made[-1].rule}): {made[-1].width} {made[-1].outcome} after "
                f"{made[-1].repetitions} repetitions.",
                f"Looks that were made count. To allow more: --looks {len(made) + 1}",
            )
        return later[max(0, len(later) - left)]

    def going(self) -> RunPlan:
        """Return the most that may still be asked: all repetitions of the models that have not ended."""
        names = [
            model_plan.name for model_plan in self.run_plan.model_plans if self.next_look(model_plan.name) is not None
        ]
        return with_repetitions(self.run_plan, names, self.rule.most_repetitions)

    def until_next_look(self) -> list[RunPlan]:
        """Return the minimum: what is asked before anything can end, a run plan for each number of repetitions, fewest
        first.
        """
        next_looks = {model_plan.name: self.next_look(model_plan.name) for model_plan in self.run_plan.model_plans}
        points = sorted({at for at in next_looks.values() if at is not None})
        return [with_repetitions(self.run_plan, [m for m, n in next_looks.items() if n == at], at) for at in points]

    def other_rules(self) -> list[str]:
        """Return a sentence for each model that was looked at by another rule before."""
        return [
            f"{model} was looked at by another rule before ({made[-1].rule}); now it is {self.rule}. Its "
            f"{len(made)} looks count, and both rules are kept."
            for model, made in self.looks.items()
            if made and made[-1].rule != self.rule
        ]

    def sentences(self, *, is_dry_run: bool) -> list[str]:
        """Return the rule in words, and the results for the models that have ended. A run reports other rules
        itself."""
        ended = [made[-1] for made in self.looks.values() if made and self.next_look(made[-1].model) is None]
        looks = [look_sentence(look, self.rule) for look in ended]
        return [self.rule.sentences(self.outcome), *(self.other_rules() if is_dry_run else []), *looks]

    def next_steps(self) -> list[str]:
        """Return a sentence for each number of repetitions: how many trials it is until the next look."""
        return [
            f"{', '.join(model_plan.name for model_plan in least.model_plans)}: "
            f"{count_text(least.pending, 'trial')} until the next look, after "
            f"{count_text(least.repetitions, 'repetition')}."
            for least in self.until_next_look()
        ]


def begin_precision(run_plan: RunPlan, *, loads: bool = True) -> Precision:
    """Return the looks so far. Raise UsageError if the study has no such interval, or it can't be measured here.
    `loads`: answers and looks that wait in the journal are loaded into the database first.
    """
    assert run_plan.stopping is not None
    fit = fit_of_width(run_plan.study)
    widths = widths_by(fit)
    if loads:
        load_journals(run_plan.db)
    kept = read_looks(run_plan.db, run_plan.study.name)
    looks = {a.name: kept.get(plan_id(run_plan.study, a.model, run_plan.seed), []) for a in run_plan.model_plans}
    return Precision(run_plan, run_plan.stopping, fit, widths, looks)


def carry_out_until_narrow(precision: Precision, call: Call, carry_out: CarryOut) -> RunReport:
    """Ask whole repetitions until each model is narrow enough by the plan's rule; `carry_out` asks those of one plan.

    Models that lack a trial at a look (it failed, or the run was stopped) are not looked at: the same command goes on.
    """
    from slant.collector.run.one_process import checked_run_plan

    run_plan = precision.run_plan
    checked_run_plan(precision.going() if run_plan.model_plans else run_plan, call.request)  # before any model is asked
    for sentence in precision.other_rules():
        call.watcher.say(sentence)
    reports: list[RunReport] = []
    lacking: set[str] = set()
    while stage := next((s for s in precision.until_next_look() if _names(s) - lacking), None):
        if _names(stage) & lacking:
            stage = with_repetitions(stage, _names(stage) - lacking, stage.repetitions)
        if stage.pending:
            reports.append(carry_out(stage, call))
            if reports[-1].was_stopped or reports[-1].disk_was_full or not reports[-1].is_loaded:
                return report_of_looks(precision, reports)
        whole = _whole(stage)
        lacking |= _names(stage) - {model_plan.name for model_plan in whole}
        if whole:
            for look in _look(precision, whole, stage.repetitions):
                precision.looks[look.model].append(look)
                call.watcher.say(look_sentence(look, precision.rule))
    return report_of_looks(precision, reports)


def _names(run_plan: RunPlan) -> set[str]:
    return {model_plan.name for model_plan in run_plan.model_plans}


def _whole(run_plan: RunPlan) -> list[ModelPlan]:
    """Return the models whose trials are all answered. Those in an open batch job are not, though not asked again."""
    finals = read_finals(run_plan.db, run_plan.study.name)
    return [a for a in run_plan.model_plans if done_in(*run_plan.plan_of(a.model), finals).trials == a.planned]


def _look(precision: Precision, models: Sequence[ModelPlan], repetitions: int) -> list[Look]:
    """Measure the models' interval widths and store the looks."""
    run_plan, rule = precision.run_plan, precision.rule
    source: Source = "simulated" if models[0].provider.name == "simulated" else "collected"
    trial_ids = {model_plan.name: _trial_ids(run_plan, model_plan, repetitions) for model_plan in models}
    try:
        widths = precision.widths.measure(run_plan.db, run_plan.study, precision.fit, source, trial_ids)
    except KeyboardInterrupt:
        hint = "All answers are kept. The same command measures again, and continues."
        raise Interrupted("Left while the width of intervals was measured.", hint) from None
    looks = [
        Look(
            plan=plan_id(run_plan.study, model_plan.model, run_plan.seed),
            study=run_plan.study.name,
            study_version=run_plan.study.version,
            variant=run_plan.study.variant,
            source=source,
            model=model_plan.name,
            seed=run_plan.seed,
            **rule.as_settings(),
            look_no=len(precision.looks[model_plan.name]) + 1,
            repetitions=repetitions,
            fit=precision.fit.name,
            outcome=precision.outcome,
            widths=tuple(widths[model_plan.name]),
        )
        for model_plan in models
    ]
    return keep_looks(run_plan.db, looks)


def _trial_ids(run_plan: RunPlan, model_plan: ModelPlan, repetitions: int) -> list[str]:
    plan = run_plan.study.design.asks.plan(run_plan.study, model_plan.model, run_plan.seed)
    return [trial_id for place in plan.places(repetitions) for trial_id in plan.trial_ids(place)]


def report_of_looks(precision: Precision, reports: Sequence[RunReport]) -> RunReport:
    """Return a report that sums all runs; it is complete if the last look at each model ended it."""
    rows = [
        _row(precision, of_model, [row for report in reports for row in report.models if row["model"] == of_model.name])
        for of_model in precision.run_plan.model_plans
    ]
    last = reports[-1] if reports else None
    return RunReport(
        run_id=", ".join(report.run_id for report in reports),
        db=precision.run_plan.db,
        models=tuple(rows),
        left_out=precision.run_plan.left_out,
        is_loaded=last is None or last.is_loaded,
        was_stopped=last is not None and last.was_stopped,
        disk_was_full=last is not None and last.disk_was_full,
        notes=_notes_by_run(reports),
        looks=tuple(look for made in precision.looks.values() for look in made),
        lacks_look=any(precision.next_look(row["model"]) is not None for row in rows),
    )


def _notes_by_run(reports: Sequence[RunReport]) -> tuple[str, ...]:
    """Return the notes of all runs, with the runs that each is of: its counts are of one of them."""
    runs: dict[str, list[str]] = {}
    for run_no, report in enumerate(reports, start=1):
        for note in dict.fromkeys(report.notes):
            runs.setdefault(note, []).append(str(run_no))
    n = len(reports)
    return tuple(
        note if n == 1 else f"In {'each' if len(of) == n else 'run ' + ' and '.join(of)} of {n} runs: {note}"
        for note, of in runs.items()
    )


def _row(precision: Precision, model_plan: ModelPlan, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a model's row over all runs: `planned` is its plan when it ended or was abandoned, `repetitions` and
    `half_width` (of its widest test) are those of its last look."""
    made = precision.looks[model_plan.name]
    repetitions = made[-1].repetitions if made else 0
    sums: Counter[str] = Counter()
    for row in rows:
        sums.update({name: row[name] for name in _SUMS})
    planned = rows[-1]["planned"] if rows else planned_count(precision.run_plan.study, repetitions)
    costs = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    widest = made[-1].widest if made else None
    return (
        {"model": model_plan.name, "planned": planned, "already_done": rows[0]["already_done"] if rows else planned}
        | {name: sums[name] for name in _SUMS}
        | {
            "cost_usd": sum(costs) if costs or not rows else None,
            "stopped_because": rows[-1]["stopped_because"] if rows else None,
            "last_failure": rows[-1]["last_failure"] if rows else None,
            "looks": len(made),
            "repetitions": repetitions,
            "half_width": widest and widest.half_width,
        }
    )
