"""Read the draws of a Bayesian model that was fitted before, as a Polars frame, for ArviZ, or for R
(`read_draws()`)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.result_rows import checked_file, model_file
from slant.analysis.rows.views import rows_if_kept, view_rows
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, UsageError, as_typed
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of

_OF_ITEM = re.compile(r"(r_\w+)\[(.+),(\w+)\]")  # r_item[gender_career:.baby,Intercept]
_STATS = {"lp__": "lp"}


def _varying(frame: pl.DataFrame, n_chains: int) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, list[str]]]:
    """Return arrays of chain, draw and level; the levels of each grouping variable; and which of them an array has."""
    columns: dict[tuple[str, str], list[str]] = defaultdict(list)
    coords: dict[str, list[str]] = {}
    for name in frame.columns:
        if match := _OF_ITEM.fullmatch(name):
            group, level, term = match.groups()
            columns[group, term].append(name)
            coords.setdefault(group.removeprefix("r_"), [])
            if level not in coords[group.removeprefix("r_")]:
                coords[group.removeprefix("r_")].append(level)
    arrays = {
        group if term == "Intercept" else f"{group}__{term}": _chains(frame.select(names), n_chains)
        for (group, term), names in columns.items()
    }
    return arrays, coords, {name: [name.removeprefix("r_").partition("__")[0]] for name in arrays}


def _chains(frame: pl.DataFrame, n_chains: int) -> Any:
    return frame.to_numpy().reshape(n_chains, -1, frame.width)


def _arviz() -> Any:
    try:
        return import_module("arviz")
    except ModuleNotFoundError as error:
        raise UsageError(
            "The Python package arviz is missing, which nothing else needs.",
            "Install it: pip install arviz   Or use the draws themselves: read_draws(…).frame",
        ) from error


_VIEWS = ("estimates", "predictions", "contrasts", "checks")


@dataclass(frozen=True)
class Draws:
    """Hold one kept Bayesian model. `about`: its row of the view bayes_diagnostics, including `verdict`. `tables`: its
    rows of the views bayes_…, by their last word.
    """

    about: Mapping[str, object]
    tables: Mapping[str, pl.DataFrame]
    _db: Path
    _md5: Mapping[str, object]

    @property
    def frame(self) -> pl.DataFrame:
        """Return a row per draw: .chain, .iteration (from 1 after warm-up), .draw, then the parameters, as brms names
        them.

        Raise DatabaseError if the file is not the one that was kept.
        """
        return pl.read_parquet(self._file(".draws.parquet", "draws_md5", "draws"), glob=False)

    @property
    def path(self) -> Path:
        """Return the .rds file of the brmsfit, for R: read_fit(). DatabaseError if it is not the one that was kept.

        Reading an .rds file can run code, so only the very file that slant wrote is named.
        """
        return self._file(".brmsfit.rds", "file_md5", "model")

    def to_arviz(self) -> Any:
        """Return the same as ArviZ has it (a DataTree since ArviZ 1, else InferenceData): groups posterior and
        sample_stats, with the items as a dimension. UsageError if ArviZ is not installed.
        """
        arviz = _arviz()
        n_chains = self.frame[".chain"].n_unique()
        ordered = self.frame.sort(".chain", ".iteration").drop(".chain", ".iteration", ".draw")
        posterior, coords, dims = _varying(ordered, n_chains)
        for name in ordered.columns:
            if name not in _STATS and not _OF_ITEM.fullmatch(name):
                posterior[name] = _chains(ordered.select(name), n_chains)[..., 0]
        stats = {
            new: _chains(ordered.select(old), n_chains)[..., 0] for old, new in _STATS.items() if old in ordered.columns
        }
        groups = {"posterior": posterior, "sample_stats": stats}
        if int(arviz.__version__.partition(".")[0]) >= 1:
            return arviz.from_dict(groups, coords=coords, dims=dims)
        return arviz.from_dict(**groups, coords=coords, dims=dims)

    def _file(self, ending: str, md5: str, file_kind: str) -> Path:
        how_to_refit = f"To recompute it: analyze --fit {self.about['fit']} --db {as_typed(self._db)} --refit"
        if file_kind == "draws" and not self._md5[md5]:
            raise DatabaseError(
                f"The draws of {self.about['fit']} were not stored.",
                'R writes them only with its package nanoparquet. In R: install.packages("nanoparquet")',
                f"Then: analyze --fit {self.about['fit']} --db {as_typed(self._db)} --refit",
            )
        return checked_file(
            model_file(self._db, str(self.about["call_id"]), ending), self._md5[md5], file_kind, how_to_refit
        )


@checked_arguments()
def read_draws(db: str | Path, study: str | None = None, fit: str | None = None, source: str | None = None) -> Draws:
    """Return the Bayesian model of `db` that was fitted last (of this study, fit and source, if named).

    Raise DatabaseError if none was fitted, UsageError if several fits match.
    """
    models = rows_if_kept(db, "bayes_diagnostics", study=study, fit=fit, source=source)
    if models.is_empty():
        named = f" {fit}" if fit else ""
        raise DatabaseError(f'"{db}" holds no Bayesian model{named}.', f"analyze --fit brms --db {as_typed(db)}")
    _check_one(models)
    last = models.sort("fitted_at", maintain_order=True).tail(1)
    tables = {name: view_rows(db, f"bayes_{name}", call_id=last["call_id"][0]) for name in _VIEWS}
    with reading(db) as connection:
        md5 = frame_of(connection.table("brms_models")).filter(call_id=last["call_id"][0]).to_dicts()[0]
    return Draws(last.to_dicts()[0], tables, Path(db), md5)


def _check_one(models: pl.DataFrame) -> None:
    """Check that one fit is meant: fits of one definition with other settings are one; the last one counts."""
    for column in ("study", "fit", "source", "model", "test"):
        values = models[column].unique(maintain_order=True).to_list()
        if len(values) > 1:
            listed = ", ".join(str(value) for value in values)
            hint = f'Name one: {column}="{values[0]}"' if column in ("study", "fit", "source") else "Read their tables."
            raise UsageError(f"Several Bayesian models are stored, of {column} {listed}.", hint)
