"""What the paper prints of people: the lines beside which models stand in figures. Read from its CSV, never typed."""

from __future__ import annotations

import polars as pl

from slant.analysis.paper.hiring.names import VARIANTS
from slant.collector.studies.catalogue import Study

_PEOPLE = "Humans"
_INDICES = {"SI": "si", "BGD": "bgd", "GASI": "gasi"}
_COLUMNS = {"version", "experiment", "model", "metric", "value", "ci_low", "ci_high"}


def human_levels(study: Study) -> pl.DataFrame:
    """The columns game_variant, index, human, human_low, human_high: of the variants that people played, too. Without
    rows where the study prints none. Numbers of a later version of the paper are left out.
    """
    found = [_people(frame) for frame in _printed(study)]
    numbers = dict.fromkeys(("human", "human_low", "human_high"), pl.Float64)
    return pl.concat([pl.DataFrame(schema={"game_variant": pl.String, "index": pl.String, **numbers}), *found])


def _printed(study: Study) -> list[pl.DataFrame]:
    if study.published is None:
        return []
    frames = [pl.read_csv(file, infer_schema=False) for file in sorted(study.published.glob("*.csv"))]
    return [frame for frame in frames if set(frame.columns) >= _COLUMNS]


def _people(frame: pl.DataFrame) -> pl.DataFrame:
    its = frame.filter(
        pl.col("model") == _PEOPLE, pl.col("metric").is_in(list(_INDICES)), pl.col("version").str.starts_with("seed")
    )
    return its.select(
        game_variant=pl.col("experiment").replace_strict(VARIANTS, default=None, return_dtype=pl.String),
        index=pl.col("metric").replace(_INDICES),
        human=pl.col("value").cast(pl.Float64, strict=False),
        human_low=pl.col("ci_low").cast(pl.Float64, strict=False),
        human_high=pl.col("ci_high").cast(pl.Float64, strict=False),
    )
