"""The interference study's stage B by `analysis.fit()`, in a process of its own.

    python -m bench.fitting_bayes DB

Prints, as JSON: seconds of the fit itself, and its status.
"""

from __future__ import annotations

import json
import sys
import time

import click

from slant import analysis

if __name__ == "__main__":
    began = time.perf_counter()
    found = analysis.fit(sys.argv[1], "interference", "interference", refit=True)
    row = found.diagnostics.row(0, named=True)
    click.echo(json.dumps({"seconds": time.perf_counter() - began, "status": row["status"]}))
