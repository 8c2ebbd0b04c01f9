"""One table of a database, read by a process of its own.

    python -m bench.table DB TABLE

Prints, as JSON: wall_s, cpu_s, rows, peak_mb (of the whole process).
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import click

from slant.collector.keep.database import reading
from slant.collector.system.operating_system import peak_memory_mb

if __name__ == "__main__":
    with reading(Path(sys.argv[1])) as connection:
        began, cpu = time.perf_counter(), time.process_time()
        rows = connection.view(sys.argv[2]).fetchall()
        wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    peak_mb = peak_memory_mb()
    click.echo(json.dumps({"wall_s": wall_s, "cpu_s": cpu_s, "rows": len(rows), "peak_mb": peak_mb}))
