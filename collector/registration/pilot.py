"""The numbers that a plan was made with: what a pilot's answers say of each cell, and of the whole plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.study.records import Study
from slant.collector.system.shipped_files import sql_query


def pilot_numbers(db: Path, study: Study, plans: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`cells`: the pilot by variant, model, test and condition (n, share answered, mean and sd of tokens); `expected`:
    by variant and planned model, answers, tokens and US dollars of the whole plan, at the pilot's rates.

    DatabaseError where the database holds no answers to this study.
    """
    cells, models = (_rows(db, query, study) for query in ("pilot_cells", "pilot_models"))
    if not cells:
        raise DatabaseError(
            f'"{db}" holds no answers to "{study.name}", so it is no pilot of it.',
            f"To make one: collect --study {study.as_typed} --pilot 50 --db {db}",
        )
    return {
        "trials": sum(row["n"] for row in models),
        "runs": sorted({run for row in models for run in row["runs"]}),
        "cells": cells,
        "expected": [_expected(plan, model, models) for plan in plans for model in plan["models"]],
    }


def _rows(db: Path, query: str, study: Study) -> list[dict[str, Any]]:
    with reading(db) as connection:
        rows: list[dict[str, Any]] = frame_of(connection.sql(sql_query(query), params={"study": study.name})).to_dicts()
    return rows


def _expected(plan: Mapping[str, Any], model: Mapping[str, Any], pilot: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """At the rates of the same model in this variant; unknown where the pilot did not ask it."""
    is_played = model["provider"] == "simulated"
    same = [r for r in pilot if (r["variant"], r["model"]) == (plan["variant"], model["model"])]
    same = [r for r in same if (r["source"] == "simulated") == is_played]
    row: dict[str, Any] = {"variant": plan["variant"], "model": model["model"], "trials": model["trials"]}
    means = dict.fromkeys(("answered", "input_tokens", "output_tokens", "cost_usd"))
    if not same:
        return row | means
    n = sum(r["n"] for r in same)

    def whole(name: str, digits: int) -> float | None:
        known = [r for r in same if r[name] is not None]
        weight = sum(r["n"] for r in known)
        return round(model["trials"] * sum(r[name] * r["n"] for r in known) / weight, digits) if weight else None

    answered = round(model["trials"] * sum(r["n_answered"] for r in same) / n)
    sizes = {name: whole(f"mean_{name}", 0) for name in ("input_tokens", "output_tokens")}
    return row | {"answered": answered, **sizes, "cost_usd": whole("mean_cost_usd", 6)}
