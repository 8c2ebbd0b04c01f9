"""Compute with R what a study's results need, step by step: when it is sealed, and again when it is replayed.

A step is data (its kind, its arguments), so that an archive can name it; slant's own code says what a kind does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from duckdb import ColumnExpression, ConstantExpression

from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fit_plan import plan_fits
from slant.analysis.fitting.fits import FitResult, fit
from slant.analysis.pages.report_comparison import is_quick
from slant.analysis.questions.calibration import calibrate
from slant.analysis.questions.games.differences import game_differences
from slant.analysis.questions.games.indices import game_indices
from slant.analysis.questions.occasions import retest
from slant.analysis.questions.permutation.permutations import permute
from slant.analysis.questions.sensitivity import specifications
from slant.collector.errors import SlantError
from slant.collector.keep.database import fetched, reading
from slant.collector.keep.frames import frame_of
from slant.collector.stable_ids import stable_id
from slant.collector.studies.catalogue import Fit, Study, fits_of
from slant.collector.system.shipped_files import sql_query

Frames = dict[str, pl.DataFrame]
REASONING_TEXT = "reasoning_text"


@dataclass(frozen=True)
class Step:
    """Hold one computation. `name` is unique, and that of its files. `reads_texts`: it needs the texts of reasoning.
    `packages`: R's, which make it. `command`: what a person types for the same.
    `ids`: of the fits in the database, if they are kept."""

    name: str
    kind: str
    arguments: Mapping[str, Any]
    command: str
    packages: tuple[str, ...] = ()
    reads_texts: bool = False
    ids: frozenset[str] = field(default=frozenset(), compare=False)

    def frames(self, db: Path, study: Study, workers: Workers, progress: Progress | None) -> Frames:
        """Return its tables by name; made, or taken from the database. RError if R can't."""
        kind = _KINDS[self.kind]
        result = kind.function(db, study, workers=workers, progress=progress, **self.arguments)
        frames = {name: getattr(result, name) for name in kind.frames}
        of_engines = result.tables.values() if isinstance(result, FitResult) else ()
        return frames | {name: frame for tables in of_engines for name, frame in tables.items() if frame.height}

    def as_json(self) -> dict[str, Any]:
        names = ("name", "kind", "arguments", "command", "packages", "reads_texts")
        return {name: getattr(self, name) for name in names}


def read_step(row: Any) -> Step:
    """Return a step as an archive names it; SlantError if it is not one."""
    known = {"name": str, "kind": str, "arguments": dict, "command": str, "packages": list, "reads_texts": bool}
    if (
        not isinstance(row, dict)
        or row.keys() != known.keys()
        or not all(isinstance(row[name], kind) for name, kind in known.items())
        or row["kind"] not in _KINDS
        or not row["name"].replace("-", "_").replace(".", "_").isidentifier()
        or row["arguments"].keys() - set(_KINDS[row["kind"]].arguments)
    ):
        raise SlantError(f"Can't replay: a step of the archive is none that slant knows ({str(row)[:80]}).")
    return Step(**{**row, "packages": tuple(map(str, row["packages"]))})


def steps_of(db: Path, study: Study, kept: Collection[str]) -> Iterator[Step]:
    """Yield the study's quick fits, and other results that are kept (`kept`: call ids) with current rows,
    settings and code.
    """
    for definition in fits_of(study).values():
        yield from _fit_steps(db, study, definition, frozenset(kept))
    with reading(db) as connection:
        tables = {
            name: frame_of(connection.table(name).filter(ColumnExpression("study") == ConstantExpression(study.name)))
            for name in ("permutations", "calibrations", "sensitivity", "game_indices", "game_differences", "retests")
        }
        levels = frame_of(connection.table("random_levels"))
        adjusted = frame_of(connection.table("game_adjusted"))
    yield from _seeded_steps(study, "permutation", tables["permutations"])
    yield from _seeded_steps(study, "calibration", tables["calibrations"])
    yield from _specification_steps(study, tables["sensitivity"])
    levels = levels.select(level_call_id="call_id", n_cells="n_cells").unique()
    yield from _index_steps(study, tables["game_indices"].join(levels, on="level_call_id"))
    rows = tables["retests"]
    for number, source in enumerate(rows["source"].unique().sort(), 1):
        yield Step(f"retest-{number}", "retest", {"source": source}, f"analyze retest --study {study.name}")
    adjusted = adjusted.select("index", "adjust", call_id="difference_id")
    yield from _difference_steps(study, tables["game_differences"].join(adjusted, on=["call_id", "index"]))


def _fit_steps(db: Path, study: Study, definition: Fit, kept: frozenset[str]) -> Iterator[Step]:
    """Yield fits with flagged rows removed; those with other settings or measures, or with all rows, only if kept."""
    engine = ENGINES[definition.engine]
    for settings, measure in [({}, None), *_other_ways(db, study, definition)]:
        done: frozenset[str] = frozenset()
        for removed in (True, False):
            planned = plan_fits(db, study, definition, measure=measure, refusals_removed=removed, settings=settings)
            ids = frozenset(work.call.id for work in planned)
            is_usual = removed and not settings and measure is None and is_quick(definition) and bool(planned)
            if not is_usual and not (ids - done) & kept:
                continue
            done |= ids
            arguments = {"fit": definition.name, "refusals_removed": removed, "measure": measure, "settings": settings}
            more = "" if removed else "-refusals_kept"
            more += f"-{measure}" if measure else ""
            more += f"-{stable_id(sorted(settings.items()))[:6]}" if settings else ""
            words = f" --refusals kept{'' if measure is None else f' --measure {measure}'}" if not removed else ""
            yield Step(
                f"fit-{definition.name}{more}",
                "fit",
                arguments,
                f"analyze --fit {definition.name} --study {study.name}{words}",
                ("lme4", "lmerTest") if definition.engine == "lme4" else engine.packages,
                any(REASONING_TEXT in work.cell.rows.columns for work in planned),
                ids,
            )


def _other_ways(db: Path, study: Study, definition: Fit) -> list[tuple[dict[str, Any], str | None]]:
    """Return other settings and measures with which a fit was made."""
    named = {"study": study.name, "fit": definition.name}
    kept = [json.loads(text) for (text,) in fetched(db, sql_query("kept_fits_of"), named)]
    ways = [(about.get("settings") or {}, about.get("measure")) for about in kept]
    return list({json.dumps(way, sort_keys=True): way for way in ways if any(way)}.values())


_PERMUTATION_PACKAGES = {"brms": ("brms", "rstan", "posterior"), "lme4": ("lme4",), "difference": ()}
_SEEDED = {
    "permutation": ("permute", {"permutations": "n_permutations", "engine": "engine"}, "engine"),
    "calibration": ("calibrate", {"fit": "fit", "data_sets": "n_data_sets"}, "fit"),
}
"""Describe what depends on a seed: its command, the columns of its arguments, and the one that is typed first."""


def _seeded_steps(study: Study, kind: str, rows: pl.DataFrame) -> Iterator[Step]:
    # what is made for each model and test is made for all of them by one command
    verb, own_columns, first = _SEEDED[kind]
    columns = own_columns | {"seed": "seed", "source": "source"}
    rows = rows.sort(first, "seed", "source", f"{kind}_id")
    rows = rows.unique([*columns.values(), "settings"], keep="first", maintain_order=True)
    for number, row in enumerate(rows.to_dicts(), 1):
        arguments = {name: row[column] for name, column in columns.items()}
        arguments["settings"] = json.loads(row["settings"] or "{}")
        typed = (first, *(name for name in own_columns if name != first), "seed")
        options = " ".join(f"--{name.replace('_', '-')} {arguments[name]}" for name in typed)
        command = f"analyze {verb} --study {study.name} {options}"
        yield Step(f"{kind}-{number}", kind, arguments, command, _PERMUTATION_PACKAGES[row["engine"]])


def _specification_steps(study: Study, rows: pl.DataFrame) -> Iterator[Step]:
    specs = [name for name in study.sensitivity if name in rows["spec"].to_list()]
    if specs:
        engines = rows["engine"].unique().sort().to_list()
        packages = tuple(dict.fromkeys(name for engine in engines for name in ENGINES[engine].packages))
        command = f"analyze sensitivity --study {study.name}"
        yield Step("specifications", "specifications", {"specs": specs}, command, packages)


def _index_steps(study: Study, rows: pl.DataFrame) -> Iterator[Step]:
    keys = ("source", "n_boot", "n_cells", "seed")
    for number, (values, part) in enumerate(rows.sort(*keys, "variant").group_by(keys, maintain_order=True), 1):
        variants = part["variant"].unique(maintain_order=True).to_list()
        arguments = {"variants": variants} | dict(zip(("source", "n_boot", "n_random", "seed"), values, strict=True))
        yield Step(f"indices-{number}", "indices", arguments, f"analyze indices --study {study.name}")


def _difference_steps(study: Study, rows: pl.DataFrame) -> Iterator[Step]:
    keys = ("source", "between", "reference", "n_draws", "seed", "adjust")
    rows = rows.sort(*keys, "condition", "index")
    for number, (values, part) in enumerate(rows.group_by(keys, maintain_order=True), 1):
        arguments: dict[str, Any] = dict(zip(keys, values, strict=True))
        attributes = ("variant", "model", "answer_format")
        rest = [name for name in attributes if name != arguments["between"]]
        by = [name for name in rest if part[name].null_count() < part.height]
        arguments["by"] = [] if by == rest else by
        arguments["conditions"] = part["condition"].unique(maintain_order=True).to_list()
        arguments["indices"] = part["index"].unique(maintain_order=True).to_list()
        command = f"analyze differences --study {study.name} --between {arguments['between']}"
        yield Step(f"differences-{number}", "differences", arguments, command)


@dataclass(frozen=True)
class _Kind:
    """Say what a step of one kind calls, which `frames` of the result are kept, and which `arguments` an archive may
    give, and no others: where R runs, for example, is decided where it is replayed."""

    function: Callable[..., Any]
    frames: tuple[str, ...]
    arguments: tuple[str, ...]


_KINDS: Mapping[str, _Kind] = {
    "fit": _Kind(fit, ("table", "diagnostics", "variances"), ("fit", "refusals_removed", "measure", "settings")),
    "permutation": _Kind(
        permute, ("tests", "values", "refits"), ("permutations", "engine", "seed", "source", "settings")
    ),
    "calibration": _Kind(calibrate, ("summary", "ranks", "fits"), ("fit", "data_sets", "seed", "source", "settings")),
    "specifications": _Kind(specifications, ("table",), ("specs",)),
    "indices": _Kind(game_indices, ("table",), ("variants", "source", "n_boot", "n_random", "seed")),
    "differences": _Kind(
        game_differences,
        ("table",),
        ("source", "between", "reference", "n_draws", "seed", "adjust", "by", "conditions", "indices"),
    ),
    "retest": _Kind(retest, ("table",), ("source",)),
}
