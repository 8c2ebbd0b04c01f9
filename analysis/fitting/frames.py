"""Put fits' results next to their cells: callers' frames begin with source, study … and end with fit.

If there are Bayesian models among the fits, each frame says for each row what the chains behind it are worth.

Choose which kept Bayesian fits are shown: sampling takes minutes, so pages and figures never start it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import polars as pl

from slant.analysis.calls.result_rows import ID, table_schema
from slant.analysis.calls.results import Results, unchanged_ids
from slant.analysis.fitting.engines import ENGINES, ESTIMATES, FITS, VARIANCES, tables_of
from slant.analysis.fitting.fit_plan import plan_fits
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import view_rows
from slant.collector.studies.catalogue import Fit, Study, fits_of

ENGINE = "brms"
KEY = (*GRAIN, "fit", "model", "test")
_TABLES = ("bayes_", "condition_contrasts", "predicted_compliance")
"""How the names of tables of Bayesian fits begin."""
_FAMILIES = "bayes_ratios"
_FIT = (*KEY, "call_id", "status", "messages", "versions", "data_hash", "fitted_at")


def fits_to_show(db: str | Path, study: Study, versions: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Return a row for each source, version, variant, fit (and model and test, if a fit is by cell) of `study`: those
    columns, call_id, status, messages, `is_own`.

    `is_own`: it is of the current rows, formula, priors, settings and R code, and, if they are given, these versions of
    R's packages. Of several it is the own one, else the last. There are no rows if none was fitted.
    """
    fits = view_rows(db, "fits", engine=ENGINE, study=study.name)
    own_fits = bayes_fits_of(study)
    names = [fit.name for fit in own_fits]
    study_fits = fits.filter(pl.col("fit").is_in(names))
    calls = [work.call for fit in own_fits if study_fits.height for work in plan_fits(db, study, fit)]
    own_ids = unchanged_ids(calls, study_fits, versions)
    ordered = study_fits.select(_FIT).with_columns(is_own=pl.col("call_id").is_in(own_ids)).sort("is_own", "fitted_at")
    place = {name: number for number, name in enumerate(names)}
    newest = ordered.unique(KEY, keep="last")
    return newest.sort(*GRAIN, pl.col("fit").replace_strict(place, return_dtype=pl.Int64), "model", "test")


def bayes_fits_of(study: Study) -> list[Fit]:
    """Return its Bayesian fits, including those that every study of its design has."""
    return [fit for fit in fits_of(study).values() if fit.engine == ENGINE]


def tables_of_fits(tables: Mapping[str, pl.DataFrame], fits: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return `tables` by name, those of Bayesian fits without the rows of fits that are not shown; families of counts
    are next to each other."""
    ids = fits["call_id"].to_list()
    of_fits = {name for name in tables if name.startswith(_TABLES)} - {_FAMILIES}
    return {
        name: frame.filter(pl.col("call_id").is_in(ids)) if name in of_fits else frame for name, frame in tables.items()
    }


def stale_fit_warnings(fits: pl.DataFrame, study: Study) -> list[str]:
    """Return a sentence for each kept fit that is not of the current rows, definition and code."""
    stale = fits.filter(~pl.col("is_own")).unique(["fit", "source"], maintain_order=True)
    return [f"{row['fit']} ({row['source']}): {stale_fit_warning(study.name)}" for row in stale.to_dicts()]


def stale_fit_warning(study: str) -> str:
    return f"The stored fit has other rows (or other settings or R code); run: analyze --fit {ENGINE} --study {study}."


CELL = ("source", "study", "study_version", "variant", "model", "test", "fit", "refusals_removed", "measure")
_FRAME = (
    *(ID, "fit", "engine", "study", "study_version", "source", "variant", "model", "test", "refusals_removed"),
    *("dropped", "measure", "token_source", "formula", "data_hash", "status", "n", "n_missing", "n_groups"),
    *("log_lik", "aic", "bic", "singular", "optimiser", "messages", "versions", "seconds", "fitted_at"),
)


class FitFrames:
    """Make the frames of fits as `FitResult` has them."""

    def __init__(self, results: Results) -> None:
        calls = results.calls.rename({"ended_at": "fitted_at"}).drop("function", "about")
        cells = results.frames.get(FITS, pl.DataFrame(schema=table_schema(FITS)))
        self._frames = results.frames
        self.fits = cells.join(calls, on=ID, how="inner", maintain_order="left").select(_FRAME)

    @property
    def table(self) -> pl.DataFrame:
        return self._with_cells(self._table(ESTIMATES))

    @property
    def diagnostics(self) -> pl.DataFrame:
        return self._with_cells(self.fits.drop(CELL))

    @property
    def variances(self) -> pl.DataFrame:
        return self._with_cells(self._table(VARIANCES))

    @property
    def messages(self) -> pl.DataFrame:
        """Return a row per warning, message or error: kind, text."""
        lines = self.fits.select(ID, pl.col("messages").str.split("\n").alias("text")).explode("text")
        parts = pl.col("text").str.splitn(": ", 2).struct.rename_fields(["kind", "text"])
        messages = lines.filter(pl.col("text").str.len_chars() > 0).select(ID, parts.alias("part")).unnest("part")
        return self._with_cells(messages)

    def of_engines(self) -> dict[str, Mapping[str, pl.DataFrame]]:
        """Return the tables that only one engine has, by engine and name."""
        return {
            name: _EngineTables(
                {table.removeprefix(f"{name}_"): table for table in list(tables_of(name).values())[3:]},
                self._of_cells if engine.are_of_cells else self._of_all,
            )
            for name, engine in ENGINES.items()
            if engine.tables
        }

    def _table(self, name: str) -> pl.DataFrame:
        return self._frames.get(name, pl.DataFrame(schema=table_schema(name)))

    def _with_cells(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a frame of one engine or of all, with the columns of CELL in place of `call_id`."""
        return _last_is_fit(self._with_verdict(_joined(self.fits.select(ID, *CELL), frame)))

    def _of_all(self, table: str) -> pl.DataFrame:
        cells = self.fits.select(ID, *(name for name in CELL if name not in ("model", "test")))
        return _last_is_fit(_joined(cells, self._table(table)))

    def _of_cells(self, table: str) -> pl.DataFrame:
        frame, cells = self._table(table), self.fits.select(ID, *CELL)
        joined = self._with_verdict(_joined(cells, frame))
        own = [name for name in ("model", "test") if f"{name}_right" in joined.columns]
        filled = joined.with_columns(pl.coalesce(f"{name}_right", name).alias(name) for name in own)
        return _last_is_fit(filled.drop(f"{name}_right" for name in own))

    def _with_verdict(self, joined: pl.DataFrame) -> pl.DataFrame:
        models = self._table("brms_models")
        if models.is_empty() or "verdict" in joined.columns:
            return joined
        verdicts = models.select(ID, "is_converged", "verdict")
        return joined.join(verdicts, on=ID, how="left", maintain_order="left")


class _EngineTables(Mapping[str, pl.DataFrame]):
    """Make the tables of one engine when they are asked for: most callers want few of those of all engines."""

    def __init__(self, names: Mapping[str, str], make: Callable[[str], pl.DataFrame]) -> None:
        self._names, self._make = names, make
        self._made: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._made:
            self._made[name] = self._make(self._names[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _joined(cells: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    return cells.join(frame, on=ID, how="inner", maintain_order="left_right")


def _last_is_fit(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.exclude(ID, "term_no", "fit"), "fit")
