"""Check printed numbers of games without raw data: by the study's design, by other printed numbers, by printed
allocation matrices (published_matrices.csv), and by what chance gives. None of it says how a model answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import duckdb
import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.paper.numbers import PRINT, Numbers
from slant.analysis.paper.published import KEY, not_checkable, published_rows
from slant.analysis.paper.study_views import StudyViews, printed_numbers, printed_scopes
from slant.collector.keep.frames import frame_of, registered
from slant.collector.studies.catalogue import Study, load_variants
from slant.collector.system.shipped_files import sql_query

_CELL = ("model", "test", "condition")
_RANKS = ("best", "second", "third", "fourth")
FACTS: dict[str, Any] = {**dict.fromkeys(("kind", *_CELL, "quantity"), pl.String), "value": pl.Float64}
"""Hold what is known besides the print: constants of the design, indices of printed matrices, levels of chance."""
_NUMBER = r"^-?(\d+\.?\d*|\.\d+)$"
Fact = tuple[str, str | None, str | None, str | None, str, float]


def _recomputed(views: StudyViews) -> pl.DataFrame:
    study = views.study
    numbers = checked(study, pl.DataFrame(list(_facts(study)), schema=FACTS, orient="row"))
    grain = {"source": PRINT, "study_version": study.version, "variant": study.variants[0]}
    return numbers.with_columns(missing=pl.lit(None, pl.String), **{name: pl.lit(text) for name, text in grain.items()})


def checked(study: Study, facts: pl.DataFrame) -> pl.DataFrame:
    """Return KEY and `recomputed`: what each printed number should be, by the other ones and by these facts (FACTS)."""
    is_number = pl.col("printed").str.contains(_NUMBER)
    unchecked = not_checkable(study).select(KEY).rename({"table": "place"}).unique().with_columns(is_unchecked=True)
    printed = (
        printed_numbers(study)
        .with_columns(value=pl.when(is_number).then("printed").cast(pl.Float64, strict=False))
        .join(unchecked, on=["place", *KEY[1:]], how="left", nulls_equal=True, maintain_order="left")
    )
    with (
        duckdb.connect() as connection,
        registered(connection, "printed", printed),
        registered(connection, "scopes", printed_scopes(study)),
        registered(connection, "facts", facts),
    ):
        numbers: pl.DataFrame = frame_of(connection.sql(sql_query("print_checks")))
    return numbers.rename({"place": "table"})


def _facts(study: Study) -> Iterator[Fact]:
    printed = printed_numbers(study)
    variants = load_variants(study.path)
    for name, variant in variants.items():
        yield from (("design", None, name, None, *constant) for constant in _constants(variant))
    if printed.filter(place="matrices", quantity="si").height:
        yield from _facts_of_matrices(study)
    if printed.filter(pl.col("quantity").is_in(["si", "bgd"]), place="text", model="random").height:
        for index, (level, *_) in chance(study, study.data.rounds, study.data.games, False).items():
            yield "chance", None, None, None, index, level
        for test in printed.filter(quantity="n_cells_below_random")["test"].unique():
            pooled = variants[test].data
            yield "pooled chance", None, test, None, "si", chance(study, pooled.games * pooled.rounds, 1, True)["si"][0]


def _constants(variant: Study) -> Iterator[tuple[str, float]]:
    """Return constants of the design, for the study as it is played here."""
    data, success = variant.data, variant.data.success
    of_class = {len(job_class.jobs) for job_class in data.classes}
    yield from {"n_rounds": data.n_rounds, "n_jobs": len(data.jobs), "n_classes": len(data.classes)}.items()
    yield from {"n_groups": len(data.groups), "n_games": data.games, "temperature": variant.temperature}.items()
    if len(of_class) == 1:
        yield "n_jobs_of_class", of_class.pop()
    if success.kind == "constant":
        yield "success", success.rates[0]
    elif success.kind == "latin_square":
        yield from ((f"success_{rank}", rate) for rank, rate in zip(_RANKS, success.rates, strict=False))


def _facts_of_matrices(study: Study) -> Iterator[Fact]:
    for cell, values in matrix_indices(study).items():
        model, test, condition = cell
        yield from (("matrices", model, test, condition, index, value) for index, value in values.items())
    of_class = matrices(study).group_by("cell", "game", "class").agg(pl.col("n").sum())["n"]
    yield "matrices", None, None, None, "job_order", float(of_class.n_unique() == 1)


def matrices(study: Study) -> pl.DataFrame:
    """Return the printed matrices: model, test, condition, game, group, class, n, and `cell`, a name for the first
    three.
    """
    rows = published_rows(study, "matrices")
    whole = rows.with_columns(pl.col(name).cast(pl.Int64) for name in ("game", "group", "n"))
    return whole.with_columns(cell=pl.concat_str(_CELL, separator=", "))


def matrix_indices(study: Study) -> dict[tuple[str, ...], dict[str, float]]:
    """Return R's matrix_indices() of them by cell and index, with half-width and ends of the t interval of
    SI.
    """
    long = matrices(study).select("cell", "game", "group", "class", "n")
    rows: pl.DataFrame = answered(Call("matrix_indices", long, {"by": ["cell"], "n_draws": 0}))
    cells: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows.to_dicts():
        values = cells.setdefault(tuple(row["cell"].split(", ")), {})
        values[row["index"]] = row["estimate"]
        if row["index"] == "si":
            values |= {"si_conf_low": row["conf_low"], "si_conf_high": row["conf_high"]}
            values["si_half_width"] = row["conf_high"] - row["estimate"]
    return cells


def chance(study: Study, rounds: int, games: int, is_balanced: bool) -> dict[str, tuple[float, float, float]]:
    """Return R's random_level() for the study's groups and classes by index: level, and ends of 95 % of random
    cells."""
    sizes = tuple(float(len(job_class.jobs)) for job_class in study.data.classes)
    return dict(_levels(rounds, len(study.data.groups), sizes, is_balanced, games))


@cache
def _levels(*kind: Any) -> tuple[tuple[str, tuple[float, float, float]], ...]:
    """Simulate the level of one kind of cell, with one seed: it is always the same."""
    names = ("n_rounds", "n_groups", "class_sizes", "balanced", "n_games")
    rows = answered(Call("random_level", arguments=dict(zip(names, kind, strict=True)))).to_dicts()
    return tuple((row["index"], (row["level"], row["level_low"], row["level_high"])) for row in rows)


NUMBERS = Numbers("print_checks", (), _recomputed, is_of_print=True)
