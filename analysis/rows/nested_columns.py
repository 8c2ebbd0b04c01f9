"""Make frames fit into a CSV."""

from __future__ import annotations

import json
from typing import Any

import polars as pl


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Return lists and maps, which no cell of a CSV holds, as JSON; bytes as hexadecimal digits."""
    nested = [name for name, kind in frame.schema.items() if kind.is_nested() or kind == pl.Object]
    return frame.with_columns(
        pl.Series(name, [None if value is None else _json(value) for value in frame[name]], dtype=pl.String)
        for name in nested
    )


def _json(value: Any) -> str:
    plain = value.to_list() if isinstance(value, pl.Series) else value
    return json.dumps(plain, ensure_ascii=False, default=str)
