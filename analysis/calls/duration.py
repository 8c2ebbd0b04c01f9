"""How long a Bayesian fit will take, said before it begins: R would be heard at its end only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.collector.errors import RError

_MANY_ROWS = 10_000  # below, a fit takes minutes at most, and R need not be asked
_LONG_S = 600
_NEEDED = ("chains", "iterations", "cores")


def expected_duration(rows: pl.DataFrame | None, arguments: Mapping[str, Any]) -> str | None:
    """A sentence where R's own estimate is ten minutes or more; R itself refuses what takes more than an hour."""
    if rows is None or rows.height < _MANY_ROWS or not set(_NEEDED) <= arguments.keys():
        return None
    settings = {name: arguments[name] for name in _NEEDED}
    try:
        seconds = float(answered(Call("expected_s", arguments={"n": rows.height, "settings": settings}))[0])
    except RError:
        return None
    return (
        f"{rows.height:,} rows will take about {seconds / 60:,.0f} minutes, if they are fitted."
        if seconds >= _LONG_S
        else None
    )
