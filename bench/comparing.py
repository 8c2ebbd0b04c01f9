"""One comparison of S3 to S9 with the print, from the start of the process to the table: what `analyze compare` does.

    python -m bench.comparing DB

Prints, as JSON: wall_s and cpu_s of this process from its first line of Python, `fits` that were made, `numbers`
compared. The caller's clock also sees the start of Python; that is the one to quote.
"""

from __future__ import annotations

import sys
import time

from slant.analysis.bridge.worker_start import begin_early

TABLES = ("S3", "S4", "S5", "S6", "S7", "S8", "S9")

if __name__ == "__main__":
    began = time.perf_counter()
    begin_early(("lme4", "lmerTest"))  # as the command does, before all other imports
    import json

    import click

    from slant import analysis

    made: list[int] = []
    compared = analysis.compare(sys.argv[1], tables=TABLES, progress=lambda done, number: made.append(done))
    found = {
        "wall_s": time.perf_counter() - began,
        "cpu_s": time.process_time(),
        "fits": len(made),
        "numbers": compared.height,
        "agree": int((compared["status"] == "agrees").sum()),
    }
    click.echo(json.dumps(found))
