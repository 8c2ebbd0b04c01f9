"""Simulated participants with known parameters: asked by the collector, kept in DuckDB, analysed as any others."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from slant import analysis, collector
from slant.collector.system.shipped_files import studies_dir

SHORT: dict[str, Any] = {"chains": 2, "iterations": 700, "warmup": 200, "adapt_delta": 0.95}
_MOST = 50.0  # log odds that a study may simulate
_KEYS = ["model", "test", "condition"]


def r_job(job: tuple[str, Sequence[Any]]) -> Any:
    """Runs in a worker: one R function, by name."""
    from slant.analysis.bridge import r

    value, _ = r.call(job[0], *job[1])
    return value


def asked(folder: Path, parameters: pl.DataFrame, seed: int) -> Path:
    """A database of the whole study (960 trials) whose simulated models have these `parameters`, in the columns of R's
    forced_choice_parameters().
    """
    folder.mkdir(parents=True)
    shutil.copy(studies_dir() / "interference.toml", folder)
    shutil.copytree(studies_dir() / "interference", folder / "interference")
    as_simulation(parameters).write_csv(folder / "interference" / "simulation.csv")
    db = folder / "a.duckdb"
    collector.collect(db, folder / "interference.toml", simulated=True, seed=seed)
    return db


def as_simulation(parameters: pl.DataFrame) -> pl.DataFrame:
    """What the study file wants: log odds, and the same standard deviations of words."""
    logits = [
        pl.col(f"p_{what}").map_elements(_logit, return_dtype=pl.Float64).alias(f"{what}_logit")
        for what in ("valid", "consistent")
    ]
    sds = [pl.col(f"sd_item_{what}").alias(f"{what}_item_sd") for what in ("valid", "consistent")]
    shares = {"refused_share": 0.5, "filtered_share": 0.0, "truncated_share": 0.0, "wrapped_share": 0.1}
    rest = {"a_logit": 0.0, **shares, "mean_reasoning_tokens": 0.0}
    return parameters.select(*_KEYS, *logits, *sds, **{name: pl.lit(value) for name, value in rest.items()})


def _logit(p: float) -> float:
    return math.copysign(_MOST, p - 0.5) if p in (0, 1) else max(-_MOST, min(_MOST, math.log(p / (1 - p))))


def known(p_consistent: dict[tuple[str, str], tuple[float, float]], elsewhere: float = 0.95) -> pl.DataFrame:
    """Parameters of the paper's twelve cells: P(consistent) in the congruent block and in the incongruent one of these
    models and domains; `elsewhere` in both.
    """
    rows = [
        {
            "model": model,
            "test": domain,
            "condition": block,
            "p_valid": 0.97,
            "p_consistent": p_consistent.get((model, domain), (elsewhere, elsewhere))[number],
            "sd_item_valid": 1.0,
            "sd_item_consistent": 0.5,
        }
        for model in ("claude-sonnet-4", "gemini-2.5-pro", "gpt-5")
        for domain in ("gender_career", "gender_science")
        for number, block in enumerate(("congruent", "incongruent"))
    ]
    return pl.DataFrame(rows)


def trials(db: Path) -> pl.DataFrame:
    return analysis.open_trials(db, view="forced_choice_trials")
