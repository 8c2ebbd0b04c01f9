"""What a report may make by itself: a fit of seconds, yes; one of minutes is only shown where it has been kept."""

from __future__ import annotations

from pathlib import Path

from slant.analysis.bridge.worker import versions_now
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.shown_bayes_fits import ENGINE, shown_fits
from slant.analysis.paper import families_of
from slant.analysis.paper.family import Family
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Fit, Study

_QUICK = ("lme4", "effect_size", "welch", "step_sensitivity", "leave_one_out")


def is_quick(fit: Fit) -> bool:
    """A binomial mixed model of all trials takes minutes, unlike a linear one of a cell."""
    return fit.engine in _QUICK and fit.settings.get("family") is None


def affordable_families(db: str | Path, study: Study) -> tuple[Family, ...]:
    """Families of printed numbers whose fits are quick, or kept and of today's rows, settings, code and packages."""
    families = families_of(study)
    if all(is_quick(fit) or fit.engine == "stm" for fit in study.fits.values()):
        return families  # topics are never fitted for a comparison
    shown = shown_fits(db, study, versions_now(ENGINES[ENGINE].packages))
    stale = set(shown.filter(~shown["is_own"])["fit"])
    ready = set(shown["fit"]) - stale
    results = Results(db, study, None, None)
    return tuple(
        family
        for family in families
        if all(
            one.fit in ready or one.fit not in study.fits or is_quick(study.fits[one.fit])
            for one in family.needs(results)[1]
        )
    )
