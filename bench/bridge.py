"""A million rows of six columns from Polars to R and back, against the way through pandas.

pandas and pyarrow are no part of slant: install them for this measure alone (pip install pandas pyarrow), or name a
folder that holds them in the variable SLANT_BENCH_PANDAS (pip install --target FOLDER pandas pyarrow). Without them
there is no baseline to compare with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from bench.measures import ROOT, Measure

LONGEST_S = 5.0


def bridge(rows: int) -> list[Measure]:
    direct = exchanged("direct", rows)
    if direct is None:
        raise RuntimeError("the bridge to R failed; see above")
    pandas = exchanged("pandas", rows)
    size = f"{rows:,} rows to R and back"
    against = (
        [Measure(f"{size}, against pandas", direct["wall_s"], "s", pandas["wall_s"], 0.2, "ratio")] if pandas else []
    )
    return [
        Measure(size, direct["wall_s"], "s", None, LONGEST_S, "value"),
        Measure("columns that changed on the way", float(not direct["exact"]), "frames", None, 0.0, "value"),
        *against,
    ]


def exchanged(way: str, rows: int) -> dict[str, Any] | None:
    """None where that way is not possible here."""
    places = [os.environ.get(name) for name in ("SLANT_BENCH_PANDAS", "PYTHONPATH")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    command = [sys.executable, "-m", "bench.exchange", way, str(rows)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
