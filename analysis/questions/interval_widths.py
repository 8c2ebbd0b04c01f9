"""Measure how wide the interval of a condition effect is now, for a collector that asks until it is narrow enough.

It is the same model of the same rows as `analyze --fit crossed`, but nothing is kept and no effect is reported: it
should not be visible when deciding to stop.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import polars as pl

from slant.analysis.bridge.r_home import r_installation
from slant.analysis.bridge.worker import versions_here
from slant.analysis.calls.call import Answer, computed
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fit_plan import PlannedFit, plan_fits
from slant.analysis.rows.cells import read_rows
from slant.collector.errors import RError
from slant.collector.sources import Source
from slant.collector.stopping.rule import CellWidth, Widths
from slant.collector.studies.catalogue import Fit, Study
from slant.collector.study.crossed_fits import CROSSED


class CrossedWidths(Widths):
    """Measure by the mixed model over words and wordings (R's fit_crossed())."""

    name = CROSSED

    def check(self) -> None:
        packages = ENGINES[CROSSED].packages
        missing = [package for package, version in versions_here(packages).items() if version is None]
        if missing:
            where = f"R {home.version_text}" if (home := r_installation()) else "R"
            raise RError(f"{where} lacks the package {', '.join(missing)}.", "What to type for it: analyze doctor")

    def measure(
        self, db: Path, study: Study, fit: Fit, source: Source, trial_ids: Mapping[str, Collection[str]]
    ) -> dict[str, Sequence[CellWidth]]:
        alone = replace(fit, settings={})  # without the model that it is compared with
        asked = [trial_id for of_model in trial_ids.values() for trial_id in of_model]
        rows = read_rows(db, study.name, [alone], None, asked)
        plan = [
            planned
            for planned in plan_fits(db, study, alone, source=source, rows=rows)
            if (planned.cell.key["study_version"], planned.cell.key["variant"]) == (study.version, study.variant)
        ]
        widths: dict[tuple[str, str], CellWidth] = {}
        with closing(computed([planned.call for planned in plan])) as answers:
            for number, answer in answers:
                cell = plan[number].cell.key
                widths[cell["model"], cell["test"]] = _width(plan[number], answer)
        tests = [test.test for test in study.tests]
        if fit.where and widths:  # the other tests have nothing to wait for
            tests = list(dict.fromkeys(test for _, test in widths))
        return {
            model: tuple(widths.get((model, test)) or CellWidth(test, None, None, "failed", 0) for test in tests)
            for model in trial_ids
        }


def _width(planned: PlannedFit, answer: Answer) -> CellWidth:
    """Return the width of a fit: a failed one has none. A singular one has that of the maximal model."""
    test, n = planned.cell.key["test"], planned.cell.rows.height
    failed = CellWidth(test, None, None, "failed", n)
    if answer.has_died or answer.error:
        return failed
    frames = answer.frames
    if "effects" not in frames or frames["effects"].height != 1:
        return failed
    effect = frames["effects"].row(0, named=True)
    margin = effect["width_margin"]
    half_width = margin * (effect["conf_high"] - effect["conf_low"]) / 2
    if not math.isfinite(half_width):
        return failed
    of_trials = frames["shares"].filter(pl.col("group") == "residual")["share"].sum()
    least = half_width * math.sqrt(max(0.0, 1 - of_trials))
    return CellWidth(test, half_width, least, frames["fits"]["status"].item(), n, margin)


CROSSED_WIDTHS = CrossedWidths()
