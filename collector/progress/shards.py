"""How much of a plan the runs of a database were to ask, where they asked shards of it (plan/shards.py)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import lcm
from typing import Any

import duckdb
import polars as pl

from slant.collector.errors import UsageError
from slant.collector.plan.shards import Shard
from slant.collector.system.shipped_files import sql_query

_MOST_CLASSES = 100_000  # shards of which so many make a plan are counted; of more the whole is shown
_Key = tuple[str | None, ...]
_Planned = Mapping[str, int]  # trials by test
ShardsOfRuns = Mapping[_Key, Mapping[Shard | None, _Planned]]
"""By source, study, version, variant and model; None stands for a run of the whole plan."""


def with_shards(rows: pl.DataFrame, shards: ShardsOfRuns, keys: tuple[str, ...]) -> pl.DataFrame:
    """Rows of one test and model each: `n_planned` of the shards that were asked, `shard` ("2/8"; several with commas
    between them) and `n_whole`, the trials of the whole plan. Both are NULL where the whole plan was asked, or where
    shards overlap in a way that can't be added up."""
    changed = [_of_shards(row, shards.get(tuple(row[name] for name in keys), {})) for row in rows.iter_rows(named=True)]
    schema = {"n_planned": pl.Int64, "shard": pl.String, "n_whole": pl.Int64}
    columns = pl.DataFrame(changed, schema=schema, orient="row")
    others = [name for name in rows.columns if name not in (*keys, "test", *schema)]
    return rows.drop("n_planned").hstack(columns).select(*keys, "test", "shard", "n_planned", "n_whole", *others)


def _of_shards(row: Mapping[str, Any], shards: Mapping[Shard | None, _Planned]) -> tuple[int | None, str | None, Any]:
    whole = row["n_planned"]
    if whole is None or not shards or None in shards:
        return whole, None, None
    apart = disjoint([shard for shard in shards if shard is not None])
    names = together(apart)
    if apart is None or names == [Shard(1, 1)]:
        return whole, None, None
    return sum(shards[shard].get(row["test"], 0) for shard in apart), ", ".join(map(str, names)), whole


def disjoint(shards: Iterable[Shard]) -> list[Shard] | None:
    """Those that hold all the others and share nothing; None where there are none such."""
    largest: list[Shard] = []
    for shard in sorted(set(shards), key=lambda one: (one.of, one.number)):
        if not any(shard.of % other.of == 0 and (shard.number - other.number) % other.of == 0 for other in largest):
            largest.append(shard)
    if (n_classes := lcm(*(shard.of for shard in largest))) > _MOST_CLASSES:
        return None
    return largest if len(_classes(largest, n_classes)) == sum(n_classes // shard.of for shard in largest) else None


def together(shards: list[Shard] | None) -> list[Shard]:
    """The fewest parts of one number of parts that are the same as these disjoint ones: 1/4 and 3/4 are 1/2."""
    n_classes = lcm(*(shard.of for shard in shards or ()))
    classes = _classes(shards or [], n_classes)
    for of in (of for of in range(1, n_classes + 1) if n_classes % of == 0):
        numbers = {place % of for place in classes}
        if len(numbers) * (n_classes // of) == len(classes):
            return [Shard(number + 1, of) for number in sorted(numbers)]
    return []


def _classes(shards: Iterable[Shard], n_classes: int) -> set[int]:
    return {place for shard in shards for place in range(shard.number - 1, n_classes, shard.of)}


def shards_of_runs(connection: duckdb.DuckDBPyConnection) -> ShardsOfRuns:
    """By source, study, version, variant and model: the shards that runs asked, with their trials by test."""
    found: defaultdict[_Key, dict[Shard | None, _Planned]] = defaultdict(dict)
    for *key, model, settings in connection.execute(sql_query("shards_of_runs")).fetchall():
        shard, planned = _shard_in(settings, model)
        before = found[*key, model].get(shard, {})
        found[*key, model][shard] = {test: max(n, before.get(test, 0)) for test, n in planned.items()}
    return found


def _shard_in(settings: str | None, model: str) -> tuple[Shard | None, _Planned]:
    """Of a run's settings, which may be a stranger's."""
    try:
        told = json.loads(settings or "{}")
        return Shard.read(told["shard"]), {str(test): int(n) for test, n in told["shard_planned"][model].items()}
    except (ValueError, KeyError, TypeError, AttributeError, UsageError):
        return None, {}
