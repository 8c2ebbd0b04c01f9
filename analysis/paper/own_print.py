"""Compare a printed table of the user's own with the estimates of a study: `analyze compare --print FILE.csv`."""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path

import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.fits import Progress, fit
from slant.analysis.paper.published import half_unit
from slant.analysis.rows.study_choice import study_in
from slant.collector.arguments import checked_arguments
from slant.collector.errors import UsageError
from slant.collector.studies.catalogue import Study, first_fit

KEYS = ("fit", "source", "study_version", "variant", "model", "test", "refusals_removed", "measure", "term")
NUMBERS = ("estimate", "std_error", "df", "statistic", "p_value", "conf_low", "conf_high")
_AGREES, _DISAGREES, _NO_DATA = "agrees", "disagrees", "no data"
_NUMBER = r"^[-+−]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"


@checked_arguments()
def compare_print(
    db: str | Path,
    file: str | Path,
    study: str | Study | None = None,
    source: str | None = None,
    workers: Workers = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> pl.DataFrame:
    """Return a row for each number of the CSV `file`, next to the estimate here: keys, column, printed, recomputed,
    difference, tolerance (half a unit of the last printed digit) and status (agrees, disagrees, no data).

    The CSV has columns that say which estimate is meant, of KEYS (`term` at least), and printed numbers in columns of
    NUMBERS; "< .001" is a bound. Without a column `fit` the study's first one is meant. Raise UsageError for another
    column, a number that is none, a row that is true of several estimates, and where no row is about any.
    """
    printed = _printed(Path(file))
    chosen = study_in(db, study)
    first = first_fit(chosen)
    names = printed["fit"].drop_nulls().unique().to_list() if "fit" in printed.columns else [first] if first else []
    if not names:
        raise UsageError(f'The study "{chosen.name}" names no fit.', "Add the column fit to the table.")
    tables = [fit(db, chosen, name, source=source, workers=workers, progress=progress).table for name in names]
    here = pl.concat([table.select(*KEYS, *NUMBERS) for table in tables]).with_columns(pl.col(KEYS).cast(pl.String))
    keys = [name for name in KEYS if name in printed.columns]
    joined = printed.join(here.with_columns(is_here=True), on=keys, how="left", suffix="_here")
    if joined["is_here"].null_count() == joined.height:
        terms = ", ".join(here["term"].unique(maintain_order=True))
        raise UsageError(
            f"No row of {file} is about an estimate of {' or '.join(names)}. Its terms: {terms}.",
            "For another fit, add a column fit with its name.",
        )
    _refuse_several(joined, keys, file)
    numbers = [name for name in NUMBERS if name in printed.columns]
    rows = pl.concat(
        joined.select("row", *keys, column=pl.lit(name), printed=name, recomputed=f"{name}_here") for name in numbers
    )
    return _judged(rows.drop_nulls("printed").sort("row", maintain_order=True).drop("row"))


def _printed(file: Path) -> pl.DataFrame:
    if not file.is_file():
        raise UsageError(f"There is no file {file}.", "Name a CSV with a printed table: --print FILE.csv")
    rows = pl.read_csv(file, infer_schema=False, encoding="utf8-lossy")
    unknown = [name for name in rows.columns if name not in (*KEYS, *NUMBERS)]
    numbers = [name for name in NUMBERS if name in rows.columns]
    if unknown or "term" not in rows.columns or not numbers:
        raise UsageError(
            f"Can't compare {file}: its columns are {', '.join(rows.columns)}.",
            f"Which estimate is meant: term, and of {', '.join(KEYS[:-1])} what tells estimates apart.",
            f"Printed numbers: {', '.join(NUMBERS)}. Print both as they are here: analyze --fit NAME --format csv",
        )
    bare = pl.concat([rows[name].drop_nulls().str.strip_prefix("<").str.strip_chars() for name in numbers])
    if wrong := bare.filter(~bare.str.contains(_NUMBER)).to_list():
        raise UsageError(
            f'Can\'t compare {file}: "{wrong[0]}" is no number.', 'Leave unknown numbers empty; "< .001" is one.'
        )
    return rows.with_row_index("row")


def _refuse_several(joined: pl.DataFrame, keys: list[str], file: str | Path) -> None:
    several = joined.filter(pl.col("row").is_duplicated())
    if several.height:
        first = several.row(0, named=True)
        alike = several.filter(row=first["row"])
        differ = [name for name in KEYS if name not in keys and alike[name].n_unique() > 1]
        raise UsageError(
            f"Row {first['row'] + 1} of {file} ({', '.join(str(first[name]) for name in keys)}) is true of several "
            f"estimates.",
            f"Add the column {' or '.join(differ)}.",
        )


def _judged(rows: pl.DataFrame) -> pl.DataFrame:
    text = pl.col("printed").str.replace("−", "-").str.strip_chars()
    is_bound = text.str.starts_with("<")
    number = text.str.strip_prefix("<").str.strip_chars()
    tolerance = pl.when(~is_bound).then(number.map_elements(half_unit, return_dtype=pl.Float64))
    difference = pl.when(~is_bound).then(pl.col("recomputed") - number.cast(pl.Float64))
    agrees = (
        pl.when(is_bound)
        .then(pl.col("recomputed") < number.cast(pl.Float64))
        .otherwise(difference.abs() <= tolerance * (1 + 1e-9) + 1e-15)
    )
    status = pl.when(pl.col("recomputed").is_null()).then(pl.lit(_NO_DATA)).when(agrees).then(pl.lit(_AGREES))
    return rows.with_columns(difference=difference, tolerance=tolerance, status=status.otherwise(pl.lit(_DISAGREES)))
