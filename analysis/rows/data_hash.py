"""Rows as one hash, the same on every machine: by it a result is known to be of these very rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import polars as pl


def hash_of_rows(rows: pl.DataFrame | None, warnings: Sequence[str] = ()) -> str:
    """Of the rows in their order, and of what is doubtful about them."""
    text = "\n".join([*([] if rows is None else [rows.write_csv()]), *warnings])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
