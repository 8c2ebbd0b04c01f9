"""What the text says of several cells at once (means, ranges, ratios, differences), and of single facts of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from slant.analysis.paper.family import GRAIN, VALUE, Needs, Row, no_numbers
from slant.analysis.paper.hiring import names, published
from slant.analysis.paper.hiring.cells import INDICES, NEEDS, absent_from, cells, named, scope
from slant.analysis.paper.hiring.tables import printed_text as _of_one_cell
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

_TEMPERATURE = (
    "No comparison is kept here of the games as they are now. It is made by: "
    "analyze differences --study {} --reference {} --condition {}"
)
_NO_CHANCE = "What chance gives to games of this kind is not simulated yet. It is by: analyze indices --study {}"
_Found = tuple[float | None, str | None] | None
"""The number and what it lacks; None where nothing of it is here."""


def printed(study: Study) -> Iterator[Row]:
    others = set(_of_one_cell(study))
    for row in published.printed(study):
        if row[0] == published.TEXT and row not in others and not row[-2].startswith("percent_"):
            yield row


def needs(_: Results) -> Needs:
    return [*NEEDS, "game_comparisons", "elicited_rates"], []


def recomputed(results: Results) -> pl.DataFrame:
    """Of each printed number for which at least one game is here."""
    every, its = cells(results), list(printed(results.study))
    rows = []
    for grain in _grains(results).iter_rows(named=True):
        mine = every.filter(pl.all_horizontal(pl.col(name) == value for name, value in grain.items()))
        for row in its:
            found = _number(row, mine, grain, results)
            if found is not None:
                rows.append((*grain.values(), *row[:-1], *found))
    return pl.DataFrame(rows, schema=no_numbers().schema, orient="row").select(VALUE)


def _grains(results: Results) -> pl.DataFrame:
    ended = results.table("allocation_game_ends").select("source", "study_version")
    asked = results.table("elicited_rates").select("source", "study_version")
    both = pl.concat([ended, asked]).unique(maintain_order=True)
    return both.with_columns(variant=pl.lit(results.study.variants[0])).select(GRAIN)


def _number(row: Row, mine: pl.DataFrame, grain: dict[str, str], results: Results) -> _Found:
    _, model, test, _, condition, quantity, _ = row
    study, variant = results.study, str(test)
    if quantity in INDICES:
        return _over(mine, [variant], scope(study, model), pl.col(quantity).mean())
    if quantity in names.RANGES["GASI range"]:
        extreme = pl.col("gasi").min() if quantity == "gasi_min" else pl.col("gasi").max()
        return _over(mine, [names.RESETTLEMENT, *names.FEATURES], scope(study, model), extreme)
    if quantity == "si_reduction":
        return _over(mine, [names.RESETTLEMENT, variant], scope(study, model), _reduction(variant))
    if quantity == "si_ratio":
        pair = [(one, str(condition)) for one in names.SEVERAL[str(model)]]
        of = [pl.col("si").filter(model=one).first() for one, _ in pair]
        return _over(mine, [variant], pair, of[0] / of[1])
    if quantity == "is_below_random":
        return _below_random(mine.filter(model=model, test=test, condition=condition), study)
    if quantity == "p_value":
        both = [(str(model), one, str(condition)) for one in (variant, grain["variant"])]
        return _p_value(row, mine, both, grain, results)
    special: dict[str, Callable[[Row, dict[str, str], Results], _Found]] = {
        "outcome": _refused,
        **dict.fromkeys(names.RANGES["elicited probability range"], _elicited),
    }  # fmt: skip
    return special[quantity](row, grain, results) if quantity in special else None


def _over(mine: pl.DataFrame, tests: list[str], models: list[tuple[str, str]], quantity: pl.Expr) -> _Found:
    wanted = [(model, test, answer) for test in tests for model, answer in models]
    here = _of(mine, wanted)
    if here.is_empty():
        return None
    number, missing = here.select(quantity).item(), absent_from(wanted, here)
    return number, f"Not here: {missing}." if missing and number is None else missing


def _of(mine: pl.DataFrame, wanted: list[tuple[str, str, str]]) -> pl.DataFrame:
    cell = ["model", "test", "condition"]
    return mine.join(pl.DataFrame(wanted, schema=cell, orient="row"), on=cell, how="semi")


def _reduction(variant: str) -> pl.Expr:
    """The mean over models and formats of answers; each cell has one row of each of the two variants."""
    of = [pl.col("si").filter(test=test).mean() for test in (names.RESETTLEMENT, variant)]
    return of[0] - of[1]


def _below_random(cell: pl.DataFrame, study: Study) -> _Found:
    if cell.is_empty():
        return None
    row = cell.to_dicts()[0]
    if row["si"] is None or row["random_si"] is None:
        return None, _NO_CHANCE.format(study.name)
    return float(row["si"] < row["random_si"]), row["shortfall"]


def _p_value(
    row: Row, mine: pl.DataFrame, pair: list[tuple[str, str, str]], grain: dict[str, str], results: Results
) -> _Found:
    """Of the difference in SI to the games as they usually are; by a permutation test, whatever the paper's was."""
    _, model, test, _, condition, _, _ = row
    here = _of(mine, pair)
    if here.height < len(pair):
        return None
    kept = _mine(results.table("game_comparisons"), grain).filter(
        between="variant", model=model, condition=test, answer_format=condition, reference=grain["variant"], index="si"
    )
    current = kept.filter("is_current")
    if current.is_empty():
        return None, _TEMPERATURE.format(results.study.name, grain["variant"], test)
    return current["p_value"][0], absent_from(pair, here)


def _refused(row: Row, grain: dict[str, str], results: Results) -> _Found:
    """1 where every game of this model ended with a refusal."""
    its = named(_mine(results.table("allocation_game_ends"), grain), results).filter(model=row[1], test=row[2])
    if its.is_empty():
        return None
    return float((its["n_refused"] == its["n_games"]).all()), None


def _elicited(row: Row, grain: dict[str, str], results: Results) -> _Found:
    """Of the means over conversations of each job."""
    rates = _mine(results.table("elicited_rates"), grain).filter(model=row[1])["mean_rate"]
    if rates.is_empty():
        return None
    end = rates.min() if row[-2] == names.RANGES["elicited probability range"][0] else rates.max()
    return 100 * float(str(end)), None


def _mine(rows: pl.DataFrame, grain: dict[str, str]) -> pl.DataFrame:
    return rows.filter(source=grain["source"], study_version=grain["study_version"])
