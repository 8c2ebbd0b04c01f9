"""The printed allocation matrices (30 runs of two models, from a later version of the paper), and what chance gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.paper.family import Row, read_printed
from slant.collector.studies.catalogue import Study

FILE = "hiring_matrices.csv"
TABLE = "matrices"
_CELLS = {"qwen72_cot": ("qwen-2.5-72b", "cot"), "gpt4o_direct": ("gpt-4o", "direct")}
_CLASSES = ("class_1", "class_2", "class_3", "class_4")
SI, HALF_WIDTH, LOW, HIGH = "si", "si_half_width", "si_conf_low", "si_conf_high"


@dataclass(frozen=True)
class Matrices:
    """The printed matrices: their counts (cell, game, group, class, n), and by cell and index what they come to."""

    counts: pl.DataFrame
    found: Mapping[tuple[str, str], Mapping[str, float]]


def printed(study: Study) -> Iterator[Row]:
    rows = read_printed(study, FILE)
    for cell, si, half_width in dict.fromkeys(
        (r["model_prompt"], r["printed_si"], r["printed_half_width"]) for r in rows
    ):
        model, condition = _CELLS[str(cell)]
        for quantity, value in ((SI, si), (HALF_WIDTH, half_width)):
            yield TABLE, model, "main", None, condition, quantity, str(value)


def counts(study: Study) -> pl.DataFrame:
    """By cell, game, group and class, how often; groups and classes have another order in every game."""
    wide = pl.DataFrame(list(read_printed(study, FILE)))
    long = wide.unpivot(_CLASSES, index=["model_prompt", "run", "group_rank"], variable_name="class", value_name="n")
    return long.select(
        pl.col("model_prompt").alias("cell"), pl.col("run").cast(pl.Int64).alias("game"),
        pl.col("group_rank").alias("group"), "class", pl.col("n").cast(pl.Int64),
    )  # fmt: skip


def measured(study: Study) -> Matrices:
    """What R's matrix_indices() makes of them, with the half-width and the ends of the t interval of SI."""
    its = counts(study)
    rows = answered(Call("matrix_indices", its, {"by": ["cell"], "n_boot": 0}))
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows.to_dicts():
        of = found.setdefault(_CELLS[row["cell"]], {})
        of[row["index"]] = row["estimate"]
        if row["index"] == SI:
            of |= {LOW: row["conf_low"], HIGH: row["conf_high"], HALF_WIDTH: row["conf_high"] - row["estimate"]}
    return Matrices(its, found)


def chance(study: Study, rounds: int, games: int, is_balanced: bool) -> dict[str, tuple[float, float, float]]:
    """R's random_level() for the study's groups and classes, by index: level, and the ends of 95 % of random cells."""
    sizes = tuple(float(len(one.jobs)) for one in study.data.classes)
    return dict(_levels(rounds, len(study.data.groups), sizes, is_balanced, games))


@cache
def _levels(*kind: Any) -> tuple[tuple[str, tuple[float, float, float]], ...]:
    """Simulated with one seed, the level of one kind of cell is always the same."""
    names = ("n_rounds", "n_groups", "class_sizes", "balanced", "n_games")
    rows = answered(Call("random_level", arguments=dict(zip(names, kind, strict=True)))).to_dicts()
    return tuple((row["index"], (row["level"], row["level_low"], row["level_high"])) for row in rows)
