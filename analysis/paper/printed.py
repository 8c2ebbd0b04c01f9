"""The paper's printed numbers, one row a number, and what is known about some of them: slips of print, numbers that no
data can check, and how the numbers of the text are computed.

Rows: table, model, test, refusals_removed, condition, quantity, printed. `printed` is text, exactly as in print; a
bound that the text states has its sign before it, as in "< 0.001". The tables are called as in the paper: S3 to S14 of
Lee & Lai (2025), the numbers in their text ("text"), and the tables of their earlier version ("v1 S3" …). The files are
in the study's folder `published/`, what is known about them beside it.
"""

from __future__ import annotations

import re

import polars as pl

from slant.analysis.paper import families_of
from slant.analysis.paper.claims import claims, key
from slant.analysis.paper.effect_sizes import NO_REFUSALS
from slant.analysis.paper.family import KEY, SCHEMA, Family, read_texts
from slant.analysis.paper.own_print import COLUMNS, quantities
from slant.collector.errors import StudyError
from slant.collector.studies.catalogue import Study

__all__ = [
    "KEY",
    "NO_REFUSALS",
    "SCHEMA",
    "half_unit",
    "how_computed",
    "known_slips",
    "not_checkable",
    "printed_numbers",
    "tolerances",
]


def printed_numbers(study: Study, families: tuple[Family, ...] | None = None) -> pl.DataFrame:
    """Every printed number, in the paper's order. StudyError where a study ships none."""
    if study.published is None:
        raise StudyError(
            f'There is nothing to compare "{study.name}" with: the study names no printed numbers.',
            'To give it some: published = "published.csv" in its TOML file, a CSV beside it with the columns',
            f"  {', '.join(COLUMNS)}",
            f"Quantities there are: {', '.join(quantities(study))}.",
        )
    families = families_of(study) if families is None else families
    # what is checked without raw data is printed among the numbers of other families, too
    rows = list(dict.fromkeys(row for family in families for row in family.printed(study)))
    rows.sort(key=lambda row: _place(row[0]))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def known_slips(study: Study) -> pl.DataFrame:
    """The printed numbers that the authors' data contradict: the same columns, and `reason`."""
    return _about(study, "slips.csv")


def not_checkable(study: Study) -> pl.DataFrame:
    """The printed numbers that can't be had from the data that are public: the same columns, and `reason`.

    A row of the file that names only a table is about each number of it.
    """
    listed = _about(study, "not_checkable.csv")
    whole = listed.filter(pl.col("quantity").is_null()).select("table", "reason")
    numbers = printed_numbers(study).join(whole, on="table", how="inner", maintain_order="left")
    return pl.concat([listed.drop_nulls("quantity"), numbers])


def how_computed(study: Study) -> pl.DataFrame:
    """KEY of those numbers of the text that are not computed in the obvious way, and `how`."""
    path = study.path.parent / study.name / "claim_notes.csv"
    said = dict(read_texts(path).iter_rows()) if path.is_file() else {}
    notes = [(*key(claim), said.get(claim["claim"]) or said.get(claim["quantity"])) for claim in claims(study)]
    schema = {**{name: SCHEMA[name] for name in KEY}, "how": pl.String}
    return pl.DataFrame(notes, schema=schema, orient="row").drop_nulls("how")


def tolerances(study: Study) -> pl.DataFrame:
    """How near is near enough where half a unit of the last digit isn't: table, quantity, tolerance, basis, why.

    `basis` says what a number is where the data themselves are reconstructed from the print: a "reproduction" (what
    was printed decides it), a "reconstruction" (it hangs on what had to be made up), or a "setting" of the fit.
    """
    schema = {"table": pl.String, "quantity": pl.String, "tolerance": pl.Float64, "basis": pl.String, "why": pl.String}
    path = study.path.parent / study.name / "tolerances.csv"
    return read_texts(path).select(*schema).cast(schema) if path.is_file() else pl.DataFrame(schema=schema)  # type: ignore[arg-type]


def half_unit(printed: str) -> float:
    """Half a unit of the last printed digit: 0.005 for "1.04" and for "> 1.04"."""
    return float(0.5 * 10.0 ** -len(printed.partition(".")[2]))


def _about(study: Study, name: str) -> pl.DataFrame:
    schema = {**SCHEMA, "reason": pl.String}
    path = study.path.parent / study.name / name
    if not path.is_file():
        return pl.DataFrame(schema=schema)
    flag = pl.col("refusals_removed").replace_strict({"true": True, "false": False}, default=None)
    return read_texts(path).with_columns(flag.cast(pl.Boolean)).cast(schema).select(*schema)  # type: ignore[arg-type]


def _place(table: str) -> tuple[bool, bool, int]:
    """Tables by number, then the text, then an earlier or later version ("v1 S3", "v4 Table 2")."""
    number = re.search(r"(\d+)$", table)
    return re.match(r"v\d", table) is not None, number is None, int(number[1]) if number else 0
