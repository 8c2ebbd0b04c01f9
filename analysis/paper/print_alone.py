"""What can be checked of printed numbers of games without raw data: by the study's design, by other printed numbers, by
printed allocation matrices (published_matrices.csv), and by what chance gives. None of it says how a model answers.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from statistics import fmean
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.paper.games import RANKS
from slant.analysis.paper.numbers import PRINT, SCHEMA, Numbers
from slant.analysis.paper.published import KEY, TEXT, not_checkable, published_numbers, published_rows, scopes
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

_DESIGN, _PEOPLE, _MATRICES = "design", "people", "matrices"
_BOUNDS = {"si": 2.0, "bgd": math.sqrt(math.log(2)), "gasi": math.sqrt(math.log(2))}
"""An index lies between 0 and this: SI of four classes, and a Jensen-Shannon distance in natural logarithms."""
_EQUAL = 0.0005
"""Two indices that are printed with three digits are the same where they differ by less."""
_CELL = ("model", "test", "condition")
Row = dict[str, Any]
Found = Iterator[tuple[Row, float]]
"""Printed numbers, each with what it should be."""


def _recomputed(results: Results) -> pl.DataFrame:
    study = results.study
    printed = Print(study)
    numbers = [
        *_constants(printed, results.variants),
        *_people(printed),
        *_averages(printed),
        *_below_random(printed),
        *_of_matrices(printed),
        *_of_chance(printed, results.variants),
    ]
    grain = (PRINT, study.version, study.variants[0])
    known = {_key(row): number for row, number in numbers}
    shown = [key for key in not_checkable(study).select(KEY).iter_rows() if key not in known]
    rows = [(*grain, *key[1:], number, None, key[0]) for key, number in known.items()]
    rows += [(*grain, *key[1:], None, None, key[0]) for key in shown]
    return pl.DataFrame(rows, schema={**SCHEMA, "table": pl.String}, orient="row")


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


class Print:
    """The printed numbers of a study, to be looked up."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.rows = published_numbers(study).to_dicts()
        self._by_cell: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for row in self.rows:
            self._by_cell[(*(row[name] for name in _CELL), row["quantity"])].append(row)

    def of(self, *quantities: str, place: str | None = None) -> list[Row]:
        return [row for row in self.rows if row["quantity"] in quantities and place in (None, row["table"])]

    def value(self, model: str | None, test: str | None, condition: str | None, quantity: str) -> float | None:
        """As printed of this cell: where several places have it, with the most digits."""
        rows = self._by_cell.get((model, test, condition, quantity), [])
        texts = [text for row in rows if _is_number(text := row["printed"])]
        return float(max(texts, key=len)) if texts else None

    def of_scope(self, row: Row, quantity: str) -> list[float]:
        """The printed numbers of the cells that a name for several models means; none where one is not printed."""
        cells = scopes(self.study).get(row["model"], [])
        values = [self.value(model, row["test"], condition or row["condition"], quantity) for model, condition in cells]
        return [] if None in values else [value for value in values if value is not None]


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()


def _constants(printed: Print, variants: Mapping[str, Study]) -> Found:
    """Constants of the design, beside the study as it is played here."""
    for row in printed.rows:
        value = _constant(row["quantity"], variants[row["test"]]) if row["test"] in variants else None
        if row["table"] == _DESIGN and value is not None:
            yield row, value


def _constant(quantity: str, variant: Study) -> float | None:
    data = variant.data
    of_class = {len(job_class.jobs) for job_class in data.classes}
    counted = {
        "n_rounds": data.n_rounds,
        "n_jobs": len(data.jobs),
        "n_classes": len(data.classes),
        "n_groups": len(data.groups),
        "n_games": data.games,
        "temperature": variant.temperature,
        "n_jobs_of_class": of_class.pop() if len(of_class) == 1 else None,
    }
    rates = data.success.rates
    if data.success.kind == "constant":
        counted["success"] = rates[0]
    elif data.success.kind == "latin_square":
        counted |= {f"success_{rank}": rate for rank, rate in zip(RANKS, rates, strict=False)}
    return counted.get(quantity)


def _people(printed: Print) -> Found:
    """The people of the three settings add up to those used."""
    parts = printed.of("n_classic", "n_success_0_1", "n_diversity_steer", place=_PEOPLE)
    for row in printed.of("n_used", place=_PEOPLE):
        yield row, float(sum(int(part["printed"]) for part in parts))


def _averages(printed: Print) -> Found:
    """Means over printed cells, shares that add up to 1, indices within their bounds; and whether a ratio can be: the
    lower model would be under what is printed of random choices."""
    for row in printed.of("sum_of_shares"):
        shares = [printed.value(row["model"], row["test"], row["condition"], f"share_{rank}") for rank in RANKS]
        yield row, sum(share for share in shares if share is not None)
    for row in printed.of("si", "gasi", *(f"percent_{rank}" for rank in RANKS), place=TEXT):
        is_percent = row["quantity"].startswith("percent_")
        if values := printed.of_scope(row, row["quantity"].replace("percent_", "share_")):
            yield row, 100 * fmean(values) if is_percent else fmean(values)
    for row in printed.of("n_cells_above_people"):
        people = printed.of("si", place=TEXT)
        level = next(float(each["printed"]) for each in people if each["model"] == "humans")
        yield row, float(sum(value > level for value in printed.of_scope(row, "si")))
    for row in printed.of("n_out_of_bounds"):
        yield row, float(sum(map(_is_out, printed.rows)))
    for row in printed.of("si_of_second"):
        (first, _), *_ = scopes(printed.study)[row["model"]]
        (ratio,) = (each["printed"] for each in printed.of("si_ratio") if each["model"] == row["model"])
        highest = next(
            float(each["printed"])
            for each in printed.of("si", place=TEXT)
            if all(each[name] == {**row, "model": first}[name] for name in _CELL)
        )
        yield row, highest / float(ratio.removeprefix("> "))


def _is_out(row: Row) -> bool:
    bound = _BOUNDS.get(row["quantity"].partition("_")[0])
    is_earlier_or_later = row["table"].startswith("v")
    return (
        not is_earlier_or_later
        and bound is not None
        and _is_number(row["printed"])
        and not (0 <= float(row["printed"]) <= bound)
    )


def _below_random(printed: Print) -> Found:
    """The cells below the random threshold, in the table of another version."""
    for row in printed.of("is_below_random"):
        cell, test, condition = (row[name] for name in _CELL)
        later = [each for each in printed.of("si") if each["table"].startswith("v") and each["test"] == test]
        values = {(each["model"], each["condition"]): float(each["printed"]) for each in later}
        if (cell, condition) in values and ("random", None) in values:
            yield row, float(values[cell, condition] < values["random", None])


def counts(study: Study) -> pl.DataFrame:
    """The printed matrices: model, test, condition, game, group, class, n, and `cell`, a name for the first three."""
    rows = published_rows(study, "matrices")
    whole = rows.with_columns(pl.col(name).cast(pl.Int64) for name in ("game", "group", "n"))
    return whole.with_columns(cell=pl.concat_str(_CELL, separator=", "))


def measured(study: Study) -> dict[tuple[str, ...], dict[str, float]]:
    """What R's matrix_indices() makes of them by cell and index, with half-width and ends of the t interval of SI."""
    long = counts(study).select("cell", "game", "group", "class", "n")
    rows: pl.DataFrame = answered(Call("matrix_indices", long, {"by": ["cell"], "n_draws": 0}))
    cells: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows.to_dicts():
        values = cells.setdefault(tuple(row["cell"].split(", ")), {})
        values[row["index"]] = row["estimate"]
        if row["index"] == "si":
            ends = {"conf_low": row["conf_low"], "conf_high": row["conf_high"]}
            ends["half_width"] = row["conf_high"] - row["estimate"]
            values |= {f"si_{name}": value for name, value in ends.items()}
    return cells


def _of_matrices(printed: Print) -> Found:
    if not printed.of("si", place=_MATRICES):
        return
    cells = measured(printed.study)
    for row in printed.of("si", "si_half_width", "si_conf_low", "si_conf_high"):
        cell = tuple(row[name] for name in _CELL)
        if cell in cells and row["table"] in (_MATRICES, TEXT):
            yield row, cells[cell][row["quantity"]]
    of_class = counts(printed.study).group_by("cell", "game", "class").agg(pl.col("n").sum())["n"]
    yield from ((row, float(of_class.n_unique() == 1)) for row in printed.of("job_order"))
    apart = [abs(values["si"] - values["mutual_information_bits"]) for values in cells.values()]
    yield from ((row, float(max(apart) < _EQUAL)) for row in printed.of("si_is_mutual_information"))


def _of_chance(printed: Print, variants: Mapping[str, Study]) -> Found:
    """Random choices: what the text prints of all games of a cell, and the level that a table of pooled rounds should
    have been set beside."""
    study = printed.study
    of_random = {row["quantity"]: row for row in printed.of("si", "bgd", place=TEXT) if row["model"] == "random"}
    if not of_random:
        return
    level = {name: values[0] for name, values in chance(study, study.data.rounds, study.data.games, False).items()}
    for index, row in of_random.items():
        yield row, level[index]
    for row in printed.of("divergence"):
        bgd = float(of_random["bgd"]["printed"])
        yield row, float(abs(bgd - level["bgd_divergence_bits"]) < abs(bgd - level["bgd"]))
    for row in printed.of("n_cells_below_random"):
        pooled = variants[row["test"]].data
        threshold = chance(study, pooled.games * pooled.rounds, 1, True)["si"][0]
        yield row, float(sum(float(cell["printed"]) < threshold for cell in printed.of("si", place=row["table"])))


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


NUMBERS = Numbers("print_alone", (), _recomputed, is_of_print=True)
