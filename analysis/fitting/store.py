"""What was fitted, kept in the tables fits, estimates and variances, so that the same rows are not fitted twice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.bridge.r_home import version_numbers
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.tables import Frames, chosen
from slant.collector.keep.database import reading, writing
from slant.collector.keep.frames import frame_of, registered
from slant.collector.records import stable_id

_TABLES = ("fits", "estimates", "variances")
FIT_SCHEMA: dict[str, Any] = {
    "fit_id": pl.String, "fit": pl.String, "engine": pl.String, "study": pl.String, "study_version": pl.String,
    "source": pl.String, "variant": pl.String, "model": pl.String, "test": pl.String, "refusals_removed": pl.Boolean,
    "dropped": pl.String,
    "measure": pl.String, "token_source": pl.String, "formula": pl.String, "data_hash": pl.String,
    "status": pl.String, "n": pl.Int64, "n_missing": pl.Int64, "n_groups": pl.Int64,
    "log_lik": pl.Float64, "aic": pl.Float64, "bic": pl.Float64, "singular": pl.Boolean,
    "optimiser": pl.String, "messages": pl.String, "versions": pl.String, "seconds": pl.Float64,
    "fitted_at": pl.Datetime("us"),
}  # fmt: skip
ESTIMATE_SCHEMA: dict[str, Any] = {
    "fit_id": pl.String, "term_no": pl.Int64, "term": pl.String, "estimate": pl.Float64, "std_error": pl.Float64,
    "df": pl.Float64, "statistic": pl.Float64, "p_value": pl.Float64, "conf_low": pl.Float64, "conf_high": pl.Float64,
}  # fmt: skip
VARIANCE_SCHEMA: dict[str, Any] = {
    "fit_id": pl.String, "term_no": pl.Int64, "group": pl.String, "term": pl.String, "variance": pl.Float64,
    "n_groups": pl.Int64,
}  # fmt: skip
_SCHEMAS = {"fits": FIT_SCHEMA, "estimates": ESTIMATE_SCHEMA, "variances": VARIANCE_SCHEMA}


def no_tables() -> dict[str, Frames]:
    return {name: engine.tables.empty() for name, engine in ENGINES.items() if engine.tables.schemas}


@dataclass(frozen=True)
class Fitted:
    """Fits with their estimates and variances: three frames joined by `fit_id`, as the database keeps them; and, by
    engine and name, those that only this engine has.
    """

    fits: pl.DataFrame
    estimates: pl.DataFrame
    variances: pl.DataFrame
    tables: Mapping[str, Frames] = field(default_factory=no_tables)

    @classmethod
    def empty(cls) -> Fitted:
        fits, estimates, variances = (pl.DataFrame(schema=_SCHEMAS[table]) for table in _TABLES)
        return cls(fits, estimates, variances)

    def and_(self, other: Fitted) -> Fitted:
        fits, estimates, variances = (pl.concat([getattr(self, table), getattr(other, table)]) for table in _TABLES)
        tables = {name: ENGINES[name].tables.stacked([its, other.tables[name]]) for name, its in self.tables.items()}
        return Fitted(fits, estimates, variances, tables)

    def only(self, fit_ids: list[str]) -> Fitted:
        """These fits, in this order."""
        order = pl.DataFrame({"fit_id": fit_ids}, schema={"fit_id": pl.String})
        own = chosen({table: getattr(self, table) for table in _TABLES}, order)
        return Fitted(**own, tables={name: chosen(frames, order) for name, frames in self.tables.items()})


def fit_id(*parts: Any) -> str:
    """One id for one fit of one cell, the same each time it is made: a new fit takes the old one's place."""
    return stable_id("fit", *parts)


def as_frames(fits: list[dict[str, Any]], estimates: list[dict[str, Any]], variances: list[dict[str, Any]]) -> Fitted:
    return Fitted(
        pl.DataFrame(fits, schema=FIT_SCHEMA),
        pl.DataFrame(estimates, schema=ESTIMATE_SCHEMA),
        pl.DataFrame(variances, schema=VARIANCE_SCHEMA),
    )


def stored(db: str | Path, engine: str) -> Fitted:
    """All fits of one engine that the database keeps."""
    with reading(db) as connection:
        fits = (
            frame_of(connection.table("fits").filter(f"engine = '{engine}'"))
            .select(*FIT_SCHEMA)
            .cast(pl.Schema(FIT_SCHEMA))
        )
        estimates, variances = (
            frame_of(connection.table(table))
            .cast(pl.Schema(_SCHEMAS[table]))
            .join(fits.select("fit_id"), on="fit_id", how="semi")
            for table in ("estimates", "variances")
        )
        tables = no_tables()
        if engine in tables:
            tables[engine] = ENGINES[engine].tables.read(connection)
    return Fitted(fits, estimates.sort("fit_id", "term_no"), variances.sort("fit_id", "term_no"), tables)


def is_same(old: dict[str, Any], data_hash: str, definition: str, versions: Mapping[str, str] | None) -> bool:
    """Whether a stored fit is of the same rows, arguments, R code and packages. One that failed is tried again.

    `versions` are those of R and its packages now; None where R can't say, so that nothing better could be made.
    """
    then = json.loads(old["versions"] or "{}")
    is_defined_alike = then.pop("definition", None) == definition
    then.pop("slant", None)
    is_made_alike = versions is None or is_same_versions(then, versions)
    return bool(old["data_hash"] == data_hash and is_defined_alike and is_made_alike and old["status"] != "failed")


def is_same_versions(then: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """R writes one version in two ways: 1.1-31 and 1.1.31."""
    numbers = [{package: version_numbers(text) for package, text in each.items()} for each in (then, now)]
    return numbers[0] == numbers[1]


def keep(db: str | Path, fitted: Fitted) -> None:
    """Write these fits in one transaction; each takes the place of the earlier fit of the same cell."""
    frames: dict[str, pl.DataFrame] = {table: getattr(fitted, table) for table in _TABLES}
    for engine in fitted.fits["engine"].unique():
        its = fitted.tables.get(engine, {})
        frames |= {ENGINES[engine].tables.in_database(name): frame for name, frame in its.items()}
    with writing(db) as connection, registered(connection, "new_fits", fitted.fits.select("fit_id")):
        for table, frame in frames.items():
            connection.execute(f"DELETE FROM {table} WHERE fit_id IN (SELECT fit_id FROM new_fits)")  # noqa: S608
            with registered(connection, "new_rows", frame):
                connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM new_rows")  # noqa: S608
