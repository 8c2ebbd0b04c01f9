"""What the paper prints of people: the lines beside which models stand in figures. Read from its CSV, never typed."""

from __future__ import annotations

import polars as pl

from slant.analysis.paper.published import is_of_print, published_numbers
from slant.collector.studies.catalogue import Study

_PEOPLE = "humans"
_INDICES = ("si", "bgd", "gasi")
_ENDS = {"human": "", "human_low": "_conf_low", "human_high": "_conf_high"}


def read_human_levels(study: Study) -> pl.DataFrame:
    """The columns game_variant, index, human, human_low, human_high: of the variants that people played, too. Without
    rows where the study prints none. Numbers of a later version of the paper are left out.
    """
    numbers = dict.fromkeys(_ENDS, pl.Float64)
    if study.published is None:
        return pl.DataFrame(schema={"game_variant": pl.String, "index": pl.String, **numbers})
    people = published_numbers(study).filter(~is_of_print(study), model=_PEOPLE)
    printed = {(row["test"], row["quantity"]): float(row["printed"]) for row in people.to_dicts()}
    rows = [
        (test, index, *(printed.get((test, index + end)) for end in _ENDS.values()))
        for test, index in printed
        if index in _INDICES
    ]
    return pl.DataFrame(rows, schema={"game_variant": pl.String, "index": pl.String, **numbers}, orient="row")
