"""A million rows from Polars to R and back, in a process of its own: by the bridge, or through pandas as rpy2 does it.

    python -m bench.exchange direct|pandas ROWS

Prints, as JSON: wall_s, cpu_s, and `exact`: whether what came back is what went (values and types).
"""

from __future__ import annotations

import json
import random
import sys
import time
from importlib import import_module

import click
import polars as pl

from slant.analysis.bridge import r

LEVELS = ["compatible", "incompatible"]


def frame(rows: int) -> pl.DataFrame:
    """Six columns like those of trials: text that repeats, text that doesn't, whole numbers, doubles, flags, gaps."""
    chance = random.Random(1)
    column = pl.int_range(rows, eager=True)
    return pl.DataFrame({"number": column}).select(
        trial_id=pl.format("trial-{}", pl.col("number")),
        condition=pl.when(pl.col("number") % 2 == 0).then(pl.lit(LEVELS[0])).otherwise(pl.lit(LEVELS[1])),
        tokens=pl.when(pl.col("number") % 50 == 0).then(None).otherwise(pl.col("number") * 64 % 5120),
        position=pl.col("number") * 2**20,
        cost_usd=pl.Series([chance.random() if place % 40 else None for place in range(rows)], dtype=pl.Float64),
        is_refusal=pl.when(pl.col("number") % 30 == 0).then(None).otherwise(pl.col("number") % 7 == 0),
    )


def direct(rows: pl.DataFrame) -> pl.DataFrame:
    back: pl.DataFrame = r.from_r(r.to_r(rows, {"condition": LEVELS}))
    return back


def through_pandas(rows: pl.DataFrame) -> pl.DataFrame | None:
    """None where Polars can't take back what arrives in pandas: flags with gaps come as a mixture of types."""
    robjects = import_module("rpy2.robjects")
    converter = robjects.default_converter + import_module("rpy2.robjects.pandas2ri").converter
    with converter.context() as context:
        in_r = context.py2rpy(rows.to_pandas())
        back = context.rpy2py(in_r)
    try:
        return pl.from_pandas(back.reset_index(drop=True))
    except (TypeError, ValueError):
        return None


def run(way: str, count: int) -> dict[str, float | bool]:
    go = {"direct": direct, "pandas": through_pandas}[way]
    r.start()
    go(frame(10))  # imports and first calls are not what is measured
    rows = frame(count)
    began, cpu = time.perf_counter(), time.process_time()
    back = go(rows)
    wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    return {"wall_s": wall_s, "cpu_s": cpu_s, "exact": is_exact(rows, back)}


def is_exact(rows: pl.DataFrame, back: pl.DataFrame | None) -> bool:
    """Types, too; but whole numbers of more than 32 bits come back as doubles: R has no other exact ones for them."""
    expected = rows.with_columns(pl.col("position").cast(pl.Float64))
    return back is not None and back.schema == expected.schema and back.equals(expected, null_equal=True)


if __name__ == "__main__":
    click.echo(json.dumps(run(sys.argv[1], int(sys.argv[2]))))
