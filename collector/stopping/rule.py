"""Decide when a model is asked no more before its plan ends: how narrow an interval must be, and when it is looked at.

Only the width is looked at. Whether an effect exists, or is significant, decides nothing, so that the answers are those
of a study whose size was not chosen by its result.

Measure how wide an interval is now, through an installed package: the collector knows no statistics.

    [project.entry-points."slant.widths"]
    crossed = "slant.analysis.questions.interval_widths:CROSSED_WIDTHS"

The name is that of an engine; slant's own is the one that fits the model over words and wordings, with R."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.errors import DesignError, RError, UsageError
from slant.collector.sources import Source
from slant.collector.study.crossed_fits import CROSSED
from slant.collector.study.records import Fit
from slant.collector.system.shipped_files import load_third_party

GROUP = "slant.widths"


@dataclass(frozen=True)
class CellWidth:
    """Hold half of a 95 % interval for one test of a model. It is that of the condition effect, in units of the fit's
    outcome.

    `half_width` is None if no interval could be had, and `status` is then "failed". `least_half_width`: what it would
    be with any number of repetitions of the same words in the same wordings. `n_trials` is how many were used.
    `width_margin`: how many times wider both are than the model's own interval, because a run stops more readily if its
    variance is underestimated.
    """

    test: str
    half_width: float | None
    least_half_width: float | None
    status: str
    n_trials: int
    width_margin: float | None = None


class Widths(ABC):
    """Measure intervals by one kind of model, `name`, without saying anything about the effects themselves."""

    name: str

    @abstractmethod
    def check(self) -> None:
        """Raise RError if this machine can't measure."""

    @abstractmethod
    def measure(
        self, db: Path, study: Study, fit: Fit, source: Source, trial_ids: Mapping[str, Collection[str]]
    ) -> Mapping[str, Sequence[CellWidth]]:
        """Return the tests of each model in the study's order, over these trials of the database only."""


def fit_of_width(study: Study) -> Fit:
    """Return the fit that a run waits for. UsageError for a study that has none."""
    fit = {**study.design.analyses.fits(study), **study.fits}.get(CROSSED)
    if fit is None or fit.engine != CROSSED:
        raise UsageError(
            f'--until-width can\'t be used with "{study.name}": it has no fit "{CROSSED}".',
            f"Such an interval is that of the effect of two conditions over words and wordings; a study of the design "
            f"{study.design.name} has no such effect. One of the design association has it.",
            "To ask a number that is fixed before: --repetitions 5 (analyze power --study … says how many)",
        )
    return fit


def widths_by(fit: Fit) -> Widths:
    """Return the engine that measures intervals of this fit; UsageError if nothing here can, with the package to
    install."""
    widths = load_third_party(GROUP, fit.engine, Widths, DesignError)  # type: ignore[type-abstract]
    if widths is None:
        raise UsageError(
            "--until-width can't be used here: nobody is installed who could measure an interval.",
            "It must be a slant that was installed as a whole: make setup (or pip install . again).",
        )
    try:
        widths.check()
    except RError as error:
        raise UsageError(f"--until-width needs R, which fits the model. {error.what}", *error.details) from None
    return widths


USUAL_LOOKS = 5
MAX_LOOKS = 1000
WHAT_INTERVALS_HOLD = (
    "Simulated (the worst of nine designs), such 95 % intervals hold the effect in 95 % of all runs, and in 95 % of "
    "those that reach the width where half of the runs do. Where fewer do, those that reach it are runs whose variance "
    "was underestimated, and their intervals are too narrow: 93 % hold it where a third reach it, 89 % where "
    "a tenth do."
)
"""State what bench/truth (claim `stopping`) finds, the lowest of its designs."""


@dataclass(frozen=True)
class StoppingRule:
    """Stop asking a model on precision: it is asked whole repetitions of the plan, `most_repetitions` at most, and no
    more once half of the 95 % interval of the condition effect is `until_width` or less in each of its tests; that is
    looked at `looks` times at most."""

    until_width: float
    looks: int
    most_repetitions: int

    def __post_init__(self) -> None:
        if not 0 < self.until_width < math.inf:
            raise UsageError(f"--until-width must be above 0, not {self.until_width:g}.")
        if not 1 <= self.looks <= MAX_LOOKS:
            raise UsageError(f"--looks must be from 1 to {MAX_LOOKS:,}, not {self.looks}.")
        if self.most_repetitions < 2:
            raise UsageError(
                "--until-width needs --repetitions 2 or more: the most that a model is asked.",
                "A block is one repetition of the plan (each word, wording and condition once), and it stops after one "
                "of them. For ten at most: --until-width 10 --repetitions 10",
            )

    @classmethod
    def of(cls, until_width: float | None, looks: int | None, most_repetitions: int) -> StoppingRule | None:
        """Return the rule of these options; None if none was given."""
        if until_width is None:
            if looks is not None:
                raise UsageError("--looks is about --until-width: how often the width is looked at.")
            return None
        return cls(until_width, min(USUAL_LOOKS, most_repetitions) if looks is None else looks, most_repetitions)

    @property
    def looks_at(self) -> tuple[int, ...]:
        """Return after how many repetitions to look: as evenly as possible, and after the last."""
        n = min(self.looks, self.most_repetitions)
        return tuple(-(-self.most_repetitions * look // n) for look in range(1, n + 1))

    def as_settings(self) -> dict[str, Any]:
        """Return the rule as the settings of a run and a registration have it."""
        return {"until_width": self.until_width, "looks": self.looks, "most_repetitions": self.most_repetitions}

    @classmethod
    def in_settings(cls, settings: Mapping[str, Any]) -> StoppingRule | None:
        """Return the rule of a run with these settings, which a stranger may have written; None if there is none in
        them.
        """
        try:
            return cls(*(settings.get(field.name) for field in fields(cls)))  # type: ignore[arg-type]
        except (UsageError, TypeError):
            return None

    def sentences(self, outcome: str = "tokens") -> str:
        """Describe the rule in words, for a registration and for a methods section."""
        at = ", ".join(map(str, self.looks_at))
        return (
            f"Each model is asked whole repetitions of the plan, {self.most_repetitions} at most, and no more once "
            f"half of the 95 % interval of the condition effect is {self.until_width:g} {outcome} or less in each of "
            f"its tests, by the mixed model over words and wordings. That is looked at after {at} repetitions. "
            "The interval is taken to be wider than the model's own by a margin for a variance that may be "
            "underestimated. Neither the effect nor its p decides anything. "
            f"{WHAT_INTERVALS_HOLD}"
        )

    def __str__(self) -> str:
        return f"±{self.until_width:g}, {self.looks} looks, {self.most_repetitions} repetitions at most"
