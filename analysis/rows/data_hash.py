"""Hash rows in the same way on every machine: the hash shows that a result is from these very rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import polars as pl


def hash_of_rows(rows: pl.DataFrame | None, warnings: Sequence[str] = ()) -> str:
    """Hash the rows in their order, and what is doubtful about them."""
    text = "\n".join([*([] if rows is None else [rows.write_csv()]), *warnings])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
