"""Repeat a fit with relabelled or drawn rows, each time with the next number."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, cast

import polars as pl

from slant.analysis.bridge.r_packages import r_code_hash
from slant.analysis.bridge.worker import versions_now
from slant.analysis.calls.call import Call, hash_of_rows
from slant.analysis.fitting.fit_plan import PlannedFit
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.stable_ids import stable_id


@dataclass(frozen=True)
class RepeatedFit(ABC):
    """Hold the fit in the rows of one source, study version and variant (and model and test, if it is made of each)."""

    work: PlannedFit
    seed: int
    settings: Mapping[str, Any]

    kind: ClassVar[str]
    """Say what repetitions are for; their tables have its id in the column `{kind}_id`."""
    function: ClassVar[str]
    """Name R's function for one repetition."""
    compile_function: ClassVar[str]
    """Name R's function that compiles the Stan model for all of them, with those arguments named in `of_model`."""
    of_model: ClassVar[tuple[str, ...]]
    tables: ClassVar[Mapping[str, str]]
    """Name the database's table for each frame of a repetition; the first has a row for every one, failed or not."""
    of_cell: ClassVar[tuple[str, ...]]
    """Name the columns of the cell that `about` has."""
    n_column: ClassVar[str]
    """Name the column of the table `{kind}s`, of sums, that says how many they include."""

    @property
    @abstractmethod
    def packages(self) -> tuple[str, ...]:
        """Name the R packages that it uses."""

    @property
    @abstractmethod
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `function`, except the number."""

    @cached_property
    def about(self) -> dict[str, Any]:
        """Say what it is about; each repetition adds its number."""
        fit, key = self.work.definition, self.work.cell.key
        place = {name: key.get(name) for name in self.of_cell}
        seeded = {"seed": self.seed, "settings": dict(self.settings)}
        return {"study": self.work.study, **place, "fit": fit.name, "engine": fit.engine, **seeded}

    @cached_property
    def rows_hash(self) -> str:
        return hash_of_rows(self.work.cell.rows, self.work.cell.warnings)

    @cached_property
    def id(self) -> str:
        """Return a new id for other rows, seeds, settings, R code or versions; the same for any number of
        repetitions."""
        versions = versions_now(self.packages)
        return stable_id(self.kind, self.about, self.rows_hash, self.arguments, versions, r_code_hash())

    def repetition(self, number: int) -> Call:
        return Call(
            self.function,
            self.work.cell.rows,
            {**self.arguments, "number": number},
            about={self.kind: self.about, "number": number},
            tables=self.tables,
            columns={f"{self.kind}_id": self.id},
            fill={"number": number},
            failed=next(iter(self.tables.values())),
            packages=self.packages,
            hash_of_data=self.rows_hash,
        )

    def compile(self) -> Call:
        """Return the Stan model of these rows, compiled if no process has done it on this machine yet."""
        arguments = {name: self.arguments[name] for name in self.of_model if self.arguments.get(name) is not None}
        return Call(
            self.compile_function,
            self.work.cell.rows,
            {"arguments": arguments},
            packages=self.packages,
            hash_of_data=self.rows_hash,
        )

    def n_kept(self, db: Path) -> int:
        """Return the number of repetitions in the database's sum; 0 if it has none."""
        with reading(db) as connection:
            sums = frame_of(connection.table(f"{self.kind}s"))
        return cast(int, sums.filter(pl.col(f"{self.kind}_id") == self.id)[self.n_column].max() or 0)

    def summary_columns(self, n: int) -> dict[str, Any]:
        """Return the columns of the row that sums up `n` repetitions."""
        return {
            **self.about,
            f"{self.kind}_id": self.id,
            self.n_column: n,
            "formula": self.work.definition.formula,
            "settings": json.dumps(dict(self.settings), sort_keys=True),
            "rows_hash": self.rows_hash,
        }
