"""Deal words to their groups at random, in existing data: what a study's condition effects look like without any. There
is one call of R per model and test, with all of its permutations.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID
from slant.analysis.calls.results import Progress, results
from slant.analysis.fitting.fit_plan import PlannedFit, plan_fits
from slant.analysis.rows.study_choice import no_rows_error
from slant.collector.errors import UsageError, check_known
from slant.collector.stable_ids import stable_id
from slant.collector.studies.catalogue import Fit, Study
from slant.collector.study.crossed_fits import cell_model

PACKAGES: Mapping[str, tuple[str, ...]] = {"difference": (), "lme4": ("lme4", "lmerTest")}
"""List the R packages of each engine: the difference of means needs none."""
SETTINGS = ("whole_words",)
GRAIN = ("source", "study", "study_version", "variant", "fit", "engine")
_PAIR = ("item", "group", "wording", "repetition")
_TABLES = {
    "counts": "permutations",
    "tests": "permutation_cells",
    "values": "permutation_draws",
    "refits": "permutation_refits",
}


def has_conditions(study: Study) -> bool:
    """Return whether it has a mixed model of each model and test, whose first factor is the condition."""
    own = cell_model(dict(study.fits))
    return own is not None and len(next(iter(own.levels.values()), ())) == 2


def permute_conditions(
    db: Path,
    study: Study,
    permutations: int,
    engine: str,
    seed: int,
    source: str | None,
    workers: Workers,
    progress: Progress | None,
    settings: Mapping[str, Any],
) -> tuple[dict[str, pl.DataFrame], tuple[str, ...], str | None]:
    """Return the frames tests, values and refits of `PermutationResult`, the cells that were left out, and why the
    frames could not be kept.
    """
    check_known("engine", engine, PACKAGES)
    for name in settings:
        check_known("setting of a permutation of conditions", name, SETTINGS)
    own = cell_model(dict(study.fits))
    plan = plan_fits(db, study, _with_pairs(own), source=source) if own else []
    if own is None or not plan:
        raise no_rows_error("permute", db, source)
    contrast = next(iter(own.levels))
    are_whole = [set(map(str, own.levels[contrast])) <= set(planned.cell.rows[contrast].cast(str)) for planned in plan]
    left_out = [planned.cell.key for planned, is_whole in zip(plan, are_whole, strict=True) if not is_whole]
    if not any(are_whole):
        raise UsageError("Nothing to permute: no model and test has answers in both conditions.")
    whole = [planned for planned, is_whole in zip(plan, are_whole, strict=True) if is_whole]
    calls = [_call(planned, own, permutations, engine, seed, settings) for planned in whole]
    kept = results(db, calls, workers=workers, progress=progress)
    kept.check_none_failed()
    about = pl.DataFrame(
        [{ID: call.id, **{name: call.about["permutation"][name] for name in GRAIN}} for call in calls],
        infer_schema_length=None,
    )
    tests = kept.frames["permutation_cells"]
    place = tests.columns.index("observed") + 1
    tests = tests.insert_column(place, pl.lit(None, pl.Float64).alias("observed_main_fit"))
    refits = kept.frames["permutation_refits"].join(
        kept.calls.select(ID, "status", "messages", "seconds"), on=ID, how="left", maintain_order="left"
    )
    values = kept.frames["permutation_draws"].join(
        kept.calls.select(ID, "status"), on=ID, how="left", maintain_order="left"
    )
    order = ("number", "seed", "status", "n_divergent", "n_max_treedepth", "is_singular", "messages", "seconds")
    frames = {"tests": tests, "values": values, "refits": refits.select(ID, *order)}
    named = {
        name: about.join(frame, on=ID, how="right", maintain_order="right").select(
            *GRAIN, *(column for column in frame.columns if column != ID)
        )
        for name, frame in frames.items()
    }
    return named, tuple(f"{key['model']} in {key['test']}" for key in left_out), kept.not_kept


def _with_pairs(own: Fit) -> Fit:
    """Add the columns that say which two answers are a pair, among those that are read."""
    return replace(own, formula=" + ".join((own.formula or "", *(f"(1 | {name})" for name in _PAIR))))


def _call(planned: PlannedFit, own: Fit, n: int, engine: str, seed: int, settings: Mapping[str, Any]) -> Call:
    contrast, key = next(iter(own.levels)), planned.cell.key
    grain = {name: key[name] for name in ("study_version", "source", "variant")}
    how = {"engine": engine, "seed": seed}
    about = {"study": planned.study, **grain, "fit": own.name, **how, "settings": dict(settings)}
    rows_hash = Call("permute_pairs", planned.cell.rows, warnings=planned.cell.warnings).data_hash
    cell = {"model": key["model"], "test": key["test"]}
    within = "model, test" if settings.get("whole_words") else "model, test, wording"
    of_test = {"formula": own.formula, "contrast": contrast, "unit": "item", "within": within, "n_permutations": n}
    settings_text = json.dumps(dict(settings), sort_keys=True)
    of_r = {"formula": own.formula, "levels": list(own.levels[contrast]), "contrast": contrast, "permutations": n}
    return Call(
        "permute_pairs",
        planned.cell.rows,
        {**of_r, **how, **settings},
        about={"permutation": {**about, **cell}},
        tables=_TABLES,
        columns={**about, **of_test, "settings": settings_text, "rows_hash": rows_hash},
        fill={**cell, "permutation_id": stable_id("permutation", about, cell, rows_hash)},
        warnings=planned.cell.warnings,
        packages=PACKAGES[engine],
    )
