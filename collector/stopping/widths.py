"""Measure how wide an interval is now, through an installed package: the collector knows no statistics.

    [project.entry-points."slant.widths"]
    crossed = "slant.analysis.questions.interval_widths:CROSSED_WIDTHS"

The name is that of an engine; slant's own is the one that fits the model over words and wordings, with R.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slant.collector.designs.study import Study
from slant.collector.errors import DesignError, RError, UsageError
from slant.collector.sources import Source
from slant.collector.study.crossed_fits import CROSSED
from slant.collector.study.records import Fit
from slant.collector.system.third_party import load_third_party

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
        """Return each model's tests in the study's order, over these trials of the database only."""


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


def outcome_of(fit: Fit) -> str:
    """Name the unit of its widths."""
    return (fit.formula or "").partition("~")[0].strip()


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
