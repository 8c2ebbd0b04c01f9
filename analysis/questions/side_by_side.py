"""Compare two databases of one study: do their fits come to the same, and how many answers do they use?

Each database's own results are compared: the study's quick fits of its rows. Sealed archives are first loaded into a
separate database (collector/ and R never see where rows come from).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.fits import Progress, fit
from slant.analysis.rows.study_choice import study_in
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError, check_known
from slant.collector.keep.database import fetched, fetched_frame
from slant.collector.studies.catalogue import Fit, Study, fits_of
from slant.collector.system.shipped_files import sql_query

QUICK = ("lme4", "effect_size", "lm", "logistic", "clm", "clogit", "crossed")
"""List engines whose fits take seconds; others are compared if they are named."""
STATUSES = ("same", "within chance", "differs", "only here", "only there")
_KEYS = ("source", "variant", "fit", "refusals_removed", "measure", "model", "test", "term")
_NUMBERS = ("estimate", "std_error", "conf_low", "conf_high", "p_value")
_CHANCE = 1.96  # standard errors of a difference of independent estimates
_SAME = 1e-8


@dataclass(frozen=True)
class SideBySide:
    """Hold estimates: one row per estimate of either: the keys of its cell, `estimate`, `std_error`, `conf_low`,
    `conf_high`, `p_value` here, the same there (`estimate_there` …), `difference` (there minus here), `z` (over the
    standard error of the difference, as for independent answers) and `status`, one of STATUSES. counts: one row per
    source, variant, model, test and condition: `n` answered, refused and other trials here and there.
    """

    estimates: pl.DataFrame
    counts: pl.DataFrame


@checked_arguments()
def side_by_side(
    db: str | Path,
    other: str | Path,
    study: str | Study | None = None,
    fits: Sequence[str] = (),
    source: str | None = None,
    workers: Workers = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    changed: Study | None = None,
) -> SideBySide:
    """Compare the fits of `study` in two databases. `fits`: their names or engines; default: the quick ones.

    Both are fitted by the definitions of the study as `db` knows it. Estimates of the same answers agree to 1e-8
    ("same"); those of other answers may differ by chance ("within chance": by less than 1.96 standard errors of the
    difference). With `changed`, the same study with other choices, `other` is fitted by that one, and may be `db`.

    Raise DatabaseError if one of them has no answers of the study, UsageError for one database twice.
    """
    here, there = Path(db), Path(other)
    if changed is None and here.exists() and there.exists() and here.samefile(there):
        raise UsageError(f'"{other}" is the same database.', "Name another: --with OTHER.duckdb")
    chosen = study_in(here, study)
    known = [row[0] for row in fetched(there, "SELECT DISTINCT study FROM trials ORDER BY 1")]
    if chosen.name not in known:
        raise DatabaseError(f'"{there}" has no answers of "{chosen.name}".', f"It has: {', '.join(known) or 'none'}.")
    names = list(fits) or [name for name, each in fits_of(chosen).items() if each.engine in QUICK]
    sides = ((here, chosen), (there, changed or chosen))
    frames = [_estimates(path, each, names, source, executor or workers, progress) for path, each in sides]
    about = {"study": chosen.name, "source": source}
    counts = [fetched_frame(path, sql_query("outcomes_by_cell"), about) for path in (here, there)]
    keys = ["source", "variant", "model", "test", "condition"]
    joined = counts[0].join(counts[1], on=keys, how="full", suffix="_there", coalesce=True, nulls_equal=True)
    return SideBySide(_beside(*frames), joined.sort(keys, nulls_last=True))


def _estimates(
    db: Path, study: Study, names: Sequence[str], source: str | None, workers: Workers | Executor,
    progress: Progress | None,
) -> pl.DataFrame:  # fmt: skip
    parts = []
    for name in names:
        result = fit(db, study, name, source=source, workers=workers, progress=progress)
        parts.append(result.table.select(*_KEYS, *_NUMBERS))
    return pl.concat(parts) if parts else pl.DataFrame(schema=dict.fromkeys((*_KEYS, *_NUMBERS), pl.String))


def _beside(here: pl.DataFrame, there: pl.DataFrame) -> pl.DataFrame:
    joined = here.join(there, on=list(_KEYS), how="full", suffix="_there", coalesce=True, nulls_equal=True)
    difference = pl.col("estimate_there") - pl.col("estimate")
    error = (pl.col("std_error") ** 2 + pl.col("std_error_there") ** 2).sqrt()
    rows = joined.with_columns(difference=difference, z=pl.when(error > 0).then(difference / error))
    size = pl.max_horizontal(pl.col("std_error").fill_null(0.0).abs(), pl.col("estimate").abs(), pl.lit(1.0)) * _SAME
    status = (
        pl.when(pl.col("estimate").is_null())
        .then(pl.lit("only there"))
        .when(pl.col("estimate_there").is_null())
        .then(pl.lit("only here"))
        .when(pl.col("difference").abs() <= size)
        .then(pl.lit("same"))
        .when(pl.col("z").abs() < _CHANCE)
        .then(pl.lit("within chance"))
        .otherwise(pl.lit("differs"))
    )
    return rows.with_columns(status=status)


CHOICES = ("formula", "outcome", "drop_flags", "drop_outcomes", "levels", "settings")
"""List what can be changed in a fit; `settings.NAME` and `levels.COLUMN` change one entry."""


def changeable(study: Study) -> pl.DataFrame:
    """Return a row for each choice of each fit that can be changed, as `--change` takes it, with what it is now."""
    rows = []
    for name, definition in fits_of(study).items():
        for kind in CHOICES:
            value = getattr(definition, kind)
            entries = {f"{kind}.{entry}": now for entry, now in value.items()} if isinstance(value, Mapping) else {}
            for choice, now in (entries or {kind: value}).items():
                if now not in (None, (), {}):
                    text = now if isinstance(now, str) else json.dumps(now, ensure_ascii=False, default=str)
                    rows.append({"change": f"{name}.{choice}", "now": text})
    return pl.DataFrame(rows, schema={"change": pl.String, "now": pl.String})


def with_changes(study: Study, changes: Sequence[str]) -> tuple[Study, tuple[str, ...]]:
    """Return the study with each change, "FIT.CHOICE=VALUE", and the names of the fits that change.

    A value is written as in TOML (a list in brackets); a text needs no quotes. Raise UnknownNameError for an unknown
    fit or choice, UsageError for an invalid change.
    """
    fits = dict(fits_of(study))
    names = []
    for change in changes:
        place, equals, value = change.partition("=")
        name, dot, choice = place.strip().partition(".")
        if not equals or not dot:
            raise UsageError(
                f'"{change}" is not a change.', 'As in: --change "lme4.formula=tokens ~ condition + (1 | item)"'
            )
        check_known(f"fit of {study.name}", name, fits)
        fits[name] = _changed(fits[name], choice, _value(value.strip()))
        names.append(name)
    return replace(study, fits=fits), tuple(dict.fromkeys(names))


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _changed(fit: Fit, choice: str, value: Any) -> Fit:
    kind, dot, entry = choice.partition(".")
    if kind not in CHOICES or not hasattr(fit, kind):
        raise UnknownNameError("choice", choice, CHOICES)
    before = getattr(fit, kind)
    if dot:
        value = {**before, entry: value}
    if isinstance(before, tuple):
        value = tuple(value) if isinstance(value, list) else (value,) if value else ()
    if isinstance(before, str) and not isinstance(value, str):
        raise UsageError(f'{fit.name}.{choice} is a text, not "{value}".', "As in: --change lme4.formula=...")
    return replace(fit, **{kind: value})
