"""Draws in the form of ArviZ, an optional extra: nothing else here needs it."""

from __future__ import annotations

import re
from collections import defaultdict
from importlib import import_module
from typing import Any

import polars as pl

from slant.collector.errors import UsageError

_OF_ITEM = re.compile(r"(r_\w+)\[(.+),(\w+)\]")  # r_item[gender_career:.baby,Intercept]
_STATS = {"lp__": "lp"}


def inference_data(frame: pl.DataFrame) -> Any:
    """Groups posterior and sample_stats of what fit_brms() keeps. What varies by item has a dimension of its name."""
    arviz = _arviz()
    n_chains = frame[".chain"].n_unique()
    ordered = frame.sort(".chain", ".iteration").drop(".chain", ".iteration", ".draw")
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


def _varying(frame: pl.DataFrame, n_chains: int) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, list[str]]]:
    """Arrays of chain, draw and level; the levels of each grouping variable; which of them an array has."""
    columns: dict[tuple[str, str], list[str]] = defaultdict(list)
    coords: dict[str, list[str]] = {}
    for name in frame.columns:
        if found := _OF_ITEM.fullmatch(name):
            group, level, term = found.groups()
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
            "The Python package arviz is missing, which is not needed for anything else.",
            "Install it: pip install arviz   Or take the draws as they are: read_draws(…).frame",
        ) from error
