"""The printed numbers, from the study's file published_hiring.csv: what each row of it is called here.

Its rows of the version "v4" are of a later version of the paper, with other baselines and conditions: they are in
tables of that name ("v4 Table 2"), which nothing is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator

from slant.analysis.paper.family import Row, read_printed
from slant.analysis.paper.hiring import names
from slant.collector.studies.catalogue import Study

FILE = "published_hiring.csv"
TEXT, DESIGN, PEOPLE = "text", "design", "people"
_LATER = "v4"
_WITH_DECIMALS = ("si", "bgd", "gasi", "share")
_DECIMALS = {"Table 2": 3, "v4 Table 2": 3}
"""How many decimals the paper prints, elsewhere two: the file has 0.3 for the 0.30 of Table 1."""
_Said = dict[str, str | None]


def printed(study: Study) -> Iterator[Row]:
    """Every number of the paper itself, in the order of the file."""
    yield from _rows(study, is_later=False)


def later(study: Study) -> Iterator[Row]:
    """Those of its later version."""
    yield from _rows(study, is_later=True)


def shown(study: Study) -> Iterator[Row]:
    """What no games can be compared with: the people of an earlier study, the later version."""
    yield from (row for row in printed(study) if row[0] == PEOPLE)
    yield from later(study)


def _rows(study: Study, is_later: bool) -> Iterator[Row]:
    models = {model.label: model.model for model in study.models} | names.MODELS
    for row in read_printed(study, FILE):
        is_its = str(row["version"]).startswith(_LATER) == is_later
        if is_its and (row["value"] is not None or row["ci_low"] is not None):  # figures have a row without a value
            yield from _numbers(row, models)


def _numbers(row: _Said, models: dict[str, str]) -> Iterator[Row]:
    table, said = _table(row), str(row["experiment"])
    named = models.get(str(row["model"]), row["model"])
    model = None if table == DESIGN else named  # a constant of the design is that of all models
    # which of the numbers of a later version is meant, its own words say best
    test = names.VARIANTS.get(said, None if table == PEOPLE else said)
    if row["metric"] == "elicited probability range":
        test = "elicited_rates"
    key = (table, model, test, None, names.FORMATS.get(str(row["prompting"])))
    for quantity, value in _values(row):
        decimals = _DECIMALS.get(table, 2) if quantity.startswith(_WITH_DECIMALS) else 0
        yield (*key, quantity, _as_printed(value, decimals))


def _values(row: _Said) -> Iterator[tuple[str, str]]:
    """The number, and its interval: as half its width where it is printed so, else its ends."""
    metric = str(row["metric"])
    if metric in names.RANGES:
        yield from zip(names.RANGES[metric], (str(row["ci_low"]), str(row["ci_high"])), strict=True)
        return
    quantity = names.quantity_of(metric, row["unit"] == "%")
    yield quantity, str(row["value"])
    if row["plus_minus"] is not None:
        yield f"{quantity}_half_width", row["plus_minus"]
    elif row["ci_low"] is not None and row["ci_high"] is not None:
        yield f"{quantity}_conf_low", row["ci_low"]
        yield f"{quantity}_conf_high", row["ci_high"]


def _table(row: _Said) -> str:
    source, metric = str(row["source"]), str(row["metric"])
    if row["section"] == "App C":
        return PEOPLE
    if metric.startswith("design:"):
        return DESIGN
    if source.startswith("Table"):
        return source.removesuffix(" and text")
    if source.startswith(_LATER):
        return source.replace("text and ", "")
    return TEXT


def _as_printed(value: str, decimals: int) -> str:
    """A bound has its sign before it, as everywhere here ("> 8", "near 0.7"); a number all of its decimals."""
    if value[0] in "<>~":
        return f"{'near' if value[0] == '~' else value[0]} {value[1:]}"
    whole, _, digits = value.partition(".")
    return f"{whole}.{digits.ljust(decimals, '0')}" if decimals and value[0].isdigit() else value
