"""A reader of the database that stays: opens it as soon as it is free, and holds it for so many seconds.

python -m bench.reader DB SECONDS
"""

from __future__ import annotations

import sys
import time

import duckdb


def hold(db: str, seconds: float) -> None:
    while True:
        try:
            with duckdb.connect(db, read_only=True):
                time.sleep(seconds)
            return
        except duckdb.Error:
            time.sleep(0.02)


if __name__ == "__main__":
    hold(sys.argv[1], float(sys.argv[2]))
