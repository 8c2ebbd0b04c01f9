"""Tables 4 and 5 (whom a model names best after a game in which groups succeed unequally), and the text about them."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.paper.family import GRAIN, VALUE, Needs, Row, long, no_numbers
from slant.analysis.paper.hiring import names, published
from slant.analysis.paper.hiring.cells import CELL, absent_from, scope, with_shortfalls
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

TABLES = {"unequal_40": "Table 4", "unequal_80": "Table 5"}
RANKS = "allocation_question_ranks"


def printed(study: Study) -> Iterator[Row]:
    return (row for row in published.printed(study) if row[0] in TABLES.values())


def needs(_: Results) -> Needs:
    return [RANKS, "allocation_game_ends"], []


def recomputed(results: Results) -> pl.DataFrame:
    """Shares and half the width of their intervals over games (the paper does not say how it made its own)."""
    found = _named(results).rename({"shortfall": "missing"})
    parts = [no_numbers()]
    for quantity, rank in found.select("quantity", "rank").unique(maintain_order=True).iter_rows():
        rows = found.filter(rank=rank).rename({"share": quantity, "half_width": f"{quantity}_half_width"}, strict=False)
        parts.append(long(rows.drop("quantity"), [quantity, f"{quantity}_half_width"]))
    return pl.concat(parts)


def printed_text(study: Study) -> Iterator[Row]:
    return (row for row in published.printed(study) if row[0] == published.TEXT and row[-2].startswith("percent_"))


def text(results: Results) -> pl.DataFrame:
    """The same of both models and both formats of answers together."""
    found, numbers = _named(results), list(printed_text(results.study))
    rows = []
    for grain, its in found.group_by(GRAIN, maintain_order=True):
        for _, model, test, _, condition, quantity, _ in numbers:
            wanted = [(one, str(test), answer) for one, answer in scope(results.study, model)]
            asked = pl.DataFrame(wanted, schema=["model", "test", "condition"], orient="row")
            here = its.join(asked, on=["model", "test", "condition"], how="semi")
            ranked = here.filter(quantity=quantity.replace("percent_", "share_"))
            if ranked.height:
                number = ranked.select(100 * pl.col("n").sum() / pl.col("n_questions").sum()).item()
                key = (published.TEXT, model, test, None, condition, quantity)
                rows.append((*grain, *key, number, absent_from(wanted, ranked)))
    return pl.DataFrame(rows, schema=no_numbers().schema, orient="row").select(VALUE)


def _named(results: Results) -> pl.DataFrame:
    """CELL, table, rank, quantity ("share_best"), n, n_questions, share, half_width, shortfall."""
    asked = results.table(RANKS).filter(pl.col("rank") <= len(names.RANKS))
    found = with_shortfalls(asked, results).filter(pl.col("test").is_in(list(TABLES)))
    quantity = pl.col("rank").replace_strict(dict(enumerate(names.RANKS, start=1)), return_dtype=pl.String)
    return found.select(
        *CELL, "rank", "n", "n_questions", "share", "shortfall",
        table=pl.col("test").replace_strict(TABLES, return_dtype=pl.String),
        quantity=pl.format("share_{}", quantity), half_width=(pl.col("conf_high") - pl.col("conf_low")) / 2,
    )  # fmt: skip
