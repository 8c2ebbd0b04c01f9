"""A run that ends on precision: whole repetitions of the plan, a look at the width of each model's intervals, and on.

Between looks it is an ordinary run of so many repetitions, with a journal of its own. Where it was killed, the same
command asks what is missing of them, then looks; a look that was made is in the journal, and is not made again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slant.collector.ask.watcher import Watcher
from slant.collector.designs import design_named
from slant.collector.errors import Interrupted, UsageError
from slant.collector.keep.final_trials import read_finals
from slant.collector.keep.journal_loader import load_journals
from slant.collector.plan.conversations import done_in, planned_count
from slant.collector.plan.run_plan import ModelPlan, Offer, with_repetitions
from slant.collector.records import Source
from slant.collector.run.one_process import Options, RunReport, checked_offer
from slant.collector.stopping.looks import GOES_ON, Look, keep_looks, look_sentence, plan_id, read_looks
from slant.collector.stopping.rule import StoppingRule
from slant.collector.stopping.widths import Widths, fit_of_width, outcome_of, widths_by
from slant.collector.study.records import Fit

CarryOut = Callable[[Offer], RunReport]
_SUMS = ("asked", "answered", "refused", "filtered", "truncated", "malformed", "failed")


@dataclass
class Precision:
    """An offer that ends on precision, with the looks that were made of it, by model, before and now."""

    offer: Offer
    rule: StoppingRule
    fit: Fit
    widths: Widths
    looks: dict[str, list[Look]] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        """In units of which widths are."""
        return outcome_of(self.fit)

    def next_look(self, model: str) -> int | None:
        """After how many repetitions this model is looked at next; None where it is asked no more."""
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

    def going(self) -> Offer:
        """The most that may still be asked: all repetitions of the models that have not ended."""
        names = [asked.model.model for asked in self.offer.asked if self.next_look(asked.model.model) is not None]
        return with_repetitions(self.offer, names, self.rule.most_repetitions)

    def until_next_look(self) -> list[Offer]:
        """The least: what is asked before anything can end, one offer for each number of repetitions, fewest first."""
        next_looks = {asked.model.model: self.next_look(asked.model.model) for asked in self.offer.asked}
        points = sorted({at for at in next_looks.values() if at is not None})
        return [with_repetitions(self.offer, [m for m, n in next_looks.items() if n == at], at) for at in points]

    def other_rules(self) -> list[str]:
        """A sentence for each model that was looked at by another rule before."""
        return [
            f"{model} was looked at by another rule before ({made[-1].rule}); now it is {self.rule}. Its "
            f"{len(made)} looks count, and both rules are kept."
            for model, made in self.looks.items()
            if made and made[-1].rule != self.rule
        ]


def begin_precision(offer: Offer, *, loads: bool = True) -> Precision:
    """What was looked at so far. UsageError where the study has no such interval, or nobody here can measure one.
    `loads`: answers and looks that wait in the journal are brought into the database first."""
    assert offer.stopping is not None
    fit = fit_of_width(offer.study)
    widths = widths_by(fit)
    if loads:
        load_journals(offer.db)
    kept = read_looks(offer.db, offer.study.name)
    looks = {a.model.model: kept.get(plan_id(offer.study, a.model, offer.seed), []) for a in offer.asked}
    return Precision(offer, offer.stopping, fit, widths, looks)


def carry_out_until_narrow(
    offer: Offer, options: Options, *, yes: bool, watcher: Watcher, carry_out: CarryOut
) -> RunReport:
    """Ask whole repetitions until each model is narrow enough by the offer's rule; `carry_out` asks those of one offer.

    Models that lack a trial at a look (it failed, the run was stopped) are not looked at: the same command goes on.
    """
    precision = begin_precision(offer)
    if offer.asked and not precision.going().asked:
        return _report(precision, [])
    checked_offer(precision.going() if offer.asked else offer, options, yes=yes)  # before anybody is asked anything
    for sentence in precision.other_rules():
        watcher.say(sentence)
    reports: list[RunReport] = []
    lacking: set[str] = set()
    while stage := next((s for s in precision.until_next_look() if _names(s) - lacking), None):
        if _names(stage) & lacking:
            stage = with_repetitions(stage, _names(stage) - lacking, stage.repetitions)
        if stage.pending:
            reports.append(carry_out(stage))
            if reports[-1].was_stopped or reports[-1].disk_was_full or not reports[-1].is_loaded:
                return _report(precision, reports)
        whole = _whole(stage)
        lacking |= _names(stage) - {asked.model.model for asked in whole}
        if whole:
            for look in _look(precision, whole, stage.repetitions):
                precision.looks[look.model].append(look)
                watcher.say(look_sentence(look, precision.rule))
    return _report(precision, reports)


def _names(offer: Offer) -> set[str]:
    return {asked.model.model for asked in offer.asked}


def _whole(offer: Offer) -> list[ModelPlan]:
    """The models of which all is answered. What an open batch job asks is not, though nobody asks it again."""
    finals = read_finals(offer.db, offer.study.name)
    plan_of = offer.seed, offer.repetitions, finals
    return [a for a in offer.asked if done_in(offer.study, a.model, *plan_of).trials == a.planned]


def _look(precision: Precision, models: Sequence[ModelPlan], repetitions: int) -> list[Look]:
    """Measure these models, and keep what was seen."""
    offer, rule = precision.offer, precision.rule
    source: Source = "simulated" if models[0].provider.name == "simulated" else "collected"
    trial_ids = {asked.model.model: _trial_ids(offer, asked, repetitions) for asked in models}
    try:
        widths = precision.widths.measure(offer.db, offer.study, precision.fit, source, trial_ids)
    except KeyboardInterrupt:
        hint = "All answers are kept. The same command looks, and goes on."
        raise Interrupted("Left while the width of intervals was measured.", hint) from None
    looks = [
        Look(
            plan=plan_id(offer.study, asked.model, offer.seed),
            study=offer.study.name,
            study_version=offer.study.version,
            variant=offer.study.variant,
            source=source,
            model=asked.model.model,
            seed=offer.seed,
            **rule.as_settings(),
            look_no=len(precision.looks[asked.model.model]) + 1,
            repetitions=repetitions,
            fit=precision.fit.name,
            outcome=precision.outcome,
            widths=tuple(widths[asked.model.model]),
        )
        for asked in models
    ]
    return keep_looks(offer.db, looks)


def _trial_ids(offer: Offer, asked: ModelPlan, repetitions: int) -> list[str]:
    plan = design_named(offer.study.design).plan(offer.study, asked.model, offer.seed)
    return [trial_id for place in plan.places(repetitions) for trial_id in plan.trial_ids(place)]


def _report(precision: Precision, reports: Sequence[RunReport]) -> RunReport:
    """All runs together as one; it is complete where the last look at each model ended it."""
    rows = [
        _row(
            precision, asked, [row for report in reports for row in report.models if row["model"] == asked.model.model]
        )
        for asked in precision.offer.asked
    ]
    last = reports[-1] if reports else None
    return RunReport(
        run_id=", ".join(report.run_id for report in reports),
        db=precision.offer.db,
        models=tuple(rows),
        left_out=precision.offer.left_out,
        is_loaded=last is None or last.is_loaded,
        was_stopped=last is not None and last.was_stopped,
        disk_was_full=last is not None and last.disk_was_full,
        looks=tuple(look for made in precision.looks.values() for look in made),
        lacks_look=any(precision.next_look(row["model"]) is not None for row in rows),
    )


def _row(precision: Precision, asked: ModelPlan, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One model over all runs: `planned` is what it had been asked for when it ended or was left, `repetitions` and
    `half_width` (of its widest test) are those of its last look."""
    made = precision.looks[asked.model.model]
    repetitions = made[-1].repetitions if made else 0
    sums: Counter[str] = Counter()
    for row in rows:
        sums.update({name: row[name] for name in _SUMS})
    planned = rows[-1]["planned"] if rows else planned_count(precision.offer.study, repetitions)
    costs = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    widest = made[-1].widest if made else None
    return (
        {"model": asked.model.model, "planned": planned, "already_done": rows[0]["already_done"] if rows else planned}
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
