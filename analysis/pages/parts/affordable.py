"""What a report may make by itself: a fit of seconds, yes; one of minutes is only shown where it has been kept."""

from __future__ import annotations

from pathlib import Path

from slant.analysis.bridge.worker import versions_now
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.shown_bayes_fits import ENGINE, shown_fits
from slant.analysis.paper.numbers import Numbers
from slant.analysis.paper.results import Results
from slant.analysis.paper.sources import sources_of
from slant.collector.studies.catalogue import Fit, Study

_QUICK = ("lme4", "effect_size", "welch", "step_sensitivity", "leave_one_out")


def is_quick(fit: Fit) -> bool:
    """A binomial mixed model of all trials takes minutes, unlike a linear one of a cell."""
    return fit.engine in _QUICK and fit.settings.get("family") is None


def affordable_sources(db: str | Path, study: Study) -> tuple[Numbers, ...]:
    """Sources of printed numbers whose fits are quick, or kept and of today's rows, settings, code and packages."""
    sources = sources_of(study)
    if all(is_quick(fit) or fit.engine == "stm" for fit in study.fits.values()):
        return sources  # topics are never fitted for a comparison
    shown = shown_fits(db, study, versions_now(ENGINES[ENGINE].packages))
    ready = set(shown["fit"]) - set(shown.filter(~shown["is_own"])["fit"])
    results = Results(db, study)
    return tuple(
        source
        for source in sources
        if all(asked.fit in ready or is_quick(study.fits[asked.fit]) for asked in source.fits(results))
    )
