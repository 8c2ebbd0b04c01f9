"""Refusals that a paper shows ("is a refusal: Laurie, 1600 tokens"): 1 where the trials hold it, in the condition that
is printed with it, in the words that stand in the column `source`; 0 elsewhere.
"""

from __future__ import annotations

import re

import polars as pl

from slant.analysis.paper.numbers import Numbers, absent_in_words, frame_of_numbers
from slant.analysis.paper.published import published_numbers
from slant.analysis.paper.results import GRAIN, Results

_SHOWN = re.compile(r"is a refusal: (.+), (\d+) tokens")


def _recomputed(results: Results) -> pl.DataFrame:
    rows = []
    tests = [test.test for test in results.study.tests]
    counted = results.table("refusal_counts")
    for row in published_numbers(results.study).to_dicts():
        shown = _SHOWN.fullmatch(row["quantity"])
        if shown is None:
            continue
        model, condition = row["model"], row["condition"]
        refused = results.refused.filter(
            pl.col("tokens") == int(shown[2]),
            _typed(pl.col("answer")) == _typed(pl.lit(row["source"])),
            model=model,
            condition=condition,
            item=shown[1],
        )
        for grain, here in counted.filter(model=model).group_by(GRAIN, maintain_order=True):
            is_here = not refused.join(here.select(GRAIN).unique(), on=GRAIN, how="semi").is_empty()
            partial = results.partial_cells.join(here, on=[*GRAIN, "model", "test"], how="semi")["shortfall"]
            absent = absent_in_words([(model, test) for test in tests if test not in here["test"]], len(tests))
            missing = "; ".join([*([absent] if absent else []), *partial]) or None
            key = (model, None, None, condition, row["quantity"])
            rows.append((*grain, *key, float(is_here), None if is_here else missing))
    return frame_of_numbers(rows)


def _typed(text: pl.Expr) -> pl.Expr:
    """Papers are typeset with curly apostrophes; the data have both kinds."""
    return text.str.replace_all("\u2019", "'", literal=True)


NUMBERS = Numbers("shown_refusals", ("refusal",), _recomputed, ("refusal_counts",))
