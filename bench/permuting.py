"""Permutations of the interference study's stage B by `analysis.permute()`, in a process of its own.

    python -m bench.permuting DB PERMUTATIONS

Prints, as JSON: seconds of the refits, the first pair left out (it pays for R's start and for reading the model).
"""

from __future__ import annotations

import json
import sys
import time

import click

from slant import analysis

FIRST = 1

if __name__ == "__main__":
    db, permutations = sys.argv[1], int(sys.argv[2])
    analysis.permute(db, permutations=FIRST, workers=2)
    began = time.perf_counter()
    found = analysis.permute(db, permutations=FIRST + permutations, workers=2)
    seconds = time.perf_counter() - began
    failed = found.tests["n_failed"].max()
    click.echo(json.dumps({"seconds": seconds, "failed": failed}))
