"""Keep and report looks at the width of intervals while a model is being asked, in the journal and the database.

A look that was made counts, whatever comes after: towards `--looks`, and for readers who ask how a study ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.errors import DatabaseEmptyError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal import SideJournal, utc_now
from slant.collector.keep.journal_loader import load_journals
from slant.collector.stable_ids import stable_id
from slant.collector.stopping.rule import CellWidth, StoppingRule
from slant.collector.study.records import BASE, StudyModel

NARROW, MOST, GOES_ON = "narrow enough", "all repetitions asked", "goes on"
_NEEDED = ("repetitions", "look_no", "looked_at", "model", "variant")
_OF_TEST = tuple(field.name for field in fields(CellWidth))


@dataclass(frozen=True)
class Look:
    """Hold one look at one model. `plan` is what it was asked, by plan_id(); `look_no` counts the looks of a plan from
    1. `outcome` is the unit of widths, `widths` has one for each test."""

    plan: str
    study: str
    study_version: str
    variant: str
    source: str
    model: str
    seed: int
    until_width: float
    looks: int
    most_repetitions: int
    look_no: int
    repetitions: int
    fit: str
    outcome: str
    widths: tuple[CellWidth, ...]
    looked_at: str = ""

    @property
    def rule(self) -> StoppingRule:
        return StoppingRule(self.until_width, self.looks, self.most_repetitions)

    @property
    def widest(self) -> CellWidth | None:
        """Return the test that decides: one without an interval, else the one with the widest."""
        unknown = [cell for cell in self.widths if cell.half_width is None]
        return unknown[0] if unknown else max(self.widths, key=lambda cell: cell.half_width or 0, default=None)

    def decision(self, rule: StoppingRule) -> str:
        """Return this look's decision by that rule. An unknown width ends nothing."""
        widest = self.widest
        if widest is not None and widest.half_width is not None and widest.half_width <= rule.until_width:
            return NARROW
        return MOST if self.repetitions >= rule.most_repetitions else GOES_ON

    @property
    def width(self) -> str:
        """Return the widest test's width for people."""
        widest = self.widest
        return "±?" if widest is None or widest.half_width is None else f"±{widest.half_width:.3g}"


def plan_id(study: Study, model: StudyModel, seed: int) -> str:
    """Return a name for a model's plan, independent of the number of repetitions: its looks are counted together."""
    sent = (model.model, model.provider, model.requested_model, model.frame, dict(model.settings))
    return stable_id("plan", study.name, study.version, study.variant, *sent, model.structured_output, seed)[:16]


def keep_looks(db: Path, looks: Sequence[Look]) -> list[Look]:
    """Keep looks on disk and in the database; return them with their time."""
    timed = [replace(look, looked_at=utc_now()) for look in looks]
    with SideJournal(db, "looks") as journal:
        for look in timed:
            journal.append({"kind": "look"} | asdict(look))
    load_journals(db)
    return timed


def read_looks(db: Path, study: str | None = None) -> dict[str, list[Look]]:
    """Return the looks in the database by plan, in the order in which they were made; of one study, or of all."""
    if not db.exists():
        return {}
    try:
        with reading(db) as connection:
            kept = connection.sql("FROM precision_looks ORDER BY plan, look_no, looked_at, place")
            rows: list[dict[str, Any]] = frame_of(kept).to_dicts()
    except DatabaseEmptyError:
        return {}
    return looks_by_plan(looks_of_rows([row for row in rows if study in (None, row["study"])]))


def looks_by_plan(looks: Iterable[Look]) -> dict[str, list[Look]]:
    """Return the looks at a model in their order, by what it was asked."""
    by_plan: dict[str, list[Look]] = {}
    for look in looks:
        by_plan.setdefault(look.plan, []).append(look)
    return by_plan


def looks_of_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[Look]:
    """Read looks from the rows of precision_looks or interval_widths, in their order; others are left out."""
    sound = (row for row in rows if StoppingRule.in_settings(row) and None not in map(row.get, _NEEDED))
    for (*_, looked_at), of_look in groupby(sound, key=lambda row: (row["plan"], row["look_no"], row["looked_at"])):
        cells = list(of_look)
        widths = tuple(CellWidth(**{name: row[name] for name in _OF_TEST}) for row in cells)
        common = {field.name: cells[0][field.name] for field in fields(Look) if field.name != "widths"}
        yield Look(**{**common, "widths": widths, "looked_at": f"{looked_at:%Y-%m-%dT%H:%M:%S.%f}"})


def look_sentence(look: Look, rule: StoppingRule) -> str:
    """Return a sentence on the result of a look and its consequence, by that rule."""
    decision, widest = look.decision(rule), look.widest
    state = f"{look.model} {look.width} {look.outcome}"
    if widest is None or widest.half_width is None:
        unknown = sum(cell.half_width is None for cell in look.widths)
        state = f"{look.model}: no interval in {unknown} of {len(look.widths)} tests, for the fit failed"
    elif len(look.widths) > 1:
        state += f" (the widest of {len(look.widths)} tests: {widest.test})"
    ends = {
        NARROW: f"{rule.until_width:g} or less, so it is asked no more",
        MOST: f"not yet {rule.until_width:g}, but all {rule.most_repetitions} repetitions are asked, so it ends "
        "without that width",
        GOES_ON: f"not yet {rule.until_width:g}, so it is asked on",
    }
    of = f"Look {look.look_no} of {rule.looks}, after {look.repetitions} of {rule.most_repetitions} repetitions"
    return f"{of}: {state}; {ends[decision]}.{_what_words_hold(look, rule, decision)}"


def _what_words_hold(look: Look, rule: StoppingRule, decision: str) -> str:
    """Say if no number of repetitions would suffice; this is reported, never acted on."""
    least = max((cell.least_half_width or 0 for cell in look.widths), default=0)
    if decision == NARROW or least <= rule.until_width:
        return ""
    return (
        f" Repetitions alone would end at about ±{least:.3g}: the rest is words and wordings, of which there must be "
        "more (analyze power)."
    )


def looks_clause(looks: Sequence[Look]) -> str:
    """Return the looks at one model in a clause: the width at each, and why it ended."""
    widths = ", ".join(f"{look.width} after {look.repetitions}" for look in looks)
    last = looks[-1]
    why = {
        NARROW: "which was narrow enough",
        MOST: f"and all {last.most_repetitions} repetitions were asked without that width",
        GOES_ON: "and it had not ended",
    }
    return f"{widths} repetitions, {why[last.decision(last.rule)]}"


def precision_notes(db: Path) -> list[str]:
    """Say for each model that is, or was, to end on precision: the rule, the width at each look, and why it ended."""
    notes = []
    for looks in read_looks(db).values():
        last = looks[-1]
        variant = f" ({last.variant})" if last.variant != BASE else ""
        notes.append(
            f"{last.model}{variant} until ±{last.until_width:g} {last.outcome}, {last.looks} looks, "
            f"{last.most_repetitions} repetitions at most: {looks_clause(looks)}."
        )
    return notes
