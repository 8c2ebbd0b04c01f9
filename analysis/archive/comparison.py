"""Compare what a replay made with what was sealed: exactly, within a tolerance, or within Monte Carlo error.

Files that no step of the record names are checked too: made again if something makes them, else by their hashes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

import polars as pl

from slant.analysis.archive import layout
from slant.analysis.archive.layout import sha256_of
from slant.analysis.archive.sealed_data import codebook_rows, data_file, source_texts
from slant.collector.system.files import opened, write_file

AGREES, DIFFERS, NOT_MADE, NOT_COMPARED = "agrees", "differs", "not made", "not compared"
EXACT = 0.0
COMPUTED = 1e-8
SEVERAL_EFFECTS = 1e-4
"""Tolerate this much in mixed models with several random effects under other versions or on other processors. Here the
same rows give numbers equal to 1e-8 (R/polished_optimum.R). A variance, and its part of a standard error, is measured
by the sum of its model's: next to large ones the likelihood does not determine the digits of a small one."""
_IN_STANDARD_ERRORS = ("estimate", "conf_low", "conf_high")
"""List columns whose numbers are judged in standard errors: a bound near 0 is as certain as its estimate."""
OF_THE_MAKING = (
    "call_id", "versions", "messages", "seconds", "fitted_at", "ended_at", "made_at", "finished_at", "searched_at",
    "compile_s", "sampling_s", "refit_seconds", "file", "file_md5", "file_bytes", "draws_file", "draws_md5",
    "draws_bytes", "search_id", "permutation_id", "calibration_id", "level_call_id", "difference_id", "data_hash",
    "rows_hash", "fit_seconds",
)  # fmt: skip
"""List columns about the computation rather than the result: how long it took, with which versions."""
_STANDARD_ERRORS = 5.0  # of Monte Carlo: less than one in a million numbers is beyond this by chance
_OF_INTERVAL_END = 3.0  # a normal distribution's standard error of a 2.5 % quantile, relative to that of the mean: 2.67
_NORMAL_95 = 3.92
_BATCH = 20_480


@dataclass(frozen=True)
class Compared:
    """Hold the comparison of one file: its kind (hash, data, codebook, study, prompts, table, fit, draws, figure,
    journal, page), `status` (agrees, differs, not made, not compared), within what (`within`), the largest difference
    between two numbers, how many values were compared, and a note."""

    kind: str
    name: str
    status: str
    within: str = ""
    largest_difference: float | None = None
    n_values: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Rule:
    """Say how far two numbers may be apart. `of_r`: R computed them, with columns OF_THE_MAKING. `ess`: the smallest
    effective sample size, if they are of draws made by other versions; else None."""

    tolerance: float = EXACT
    ess: float | None = None
    of_r: bool = False

    @property
    def in_words(self) -> str:
        if self.ess is not None:
            return "Monte Carlo error"
        return f"{self.tolerance:g}" if self.tolerance else "exactly"


def compare_tables(kind: str, name: str, sealed: Path, made: Path, rule: Rule) -> Compared:
    """Compare two CSV files, cell by cell, in the order of their rows. Columns that a later slant adds are in the
    note."""
    compared = Compared(kind, name, AGREES, rule.in_words)
    differing = partial(replace, compared, status=DIFFERS)
    try:
        then, now = (pl.read_csv(path, infer_schema=False, glob=False) for path in (sealed, made))
    except (pl.exceptions.PolarsError, OSError) as error:
        return differing(note=f"one of the two can't be read ({str(error).splitlines()[0]})")
    if [column for column in now.columns if column in then.columns] != then.columns:
        lacking = [column for column in then.columns if column not in now.columns]
        return differing(note=f"columns are {_listed('missing', lacking) or 'in another order'}")
    if then.height != now.height:
        return differing(note=f"{then.height:,} rows were sealed, {now.height:,} were made")
    names = [column for column in then.columns if not rule.of_r or column not in OF_THE_MAKING]
    largest: float | None = None
    for column in names:
        allowed = _allowed(then, column, rule)
        distance, row = _distance(then[column], now[column], allowed)
        if row is not None:
            values = f'"{str(then[column][row])[:40]}" sealed, "{str(now[column][row])[:40]}" made'
            return differing(largest_difference=distance, note=f"row {row + 1}, {column}: {values}")
        largest = distance if largest is None else max(largest, distance or 0.0)
    added = _listed("columns that were not sealed", [column for column in now.columns if column not in then.columns])
    return replace(compared, largest_difference=largest, n_values=then.height * len(names), note=added)


def _listed(what: str, columns: list[str]) -> str:
    return f"{what}: {', '.join(columns)}" if columns else ""


def _allowed(then: pl.DataFrame, column: str, rule: Rule) -> pl.Series | None:
    """Return the column's tolerance: None for exact, inf if unknown."""
    if rule.ess is None:
        return _allowed_without_draws(then, column, rule.tolerance) if rule.tolerance else None
    if "conf_low" in then.columns and "conf_high" in then.columns:
        width = then["conf_high"].cast(pl.Float64, strict=False) - then["conf_low"].cast(pl.Float64, strict=False)
        error = width / _NORMAL_95 / rule.ess**0.5 * 2**0.5 * _STANDARD_ERRORS
        if column in ("estimate", "median", "std_error", "conf_low", "conf_high"):
            return pl.Series(error * (_OF_INTERVAL_END if column.startswith("conf") else 1.0))
    is_number = then[column].drop_nulls().cast(pl.Float64, strict=False).null_count() == 0
    return pl.Series([math.inf] * then.height, dtype=pl.Float64) if is_number else None


def _allowed_without_draws(then: pl.DataFrame, column: str, tolerance: float) -> pl.Series:
    if tolerance == SEVERAL_EFFECTS and column in ("variance", "part") and {"group", "term"} <= set(then.columns):
        of_model = then.columns[: min(map(then.columns.index, ("group", "term")))]
        value = pl.col(column).cast(pl.Float64, strict=False)
        sums = value.sum().over(of_model) if of_model else value.sum()
        return then.select(tolerance * sums / value.abs().clip(lower_bound=1.0)).to_series()
    if column in _IN_STANDARD_ERRORS and (errors := _standard_errors(then)) is not None:
        size = then[column].cast(pl.Float64, strict=False).abs()
        floor = size.clip(lower_bound=1.0) * COMPUTED  # no number has more digits than that
        limits = pl.DataFrame({"error": errors * tolerance, "floor": floor}).max_horizontal()
        return limits / size.clip(lower_bound=1.0)
    return pl.Series([tolerance] * then.height, dtype=pl.Float64)


def _standard_errors(then: pl.DataFrame) -> pl.Series | None:
    """Return the standard errors by row, from a 95 % interval if need be; None if the table has neither."""
    number = pl.col("std_error" if "std_error" in then.columns else "conf_high").cast(pl.Float64, strict=False)
    if "std_error" in then.columns:
        return then.select(number.abs()).to_series()
    if {"conf_low", "conf_high"} <= set(then.columns):
        width = number - pl.col("conf_low").cast(pl.Float64, strict=False)
        return then.select(width.abs() / _NORMAL_95).to_series()
    return None


def _distance(then: pl.Series, now: pl.Series, allowed: pl.Series | None) -> tuple[float | None, int | None]:
    """Return the largest difference between two columns, and the first row in which it is too large."""
    other = then.ne_missing(now)
    if not other.any():
        return 0.0 if allowed is not None else None, None
    rows = other.arg_true()
    if allowed is None:
        return None, int(rows[0])
    before, after = (column.gather(rows).cast(pl.Float64, strict=False) for column in (then, now))
    limits = allowed.gather(rows) * before.abs().clip(lower_bound=1.0)
    distance = (before - after).abs()
    bad = (distance.is_null() | distance.is_nan() | (distance > limits)).arg_true()
    return cast("float | None", distance.max()), int(rows[bad[0]]) if bad.len() else None


def compare_bytes(kind: str, name: str, sealed: Path, made: Path) -> Compared:
    """Compare two files that must be the same or, for Parquet, must hold the same rows."""
    if sha256_of(sealed) == sha256_of(made):
        return Compared(kind, name, AGREES, "exactly")
    if name.endswith(".parquet"):
        try:
            then, now = (pl.scan_parquet(path, glob=False) for path in (sealed, made))
            if then.collect_schema() != now.collect_schema():
                return Compared(kind, name, DIFFERS, "exactly", note="other columns")
            n_rows = now.select(pl.len()).collect().item()
            if then.select(pl.len()).collect().item() != n_rows:
                return Compared(kind, name, DIFFERS, "exactly", note="another number of rows")
            for start in range(0, n_rows, _BATCH):
                if not then.slice(start, _BATCH).collect().equals(now.slice(start, _BATCH).collect()):
                    return Compared(kind, name, DIFFERS, "exactly", note=f"in rows from {start + 1:,} on")
        except (pl.exceptions.PolarsError, OSError) as error:
            return Compared(kind, name, DIFFERS, "exactly", note=f"can't be read ({str(error).splitlines()[0]})")
        return Compared(kind, name, AGREES, "exactly", note="the same rows, packed by another version")
    return Compared(kind, name, DIFFERS, "exactly", note=f"from line {_first_other_line(sealed, made)} on")


def compare_figures(name: str, sealed: Path, made: Path, names: Collection[str]) -> Compared:
    """Compare a figure's file in two archives; `names`: the files in the sealed one.

    An image agrees if it is the same file. Other fonts, or another version of what draws it, change each letter's
    outline: then its rows are compared, and the image is not.
    """
    rule = Rule(SEVERAL_EFFECTS, of_r=True)
    if name.endswith(".csv"):
        return compare_tables("figure", name, sealed / name, made / name, rule)
    compared, rows = compare_bytes("figure", name, sealed / name, made / name), f"{Path(name).with_suffix('.csv')}"
    if compared.status == AGREES or rows not in names:
        return compared
    of_rows = compare_tables("figure", rows, sealed / rows, made / rows, rule)
    if of_rows.status == DIFFERS:
        return replace(of_rows, name=name, within="its rows")
    note = "its rows agree, but it is drawn otherwise (other fonts, versions or last digits): look at both"
    return Compared("figure", name, NOT_COMPARED, note=note)


def _first_other_line(one: Path, other: Path) -> int:
    number = 1
    with opened(one) as first, opened(other) as second:
        while True:
            line, line_there = first.readline(_BATCH), second.readline(_BATCH)
            if line != line_there or not line:
                return number
            number += line.endswith(b"\n")


def smallest_ess(diagnostics: Mapping[str, Path]) -> float:
    """Return the smallest effective sample size that sealed Bayesian fits report; 100 if none does."""
    sizes = [100.0]
    for path in diagnostics.values():
        frame = pl.read_csv(path, infer_schema=False, glob=False)
        for name in ("min_ess_bulk", "min_ess_tail"):
            if name in frame.columns:
                sizes += [size for size in frame[name].cast(pl.Float64, strict=False) if size and size > 0]
    return min(sizes[1:] or sizes)


_RESULTS = (layout.DATA, layout.TABLES, layout.FITS, layout.FIGURES, layout.DRAWS)
_SOURCES = {layout.STUDY: "study", layout.PROMPTS: "prompts"}
_PAGE = "written once, when the study was sealed: what it says may be another's"
_WHY = {
    layout.JOURNAL: "all else is made of the journals, and only who collected them can vouch for them",
    layout.REPLAY: "it says what is to be made again",
    layout.ENVIRONMENT: "it says which software made the results, and nothing here can tell",
}


def source_rows(db: Path, study: str, sealed: Path, made: Path, names: Collection[str]) -> Iterator[Compared]:
    """Yield the study's files and the prompts, compared with those in the journals."""
    texts, _ = source_texts(db, study)
    for name in sorted(names):
        kind = _SOURCES.get(name.partition("/")[0])
        if kind is None:
            continue
        if name not in texts:
            yield Compared(kind, name, DIFFERS, note="no journal of the archive has it")
            continue
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(made / name, texts[name])
        if kind == "prompts":
            yield compare_tables(kind, name, sealed / name, made / name, Rule())
        else:
            yield compare_bytes(kind, name, sealed / name, made / name)


def codebook_row(
    study: str, listed: Sequence[Mapping[str, str]], sealed: Path, made: Path, names: Collection[str]
) -> Iterator[Compared]:
    """Yield the codebook, compared with that of the data made again, if all of them were."""
    files = [data_file(study, row["view"]) for row in listed]
    if layout.CODEBOOK in names and files and all((made / file.parquet).is_file() for file in files):
        write_file(made / layout.CODEBOOK, codebook_rows(files, made).write_csv())
        yield compare_tables("codebook", layout.CODEBOOK, sealed / layout.CODEBOOK, made / layout.CODEBOOK, Rule())


def remaining_rows(names: Collection[str], compared: Collection[Compared]) -> Iterator[Compared]:
    """Yield a row for each file that no other row covers. A result that nothing makes differs: no archive of
    slant's has one."""
    done = {row.name for row in compared if row.kind != "hash"}
    for name in sorted(set(names) - done - {layout.MANIFEST}):
        place = name.partition("/")[0]
        if place in _RESULTS:
            note = f"nothing makes it: {layout.REPLAY} has no step for it"
            yield Compared(place.removesuffix("s"), name, DIFFERS, note=note)
        else:
            kind = "journal" if place == layout.JOURNAL else "page"
            yield Compared(kind, name, NOT_COMPARED, note=_WHY.get(place, _PAGE))
